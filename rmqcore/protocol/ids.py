"""Hosts and the two kinds of message id.

- The offset id says where a message is stored: host and place in the commit log, in
  upper-case hexadecimal, 32 digits for IPv4 and 56 for IPv6.
- The unique id (property UNIQ_KEY) is made by the producer: host, process, salt, ms
  since the beginning of the month, counter. Readers must not look inside.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import chain, repeat
from typing import Final

from rmqcore.errors import ArgumentError

IPV4_HOST_BYTES: Final = 8
IPV6_HOST_BYTES: Final = 20

_PORT: Final = struct.Struct(">i")
_OFFSET: Final = struct.Struct(">q")
_MAX_PORT: Final = 65_535


@lru_cache(maxsize=4096)
def pack_host(host: str) -> bytes:
    """Return `ip:port` or `[ip]:port` as 8 (IPv4) or 20 (IPv6) bytes.

    Raises `ArgumentError` for anything else; names are not looked up here.
    """
    address, _, port = host.rpartition(":")
    try:
        packed = ip_address(address.removeprefix("[").removesuffix("]")).packed
        number = int(port)
    except ValueError:
        raise ArgumentError(f"host {host!r} is not of the form ip:port") from None
    if not 0 <= number <= _MAX_PORT:
        raise ArgumentError(f"host {host!r} has port {number}, limit {_MAX_PORT}")
    return packed + _PORT.pack(number)


@lru_cache(maxsize=4096)
def unpack_host(packed: bytes) -> str:
    """Return 8 or 20 bytes as `ip:port` or `[ip]:port`."""
    (port,) = _PORT.unpack_from(packed, len(packed) - _PORT.size)
    if len(packed) == IPV4_HOST_BYTES:
        return f"{IPv4Address(packed[:4])}:{port}"
    return f"[{IPv6Address(packed[:16])}]:{port}"


def encode_offset_msg_ids(store_host: bytes, offsets: Sequence[int]) -> str:
    """Return the ids of messages at several offsets, joined by commas.

    `store_host` is packed.
    """
    form = _located(len(offsets), len(store_host))
    packed = form.pack(*chain.from_iterable(zip(repeat(store_host), offsets)))
    return packed.hex(",", len(store_host) + _OFFSET.size).upper()


def decode_offset_msg_id(msg_id: str) -> tuple[str, int]:
    """Return host and commit-log offset; raise `ArgumentError` for any other text."""
    try:
        packed = bytes.fromhex(msg_id)
    except ValueError:
        packed = b""
    host = packed[: -_OFFSET.size]
    if len(host) not in (IPV4_HOST_BYTES, IPV6_HOST_BYTES) or " " in msg_id:
        raise ArgumentError(
            f"message id {msg_id[:80]!r} is not 32 or 56 hexadecimal digits"
        )
    return unpack_host(host), _OFFSET.unpack_from(packed, len(host))[0]


@lru_cache(maxsize=1024)
def _located(count: int, host_bytes: int) -> struct.Struct:
    return struct.Struct(">" + f"{host_bytes}sq" * count)


class UniqueIds:
    """Makes unique ids for one process; the time is an argument.

    `address` is 4 or 16 bytes; `process` and `salt` tell processes of one host apart.
    The month begins in `zone`. Ids are unique while fewer than 65,536 are made in a
    millisecond, and for as long as the clock does not step back.
    """

    __slots__ = ("_counter", "_month_end_ms", "_month_start_ms", "_prefix", "_zone")

    def __init__(self, address: bytes, process: int, salt: int, zone: tzinfo) -> None:
        if len(address) not in (4, 16):
            raise ArgumentError(f"address of {len(address)} bytes, need 4 or 16")
        self._prefix = (
            f"{address.hex().upper()}{process & 0xFFFF:04X}{salt & 0xFFFF_FFFF:08X}"
        )
        self._zone = zone
        self._counter = 0
        self._month_start_ms = self._month_end_ms = 0

    def next_id(self, time_ms: int) -> str:
        """Return an id for a message made at this time (ms since the epoch)."""
        return self.next_ids(1, time_ms)[0]

    def next_ids(self, number: int, time_ms: int) -> list[str]:
        """Return ids for that many messages made at this time."""
        if not self._month_start_ms <= time_ms < self._month_end_ms:
            self._enter_month(time_ms)
        since = (time_ms - self._month_start_ms) & 0xFFFF_FFFF
        head = f"{self._prefix}{since:08X}"
        first = self._counter + 1
        self._counter += number
        return [
            f"{head}{counter & 0xFFFF:04X}" for counter in range(first, first + number)
        ]

    def _enter_month(self, time_ms: int) -> None:
        now = datetime.fromtimestamp(time_ms / 1000, self._zone)
        start = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        end = (start + timedelta(days=32)).replace(day=1)
        self._month_start_ms = int(start.timestamp() * 1000)
        self._month_end_ms = int(end.timestamp() * 1000)
