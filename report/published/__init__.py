"""Figures published by others, and the cells with which they are compared."""
