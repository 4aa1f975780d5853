"""The membership of a client in a group: queues in hand, progress, statistics."""
