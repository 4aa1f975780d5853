"""Free TCP ports on loopback, asked from the kernel."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import Final

LOOPBACK: Final = "127.0.0.1"
_ATTEMPTS: Final = 200


def free_port() -> int:
    """Return a port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def free_broker_ports(count: int) -> list[int]:
    """Return `count` ports P for Apache brokers, with P-2 and P+1 free as well.

    P-2 is the broker's second listener, P+1 its replication port, which listens on
    every interface. All are held until the last one is found, so none overlap.
    """
    ports: list[int] = []
    with ExitStack() as held:
        for _ in range(_ATTEMPTS):
            if len(ports) == count:
                return ports
            port = _hold_triple(held)
            if port is not None:
                ports.append(port)
    raise RuntimeError(f"no {count} free port triples in {_ATTEMPTS} attempts")


def _hold_triple(held: ExitStack) -> int | None:
    with ExitStack() as attempt:
        first = attempt.enter_context(socket.socket())
        first.bind((LOOPBACK, 0))
        port = int(first.getsockname()[1])
        for host, neighbour in ((LOOPBACK, port - 2), ("", port + 1)):
            probe = attempt.enter_context(socket.socket())
            try:
                probe.bind((host, neighbour))
            except OSError:
                return None
        held.push(attempt.pop_all())
        return port
