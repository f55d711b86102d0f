"""Statistics on plain numbers: no run, no words."""
