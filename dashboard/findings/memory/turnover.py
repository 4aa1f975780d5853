"""Counts members that came and went and queues that moved in the last half hour.

A member that leaves soon after it joined made a *short stay*. Replacing every member
once, as a new release does, makes none: the old members had been there for long, and
the new ones stay. It moves queues many times, though, so a queue's move counts only
when no member has come or gone for a while.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

from rmqcore.model.columns import QueueKey

T = TypeVar("T")

WINDOW_MS: Final = 1_800_000
SHORT_STAY_MS: Final = 600_000
SETTLING_MS: Final = 45_000
"""Members rebalance every 20 s; this allows two rebalances after a change."""


class Turnover:
    """The comings and goings of one group."""

    __slots__ = ("_changed_ms", "_joined", "_moves", "_stays")

    def __init__(self) -> None:
        self._changed_ms: int | None = None
        self._joined: dict[str, int] = {}
        # Lists: an empty deque takes ten times as much, and most stay empty.
        self._stays: list[tuple[int, str]] = []
        self._moves: list[tuple[int, QueueKey]] = []

    @classmethod
    def restored(cls, dumped: Mapping[str, Any]) -> Turnover:
        """Continue from what `dump` returned."""
        turnover = cls()
        turnover._changed_ms = dumped.get("changed")
        turnover._joined.update(dumped.get("joined", {}))
        turnover._stays.extend((at, client) for at, client in dumped.get("stays", ()))
        turnover._moves.extend(
            (at, (topic, broker, queue_id))
            for at, (topic, broker, queue_id) in dumped.get("moves", ())
        )
        return turnover

    def dump(self) -> dict[str, Any]:
        """Return the comings and goings as plain values; empty when there were none."""
        found = {
            "changed": self._changed_ms,
            "joined": dict(self._joined),
            "stays": list(self._stays),
            "moves": list(self._moves),
        }
        return {name: value for name, value in found.items() if value}

    def take(
        self,
        at_ms: int,
        *,
        joined: Iterable[str] = (),
        left: Iterable[str] = (),
        moved: Iterable[QueueKey] = (),
    ) -> None:
        """Record the changes seen by one look."""
        for client in left:
            since = self._joined.pop(client, None)
            if since is not None and at_ms - since <= SHORT_STAY_MS:
                self._stays.append((at_ms, client))
            self._changed_ms = at_ms
        for client in joined:
            self._joined[client] = self._changed_ms = at_ms
        if self._changed_ms is None or at_ms - self._changed_ms > SETTLING_MS:
            self._moves.extend((at_ms, key) for key in moved)
        _drop_old(self._stays, at_ms)
        _drop_old(self._moves, at_ms)

    @property
    def rests(self) -> bool:
        """Whether nothing is counted that time will take away again."""
        return not self._stays and not self._moves

    @property
    def stays(self) -> list[str]:
        """The members that stayed only for a short time, oldest first."""
        return [client for _at, client in self._stays]

    @property
    def moves(self) -> Mapping[QueueKey, int]:
        """How often each queue changed hands although no member came or went."""
        if not self._moves:
            return {}
        return Counter(key for _at, key in self._moves)


def _drop_old(events: list[tuple[int, T]], at_ms: int) -> None:
    kept = next(
        (n for n, (at, _what) in enumerate(events) if at_ms - at <= WINDOW_MS),
        len(events),
    )
    del events[:kept]
