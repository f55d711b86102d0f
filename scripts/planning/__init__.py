"""What will be measured, by which executables, with which flags, in which order."""
