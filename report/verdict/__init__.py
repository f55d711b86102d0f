"""What the results of one run, or of two, mean: comparisons, findings, changes."""
