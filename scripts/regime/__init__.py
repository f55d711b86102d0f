"""The regime of a measured process: its memory limit, its device, its cache."""
