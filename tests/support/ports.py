"""Free TCP ports on loopback, of a range that nothing else takes from.

Processes that run tests side by side have a range each, below the ports that the kernel
gives to outgoing connections: what is free here stays free until it is used.
"""

from __future__ import annotations

import os
import random
import socket
from collections import deque
from contextlib import ExitStack, suppress
from itertools import cycle, islice
from typing import Final

LOOPBACK: Final = "127.0.0.1"
_ATTEMPTS: Final = 200
_LOWEST: Final = 11_000
_HIGHEST: Final = 32_000
_RANGES: Final = 8
_KEPT: Final = 1_000


def _range_of(worker: str) -> range:
    """Return the ports of one of pytest-xdist's workers: gw0, gw1, and so on."""
    size = (_HIGHEST - _LOWEST) // _RANGES
    number = int(worker.removeprefix("gw") or 0) % _RANGES
    return range(_LOWEST + number * size, _LOWEST + (number + 1) * size)


def _shifted(ports: range) -> list[int]:
    """Begin anywhere: another run of tests on this machine may have the same range."""
    at = random.randrange(len(ports))
    return [*ports[at:], *ports[:at]]


_given: Final[deque[int]] = deque(maxlen=_KEPT)
"""Ports that were chosen last: whoever is to listen there may not have begun to."""

_PORTS: Final = cycle(_shifted(_range_of(os.environ.get("PYTEST_XDIST_WORKER", ""))))


def free_port() -> int:
    """Return a port that nobody listens on at this moment."""
    with ExitStack() as held:
        return _hold(held, (0, LOOPBACK))


def listens(port: int) -> bool:
    """Tell whether somebody listens on a port."""
    with suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=1):
        return True
    return False


def free_broker_ports(count: int) -> list[int]:
    """Return `count` ports P for Apache brokers, with P-2 and P+1 free as well.

    P-2 is the broker's second listener, P+1 its replication port, which listens on
    every interface. All are held until the last one is found, so none overlap.
    """
    around = ((0, LOOPBACK), (-2, LOOPBACK), (1, ""))
    with ExitStack() as held:
        return [_hold(held, *around) for _ in range(count)]


def _hold(held: ExitStack, *around: tuple[int, str]) -> int:
    """Hold the next port whose surroundings (offset, host) are all free."""
    for port in islice(_PORTS, _ATTEMPTS):
        wanted = [port + offset for offset, _host in around]
        if not set(wanted).isdisjoint(_given):
            continue
        with ExitStack() as attempt, suppress(OSError):
            for offset, host in around:
                probe = attempt.enter_context(socket.socket())
                probe.bind((host, port + offset))
            held.push(attempt.pop_all())
            _given.extend(wanted)
            return port
    raise RuntimeError(f"no free port in {_ATTEMPTS} attempts")
