"""Sending messages: the choice of queue and broker, and retries elsewhere."""
