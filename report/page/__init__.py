"""The HTML pages and their drawings."""
