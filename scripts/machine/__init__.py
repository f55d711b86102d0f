"""The machine, and the processes on it: looked at, started and watched."""
