"""Who owns which queue, as far as it may be claimed (design, rules of the data).

A *round* is one asking of all members of a group for what they hold. A member's own
word is "reported"; what the strategy computes from members and queues is "inferred",
or "assumed" where the strategy itself is a guess. Members answer one after another
while queues move between them, so one round may show a queue with no owner or two
when it only changed hands. Such a queue is claimed to be so only after two complete
rounds at least 2 s apart that both show it; until then the expected owner is shown,
as inferred.

Pure: rounds come in with their time, and the tracker keeps only since when a queue
looks wrong. Cost: linear in queues plus members, per round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from dashboard.live.documents import OwnerSource as Source
from rmqcore.model.columns import QueueKey, Reason
from rmqcore.model.snapshot import GroupSnapshot, OwnerSource, StrategySource

CONFIRM_AFTER_MS: Final = 2000

LOGICAL_BROKER: Final = "__syslo__"
"""How the broker names of a static topic's queues begin in clients."""

NOBODY: Final[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class RowOwners:
    """The owners of one queue, how that is known, and who is expected to own it.

    `wrong` is "unowned" or "double" once that may be claimed, with `since_ms`.
    """

    owners: tuple[str, ...]
    source: Source | None
    expected: str | None = None
    wrong: str | None = None
    since_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Ownership:
    """The owners of all rows of a group's queue table, in its order.

    `complete` says that every member reported. `reason` says why nothing is claimed;
    `rows` then have no owners and no source.
    """

    rows: tuple[RowOwners, ...]
    complete: bool
    reporting: int
    reason: Reason | None = None

    def count(self, wrong: str) -> int:
        """Return how many rows are known to be "unowned" or "double"."""
        return sum(row.wrong == wrong for row in self.rows)


@dataclass(frozen=True, slots=True)
class _Look:
    """One queue in one round; `heard` when its expected owner answered."""

    key: QueueKey
    holders: tuple[str, ...]
    expected: str | None
    heard: bool
    source: Source


@dataclass(slots=True)
class OwnershipTracker:
    """Judges the rounds of one group, one after another."""

    _suspects: dict[QueueKey, tuple[str, int]] = field(default_factory=dict)

    def judge(
        self, group: GroupSnapshot, now_ms: int, away: Collection[str] = ()
    ) -> Ownership:
        """Return what may be claimed after the round taken at `now_ms`.

        Of queues on brokers that are `away`, that they have no owner is not.
        """
        reporters = {m.client_id for m in group.members if m.queues is not None}
        if group.owners.reason is not None and not reporters:
            self._suspects.clear()
            rows = (RowOwners(NOBODY, None),) * len(group.queues)
            return Ownership(rows, False, 0, group.owners.reason)
        # Two processes with one client id are two members with one word.
        complete = bool(group.members) and all(
            member.queues is not None for member in group.members
        )
        judge = self._judge_complete if complete else self._judge_partly
        unclaimed = _unclaimed_topics(group)
        rows = tuple(
            RowOwners(NOBODY, None)
            if look.key[0] in unclaimed or (look.key[1] in away and not look.holders)
            else judge(look, now_ms)
            for look in _looks(group, reporters)
        )
        self._forget_but(group.queues.keys)
        return Ownership(rows, complete, len(reporters))

    def _judge_complete(self, look: _Look, now_ms: int) -> RowOwners:
        if len(look.holders) == 1:
            self._suspects.pop(look.key, None)
            return RowOwners(look.holders, "reported", look.expected)
        wrong = "double" if look.holders else "unowned"
        since = self._since(look.key, wrong, now_ms)
        if now_ms - since >= CONFIRM_AFTER_MS:
            return RowOwners(look.holders, "reported", look.expected, wrong, since)
        if look.holders:
            named = look.expected in look.holders
            shown = look.expected if named and look.expected else look.holders[0]
            return RowOwners((shown,), "reported", look.expected)
        return _inferred(look)

    def _judge_partly(self, look: _Look, now_ms: int) -> RowOwners:
        if look.holders:
            return RowOwners(look.holders[:1], "reported", look.expected)
        wrong, since = self._suspects.get(look.key, ("", now_ms))
        # It was nobody's when all answered, and whoever should hold it still says
        # that it does not.
        if wrong == "unowned" and look.heard and now_ms - since >= CONFIRM_AFTER_MS:
            return RowOwners(NOBODY, "reported", look.expected, wrong, since)
        return _inferred(look)

    def _since(self, key: QueueKey, wrong: str, now_ms: int) -> int:
        known = self._suspects.get(key)
        if known is None or known[0] != wrong:
            self._suspects[key] = (wrong, now_ms)
            return now_ms
        return known[1]

    def _forget_but(self, keys: tuple[QueueKey, ...]) -> None:
        if self._suspects:
            for key in self._suspects.keys() - set(keys):
                del self._suspects[key]


def _unclaimed_topics(group: GroupSnapshot) -> set[str]:
    """Return the topics of whose queues no owner can be missing.

    Nobody reads them any more, or they are static topics, of which members hold logical
    queues: which broker's queue stands behind one changes with time.
    """
    read = group.read_topics()
    unclaimed = set() if read is None else {key[0] for key in group.queues.keys} - read
    unclaimed.update(
        topic
        for member in group.members
        for topic, broker, _queue_id in member.queues or ()
        if broker.startswith(LOGICAL_BROKER)
    )
    return unclaimed


def _inferred(look: _Look) -> RowOwners:
    if look.expected is None:
        return RowOwners(NOBODY, None)
    return RowOwners((look.expected,), look.source, look.expected)


def _looks(group: GroupSnapshot, reporters: set[str]) -> Iterator[_Look]:
    held = _held(group)
    assumed = group.strategy_source is StrategySource.ASSUMED
    source: Source = "assumed" if assumed else "inferred"
    for key, expected in zip(group.queues.keys, _expected(group), strict=True):
        holders = held.get(key, NOBODY)
        yield _Look(key, holders, expected, expected in reporters, source)


def _held(group: GroupSnapshot) -> dict[QueueKey, tuple[str, ...]]:
    held: dict[QueueKey, tuple[str, ...]] = {}
    for member in group.members:
        for key in member.queues or ():
            held[key] = (*held.get(key, NOBODY), member.client_id)
    return held


def _expected(group: GroupSnapshot) -> tuple[str | None, ...]:
    """Return the owner that the strategy computes for each row, where it can."""
    if group.inferred.by_row:
        return tuple(next(iter(clients), None) for clients in group.inferred.by_row)
    if not group.owners.by_row:
        return (None,) * len(group.queues)
    return tuple(
        next(iter(clients), None) if source is OwnerSource.INFERRED else None
        for clients, source in zip(
            group.owners.by_row, group.owners.sources, strict=True
        )
    )
