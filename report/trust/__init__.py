"""The rules that decide which records are believed, for the runner and the report."""
