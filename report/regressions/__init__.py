"""Did it get slower?  Statistics, verdicts and pages about two builds, or many runs.

Pure, as all of report/: results in, judgements and texts out.  REGRESSIONS.md tells
the method, with the error rates that were measured of it.
"""
