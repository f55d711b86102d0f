"""What makes a record credible: one table of rules, for the runner and the report."""
