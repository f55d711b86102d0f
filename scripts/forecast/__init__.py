"""Predictions of the time, memory and disk space that a run needs."""
