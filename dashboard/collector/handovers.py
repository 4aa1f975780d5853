"""Ownership events: a queue changed hands between two looks at its group.

Only members' reports count; an inferred owner that turns out wrong is not an event.
Each event is an interval: after the look that still showed the old owners, no later
than the one that first showed the new ones. A queue with no owner or with two is
reported late, once confirmed; the event says since when it was so.

The comparison counts how often each owner is named: two processes with one client id
own a queue twice. In a group that divides nothing (BROADCASTING, POP, assigned by hand)
nothing changes hands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rmqcore.model.columns import QueueKey

from .ownership import NOBODY, Ownership

MOVED: Final = "moved"
TAKEN: Final = "taken"
LOST: Final = "lost"
DOUBLE: Final = "double"
SETTLED: Final = "settled"


@dataclass(frozen=True, slots=True)
class Handover:
    """One queue's owners before and after, and between which looks they changed."""

    key: QueueKey
    kind: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    after_ms: int | None
    by_ms: int


LastOwners = dict[QueueKey, tuple[tuple[str, ...], int]]
"""Owners of queues, and when the event that they come from had happened (ms)."""


class Handovers:
    """The reported owners of one group's queues, and when each last changed."""

    __slots__ = ("_owners", "_seen_ms", "moved_at_ms")

    def __init__(self) -> None:
        self._owners: dict[QueueKey, tuple[str, ...]] = {}
        self._seen_ms: dict[QueueKey, int] = {}
        self.moved_at_ms: dict[QueueKey, int] = {}

    @classmethod
    def restored(cls, dumped: Mapping[str, Any], keys: Sequence[QueueKey]) -> Handovers:
        """Continue from what `dump` returned; without `keys` it was of other queues."""
        handovers = cls()
        if not keys:
            return handovers
        for at_ms, rows in dumped.get("seen", ()):
            for row in rows:
                handovers._owners[keys[row]] = NOBODY
                handovers._seen_ms[keys[row]] = at_ms
        for client, rows in dumped.get("held", {}).items():
            for row in rows:
                handovers._owners[keys[row]] += (client,)
        for row, at_ms in dumped.get("moved", ()):
            handovers.moved_at_ms[keys[row]] = at_ms
        return handovers

    def catch_up(self, written: LastOwners) -> None:
        """Take over events that were written after the state that was restored.

        Without that, the next event would begin with owners that are out of date.
        """
        for key, (owners, at_ms) in written.items():
            if key in self._owners and at_ms >= self._seen_ms[key]:
                self._owners[key] = owners
                self._seen_ms[key] = at_ms

    def dump(self, keys: Sequence[QueueKey]) -> dict[str, Any]:
        """Return the reported owners as plain values, by the rows of `keys`."""
        if not self._owners:
            return {}
        held: dict[str, list[int]] = {}
        seen: dict[int, list[int]] = {}
        for row, key in enumerate(keys):
            if key in self._owners:
                seen.setdefault(self._seen_ms[key], []).append(row)
                for client in self._owners[key]:
                    held.setdefault(client, []).append(row)
        moved = [
            (row, self.moved_at_ms[key])
            for row, key in enumerate(keys)
            if key in self.moved_at_ms
        ]
        return {"held": held, "seen": list(seen.items()), "moved": moved}

    @property
    def owners(self) -> Mapping[QueueKey, tuple[str, ...]]:
        """The last reported owners of each queue; changes with further looks."""
        return self._owners

    def observe(
        self,
        keys: tuple[QueueKey, ...],
        ownership: Ownership,
        at_ms: int,
        away: Collection[str] = (),
    ) -> list[Handover]:
        """Record one look; return what changed since the last report of each queue.

        Nothing is concluded about queues on brokers that are `away`.
        """
        if not ownership.divided:
            self._forget_but(set())
            return []
        found: list[Handover] = []
        for key, row in zip(keys, ownership.rows, strict=True):
            if row.source != "reported" or row.moving or key[1] in away:
                continue
            before = self._owners.get(key)
            if before is not None and sorted(before) != sorted(row.owners):
                seen_ms = self._seen_ms[key]
                by_ms = at_ms if row.since_ms is None else max(seen_ms, row.since_ms)
                kind = _kind(before, row.owners)
                found.append(Handover(key, kind, before, row.owners, seen_ms, by_ms))
                self.moved_at_ms[key] = at_ms
            self._owners[key] = row.owners
            self._seen_ms[key] = at_ms
        self._forget_but(set(keys))
        return found

    def _forget_but(self, keys: set[QueueKey]) -> None:
        for table in (self._owners, self._seen_ms, self.moved_at_ms):
            for key in table.keys() - keys:
                del table[key]


def _kind(before: tuple[str, ...], after: tuple[str, ...]) -> str:
    if not after:
        return LOST
    if len(after) > 1:
        return DOUBLE
    if len(before) > 1:
        return SETTLED
    return MOVED if before else TAKEN
