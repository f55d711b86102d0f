"""The folders of runs and of the history: the only code that writes there."""
