"""Sending messages: which queue, which broker, and again elsewhere after a failure."""
