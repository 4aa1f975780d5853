"""Figures for /metrics: of this process, and those that workers leave in the cache.

Workers have no port of their own. Each leaves its figures under its name, for a minute;
the process that is asked for metrics reads them all.
"""

from __future__ import annotations

from typing import Any, Final

from .decoding import read_object
from .names import BEAT_KEY, metrics_key
from .state import LiveState

METRICS_KEPT_SECONDS: Final = 60


class SocketCount:
    """How many live sockets this process serves."""

    def __init__(self) -> None:
        self.open = 0


SOCKETS: Final = SocketCount()


def worker_metrics(state: LiveState) -> dict[str, dict[str, Any]]:
    """Return the figures of each worker that left some within the last minute."""
    prefix = metrics_key("")
    keys = sorted(state.client.scan_iter(match=prefix + "*", count=1000))
    found: dict[str, dict[str, Any]] = {}
    for key in keys:
        figures = read_object(state.client.get(key))
        if figures is not None:
            found[key.decode().removeprefix(prefix)] = figures
    return found


def beat_pulse_ms(state: LiveState) -> int | None:
    """Return when beat last showed that it lives, in ms; None if not recently."""
    pulse = read_object(state.client.get(BEAT_KEY))
    return None if pulse is None else int(pulse["at"])
