"""Executables of this harness for a library that its authors built elsewhere."""
