"""A run as typed objects: its plan, its cells, its lines, and their files."""
