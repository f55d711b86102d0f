"""Figures that others published, and the rows they belong to."""
