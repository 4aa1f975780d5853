"""The memory of a group between looks. No clock, no I/O: time is an argument."""
