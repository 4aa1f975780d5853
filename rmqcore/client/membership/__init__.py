"""What it is to be a member of a group: its queues in hand, progress, statistics."""
