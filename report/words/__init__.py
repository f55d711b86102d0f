"""Verdicts and figures as words and as tables of text."""
