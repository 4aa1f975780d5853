"""The asyncio driver of `protocol.connection`: channels, servers, pools, TLS, time.

All packages above this one talk to peers through it and use no sockets of their own.
"""

from .address import format_address, parse_address
from .channel import Channel, Handler, connect
from .client_tls import ClientTls
from .clock import Clock, ManualClock, SystemClock
from .nameservers import NameServers, parse_nameservers
from .pool import ChannelPool, RequestHook
from .responses import raise_for_code
from .server import Server
from .signing import signing
from .tls import ServerTls, TlsMode

__all__ = [
    "Channel",
    "ChannelPool",
    "ClientTls",
    "Clock",
    "Handler",
    "ManualClock",
    "NameServers",
    "RequestHook",
    "Server",
    "ServerTls",
    "SystemClock",
    "TlsMode",
    "connect",
    "format_address",
    "parse_address",
    "parse_nameservers",
    "raise_for_code",
    "signing",
]
