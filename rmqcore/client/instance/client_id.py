"""The client id, by which brokers and fellow members know a client (A4)."""

from __future__ import annotations

import socket
from typing import Final

from rmqcore.errors import ArgumentError

DEFAULT_INSTANCE_NAME: Final = "DEFAULT"
LOOPBACK: Final = "127.0.0.1"
# TEST-NET-1: never routed to anybody, but the machine knows the route it would take.
_ELSEWHERE: Final = ("192.0.2.1", 9)


def unique_instance_name(instance_name: str, pid: int, nano_time: int) -> str:
    """Return the name under which a clustering member or a producer runs.

    `DEFAULT` becomes process id and nano time, so that two of them on one host are two
    clients; any other name is kept as given. Broadcasting members keep `DEFAULT`, or
    they would not find their offsets file again.
    """
    if instance_name == DEFAULT_INSTANCE_NAME:
        return f"{pid}#{nano_time}"
    return instance_name


def build_client_id(client_ip: str, instance_name: str, unit_name: str = "") -> str:
    """Return `ip@instance`, with `@unit` when there is one."""
    for what, value in (("client ip", client_ip), ("instance name", instance_name)):
        if not value.strip():
            raise ArgumentError(f"the {what} of a client id is empty")
    client_id = f"{client_ip}@{instance_name}"
    return f"{client_id}@{unit_name}" if unit_name else client_id


def local_ip() -> str:
    """Return the address this host would use towards others; loopback if it has none.

    Nothing is sent: connecting a datagram socket only looks up the route.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ELSEWHERE)
        except OSError:
            return LOOPBACK
        return str(probe.getsockname()[0])
