"""Reading the machine, and starting and watching processes on it."""
