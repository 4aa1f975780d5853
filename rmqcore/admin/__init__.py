"""Inspecting and operating a cluster: typed calls, and pipelined snapshots."""

from rmqcore.protocol.acl import AclCredentials

from .access import AccessRule, AccessUser, PlainAccess, PlainAccount
from .admin import Admin
from .offsets import END_OF_QUEUE
from .snapshot import Patience

__all__ = [
    "END_OF_QUEUE",
    "AccessRule",
    "AccessUser",
    "AclCredentials",
    "Admin",
    "Patience",
    "PlainAccess",
    "PlainAccount",
]
