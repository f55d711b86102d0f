"""What a command line asks for: options, how values are parsed, the selection."""
