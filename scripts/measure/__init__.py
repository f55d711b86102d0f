"""Sessions: prepare databases, measure, audit and store the results."""
