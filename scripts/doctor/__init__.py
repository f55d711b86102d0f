"""`kvmatrix doctor`: is this machine fit for benchmarking?

Checks are pure functions of values read before; probes measure; the screen prints.
"""
