"""Results in the formats of other tools: all are written, one is read back.

All functions are pure.  REGRESSIONS.md says which tool reads which format, and what
the tool concludes from it.
"""
