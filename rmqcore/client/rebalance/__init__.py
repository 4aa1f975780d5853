"""Who gets which queues: the rules, the locks, and following what they say."""
