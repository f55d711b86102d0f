"""Results that other programs wrote, read for comparison and for the history."""
