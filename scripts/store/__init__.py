"""Run folders and the history on disk: the only code that writes to them."""
