"""What is wrong with the address of a name server, found out at once.

An address is looked up, then connected to, then asked which brokers it knows; the first
step that fails tells what is wrong. Of what the other side sends, only the number of
its brokers is passed on: whoever asks learns whether something listens, not what it
says. Addresses at which no name server can be, such as the one where clouds hand out
keys to their machines, are not connected to at all. The address that was looked up is
the one that is connected to, so that a second look-up cannot lead elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from rmqcore.errors import (
    AccessDeniedError,
    RequestTimeoutError,
    ResponseError,
    RmqError,
)

from .connections import open_admin
from .settings import ClusterSettings

STEP_SECONDS: Final = 3.0
"""How long each step may take: looking up, connecting, answering."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_KEYS_OF_MACHINES: Final = frozenset(
    map(ipaddress.ip_address, ("100.100.100.200", "fd00:ec2::254"))
)
"""Where clouds hand out keys, beside the link-local 169.254.169.254."""


class Verdict(StrEnum):
    """What became of one address."""

    ANSWERS = "answers"
    FORBIDDEN = "forbidden"
    UNRESOLVED = "unresolved"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    SILENT = "silent"
    NO_NAME_SERVER = "no_name_server"
    OTHER_SERVER = "other_server"
    DENIED = "denied"
    TLS_EXPECTED = "tls_expected"
    NO_TLS = "no_tls"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True)
class Probe:
    """One address and what became of it; `brokers` counts those that it names."""

    address: str
    verdict: Verdict
    brokers: int | None = None

    @property
    def good(self) -> bool:
        return self.verdict is Verdict.ANSWERS


class _FailedError(Exception):
    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict)
        self.verdict = verdict


def probe(cluster: ClusterSettings) -> Sequence[Probe]:
    """Try every name server of a cluster at the same time, for at most 12 s."""
    return asyncio.run(_probe_all(cluster))


async def _probe_all(cluster: ClusterSettings) -> list[Probe]:
    tries = (_probe(cluster, address) for address in cluster.name_servers)
    return list(await asyncio.gather(*tries))


async def _probe(cluster: ClusterSettings, address: str) -> Probe:
    host, _colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        found = await _looked_up(host, int(port))
        await _connect(found, int(port))
        brokers = await _ask(_pinned(cluster, host, found, port), found, int(port))
    except _FailedError as failure:
        return Probe(address, failure.verdict)
    return Probe(address, Verdict.ANSWERS, brokers)


def forbidden_addresses(cluster: ClusterSettings) -> Sequence[str]:
    """Return the name servers of a cluster that are never to be connected to.

    Host names are looked up, for at most 3 s; one that cannot be is not among them.
    """
    return asyncio.run(_forbidden(cluster))


async def _forbidden(cluster: ClusterSettings) -> list[str]:
    async def is_one(address: str) -> bool:
        host, _colon, port = address.rpartition(":")
        try:
            await _looked_up(host.removeprefix("[").removesuffix("]"), int(port))
        except _FailedError as failure:
            return failure.verdict is Verdict.FORBIDDEN
        return False

    found = await asyncio.gather(*map(is_one, cluster.name_servers))
    return [each for each, bad in zip(cluster.name_servers, found, strict=True) if bad]


def is_forbidden(found: _Address) -> bool:
    """Tell whether an address is one that is never connected to."""
    plain = getattr(found, "ipv4_mapped", None) or found
    return (
        plain.is_link_local
        or plain.is_multicast
        or plain.is_unspecified
        or (plain.is_reserved and not plain.is_loopback)
        or plain in _KEYS_OF_MACHINES
    )


async def _looked_up(host: str, port: int) -> str:
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(STEP_SECONDS):
            answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError):
        raise _FailedError(Verdict.UNRESOLVED) from None
    found = [str(answer[4][0]) for answer in answers]
    if any(is_forbidden(ipaddress.ip_address(each.split("%")[0])) for each in found):
        raise _FailedError(Verdict.FORBIDDEN)
    return found[0]


async def _connect(
    found: str, port: int, context: ssl.SSLContext | None = None
) -> None:
    """Connect and hang up; with a context, agree on TLS in between."""
    try:
        async with asyncio.timeout(STEP_SECONDS):
            _reader, writer = await asyncio.open_connection(found, port, ssl=context)
    except ConnectionRefusedError:
        raise _FailedError(Verdict.REFUSED) from None
    except TimeoutError:
        raise _FailedError(Verdict.SILENT) from None
    except OSError:
        raise _FailedError(Verdict.UNREACHABLE) from None
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


def _pinned(
    cluster: ClusterSettings, host: str, found: str, port: str
) -> ClusterSettings:
    """Return the cluster at the one address that was looked up, by its number."""
    tls = cluster.tls
    if tls is not None and tls.verify and not (tls.server_name or tls.fingerprints):
        tls = replace(tls, server_name=host)
    shown = f"[{found}]" if ":" in found else found
    return replace(cluster, name_servers=(f"{shown}:{port}",), tls=tls)


async def _ask(pinned: ClusterSettings, found: str, port: int) -> int:
    """Return how many brokers the name server knows."""
    try:
        async with asyncio.timeout(STEP_SECONDS), open_admin(pinned) as admin:
            return len((await admin.cluster_info()).brokers)
    except AccessDeniedError:
        raise _FailedError(Verdict.DENIED) from None
    except ResponseError:
        raise _FailedError(Verdict.OTHER_SERVER) from None
    except (RmqError, OSError, TimeoutError) as error:
        late = isinstance(error, TimeoutError | RequestTimeoutError)
        raise _FailedError(await _why(pinned, found, port, late=late)) from None


async def _why(
    pinned: ClusterSettings, found: str, port: int, *, late: bool
) -> Verdict:
    """Tell why something that accepts connections gives no answer."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        await _connect(found, port, context)
    except _FailedError:
        speaks_tls = False
    else:
        speaks_tls = True
    if pinned.tls is None:
        plain = Verdict.SILENT if late else Verdict.NO_NAME_SERVER
        return Verdict.TLS_EXPECTED if speaks_tls else plain
    return Verdict.UNTRUSTED if speaks_tls else Verdict.NO_TLS
