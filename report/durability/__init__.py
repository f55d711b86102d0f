"""Durability: the trials of a run, and the passport that follows from them."""
