"""What the figures of a run, or of two, mean: comparisons, findings, changes."""
