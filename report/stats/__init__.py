"""Statistics on plain numbers, independent of runs and texts."""
