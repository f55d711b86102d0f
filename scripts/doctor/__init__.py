"""`kvmatrix doctor`: can this machine give numbers worth keeping?

Checks are pure functions of what was read; probes measure; the screen prints.
"""
