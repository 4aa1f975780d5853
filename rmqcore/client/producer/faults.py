"""Leaving slow or failing brokers alone for a while (latency fault avoidance).

Each send reports how long it took; the longer it took, the longer its broker is
avoided. A send that failed counts as ten seconds. The steps are those of RocketMQ's
clients.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

# (a send that took at least this many ms, keeps its broker out for this many ms)
STEPS: Final = (
    (15_000, 30_000),
    (5_000, 10_000),
    (3_000, 6_000),
    (1_800, 5_000),
    (550, 2_000),
)
FAILED_AS_MS: Final = 10_000


class BrokerFaults:
    """Which brokers are out, and until when (ms)."""

    __slots__ = ("_out_until",)

    def __init__(self) -> None:
        self._out_until: dict[str, int] = {}

    def report(
        self, broker_name: str, took_ms: float, now_ms: int, *, failed: bool = False
    ) -> None:
        """Note how a send to a broker went."""
        cost = FAILED_AS_MS if failed else took_ms
        out_ms = next((out for at_least, out in STEPS if cost >= at_least), 0)
        if out_ms:
            self._out_until[broker_name] = now_ms + out_ms
        else:
            self._out_until.pop(broker_name, None)

    def avoided(self, broker_names: Iterable[str], now_ms: int) -> set[str]:
        """Return which of the brokers are out now."""
        return {name for name in broker_names if self._out_until.get(name, 0) > now_ms}
