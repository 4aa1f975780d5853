"""RocketMQ's rules at work: labs played by a worker and shown on a page.

The labs themselves are `rmqcore.labs`. Here is what they need to be played from a page:
what each one shows, in words (`catalogue`, `words`), and the role of a worker that
plays the runs people ask for (`service`, `playing`, `runs`).
"""
