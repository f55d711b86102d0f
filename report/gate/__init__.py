"""The verdict of `kvmatrix check`, and how it is written."""
