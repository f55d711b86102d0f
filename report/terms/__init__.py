"""Names, numbers and units: what things are called and how they are written."""
