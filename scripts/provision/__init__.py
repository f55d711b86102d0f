"""The set-up: packages, Python environment, engine libraries, build.

It runs before anything is installed, and so needs only Python 3.11 and its standard
library.
"""
