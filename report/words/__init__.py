"""Verdicts and results as sentences and as tables of text."""
