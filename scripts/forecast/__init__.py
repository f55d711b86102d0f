"""How long a run will take, and how much room it needs."""
