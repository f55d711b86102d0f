"""Durability runs: what is tried, where it is possible, and what it showed."""
