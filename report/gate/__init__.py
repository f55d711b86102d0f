"""The verdict of `kvmatrix check`, and its formats."""
