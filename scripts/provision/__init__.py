"""The set-up: packages, Python environment, engine sources, build, tests.

Runs before anything is installed, so this package uses the standard library
only and Python 3.11.
"""
