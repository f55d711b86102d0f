"""Results as Markdown, CSV, JSON and lines for a terminal."""
