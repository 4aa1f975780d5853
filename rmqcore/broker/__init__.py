"""The broker: stores messages, hands them out, and knows who consumes what."""

from .server import Broker
from .settings import BrokerSettings

__all__ = ["Broker", "BrokerSettings"]
