"""A run as typed objects: its plan, its cells, its lines, and the files they are in."""
