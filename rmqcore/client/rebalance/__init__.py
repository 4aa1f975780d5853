"""Rebalancing: the rules, the locks of brokers, taking and giving up queues."""
