"""Sessions of two builds, measured alternately."""
