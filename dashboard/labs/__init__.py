"""RocketMQ's rules at work: labs played by a worker and shown on a page.

The labs themselves are in `rmqcore.labs`. This package plays them from a page: it has
their descriptions (`catalogue`, `words`), and the role of a worker that plays the runs
people ask for (`service`, `playing`, `runs`).
"""
