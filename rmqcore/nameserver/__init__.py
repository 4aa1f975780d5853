"""The name server: it learns from brokers who serves which topic, and tells clients."""

from .server import NameServer

__all__ = ["NameServer"]
