"""The asyncio driver of `protocol.connection`: channels, servers, pools, TLS, time.

Everything above this room talks to peers through it and to no socket of its own.
"""

from .address import format_address, parse_address
from .channel import Channel, Handler, connect
from .clock import Clock, ManualClock, SystemClock
from .pool import ChannelPool, RequestHook
from .responses import raise_for_code
from .server import Server
from .tls import ServerTls, TlsMode

__all__ = [
    "Channel",
    "ChannelPool",
    "Clock",
    "Handler",
    "ManualClock",
    "RequestHook",
    "Server",
    "ServerTls",
    "SystemClock",
    "TlsMode",
    "connect",
    "format_address",
    "parse_address",
    "raise_for_code",
]
