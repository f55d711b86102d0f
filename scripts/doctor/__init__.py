"""`kvmatrix doctor`: is this machine fit to measure on?

Checks are pure functions of values read before; probes measure; the screen prints.
"""
