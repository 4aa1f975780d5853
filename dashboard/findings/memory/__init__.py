"""What is remembered of a group between looks. No clock, no IO: time is given."""
