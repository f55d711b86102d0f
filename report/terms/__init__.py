"""Names, numbers and units, and how they are written."""
