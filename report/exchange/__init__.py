"""Results in the formats of other tools: written for them, and read back from one.

Pure, as all of report/.  What is kept of a run is raw lines; these are views of it.
REGRESSIONS.md says which tool reads which format, and what it makes of it.
"""
