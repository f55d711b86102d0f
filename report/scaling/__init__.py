"""How what a cell takes grows with the number of entries."""
