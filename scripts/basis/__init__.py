"""What every step of the set-up uses: programs, the cache, errors with a remedy.

It runs before anything is installed, and so needs only Python 3.11 and its standard
library.
"""
