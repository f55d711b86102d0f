"""Commands: the kvmatrix command line and what it runs."""
