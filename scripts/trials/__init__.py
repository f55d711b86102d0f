"""Trials of durability: one process cuts the power, another sees what is left."""
