"""Plans: which executables measure what, with which flags and in which order."""
