"""Rebalancing: the rules, the locks of brokers, taking up and giving up queues."""
