"""The name server: who serves which topic, learned from brokers, told to clients."""

from .server import NameServer

__all__ = ["NameServer"]
