"""The command line: one file per verb, its options, and what ends it."""
