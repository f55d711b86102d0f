"""Reading results, statistics and the reports made from them: pure functions."""
