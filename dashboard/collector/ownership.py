"""Tells who owns which queue, as far as can be claimed (design, rules of the data).

A *round* asks all members of a group once which queues they hold. A member's own answer
is "reported"; what the strategy computes from members and queues is "inferred", or
"assumed" where the strategy itself is a guess. Members answer one after another while
queues move between them, so one round may show a queue with no owner or two when it
only changed hands. This is claimed only after two complete rounds at least 2 s apart
that both show it; until then the expected owner is shown, as inferred. Where processes
share a client id, one answer stands for all of them, and a queue that it does not name
has no owner only if nobody commits for it (`unheard`).

Pure: rounds come in with their time, and the tracker keeps only since when a queue
looks wrong. Cost: linear in queues plus members, per round.

An owner is expected for each queue only in a group that divides its queues. Where every
member has all (BROADCASTING) or queues were assigned by hand, all holders are shown and
nothing about that is wrong; where members share queues (POP) or disagree on what the
group is, nothing is said about owners at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import repeat
from typing import Any, Final

from dashboard.live.documents import OwnerSource as Source
from rmqcore.model.columns import QueueKey, Reason
from rmqcore.model.mapping import is_logical
from rmqcore.model.snapshot import (
    GroupKind,
    GroupSnapshot,
    OwnerSource,
    StrategySource,
)

from .unheard import Unheard

CONFIRM_AFTER_MS: Final = 2000

NOBODY: Final[tuple[str, ...]] = ()

DIVIDED: Final = (GroupKind.OWNED, GroupKind.OFFLINE)
"""Kinds of groups in which each queue has one owner, or waits for one."""

UNSPOKEN: Final[dict[GroupKind, Reason]] = {
    GroupKind.SHARED_POP: Reason.SHARED,
    GroupKind.MIXED: Reason.MIXED,
}
"""Kinds of groups without statements about owners, whatever members report."""


@dataclass(frozen=True, slots=True)
class RowOwners:
    """The owners of one queue, how that is known, and who is expected to own it.

    `wrong` is "unowned" or "double" once that may be claimed. `since_ms` is when it
    first looked so, also for a queue that looks owned twice but may only be moving.
    """

    owners: tuple[str, ...]
    source: Source | None
    expected: str | None = None
    wrong: str | None = None
    since_ms: int | None = None

    @property
    def moving(self) -> bool:
        """Whether the outcome is not known yet."""
        return self.wrong is None and self.since_ms is not None


@dataclass(frozen=True, slots=True)
class Ownership:
    """The owners of all rows of a group's queue table, in its order.

    `complete` is whether every member reported, `reporting` how many did. `reason` says
    why nothing is claimed; `rows` then have no owners and no source. `divided` is False
    where queues are not meant to have one owner each: nothing changes hands there.
    """

    rows: tuple[RowOwners, ...]
    complete: bool
    reporting: int
    reason: Reason | None = None
    divided: bool = True

    def count(self, wrong: str) -> int:
        """Return how many rows are known to be "unowned" or "double"."""
        return sum(row.wrong == wrong for row in self.rows)


@dataclass(frozen=True, slots=True)
class _Look:
    """One queue in one round.

    `heard` when its expected owner answered, `read` when another process that does not
    answer for itself may have it.
    """

    key: QueueKey
    holders: tuple[str, ...]
    expected: str | None
    heard: bool
    read: bool
    source: Source


@dataclass(slots=True)
class OwnershipTracker:
    """Judges the rounds of one group, one after another."""

    _suspects: dict[QueueKey, tuple[str, int]] = field(default_factory=dict)
    _unheard: Unheard = field(default_factory=Unheard)

    @classmethod
    def restored(cls, dumped: Iterable[Any]) -> OwnershipTracker:
        """Continue from what `dump` returned."""
        return cls(
            {
                (topic, broker, queue_id): (wrong, since)
                for (topic, broker, queue_id), wrong, since in dumped
            }
        )

    def dump(self) -> list[tuple[QueueKey, str, int]]:
        """Return the queues that look wrong, how, and since when."""
        return [(key, wrong, since) for key, (wrong, since) in self._suspects.items()]

    @property
    def rests(self) -> bool:
        """Whether no queue looks wrong."""
        return not self._suspects

    def judge(
        self, group: GroupSnapshot, now_ms: int, away: Collection[str] = ()
    ) -> Ownership:
        """Return what may be claimed after the round taken at `now_ms`.

        For queues on brokers that are `away`, that is only what members hold.
        """
        told = sum(member.queues is not None for member in group.members)
        # Two processes with one client id are two members with one answer.
        read = self._unheard.take(group, now_ms)
        complete = bool(group.members) and told == len(group.members)
        divided = group.kind in DIVIDED
        reason = UNSPOKEN.get(group.kind) or (None if told else group.owners.reason)
        if divided and reason is None:
            judge = self._judge_complete if complete else self._judge_partly
            judged = (judge(look, now_ms) for look in _looks(group, read))
            rows = _claimed(group, judged, away)
            self._forget_but(group.queues.keys)
        else:
            self._suspects.clear()
            rows = _claimed(
                group, _holders(group) if reason is None else _nobody(group), away
            )
        return Ownership(rows, complete, told, reason, divided)

    def _judge_complete(self, look: _Look, now_ms: int) -> RowOwners:
        if len(look.holders) == 1:
            self._suspects.pop(look.key, None)
            return RowOwners(look.holders, "reported", look.expected)
        if look.read and not look.holders:
            self._suspects.pop(look.key, None)
            return _inferred(look)
        wrong = "double" if look.holders else "unowned"
        since = self._since(look.key, wrong, now_ms)
        if now_ms - since >= CONFIRM_AFTER_MS:
            return RowOwners(look.holders, "reported", look.expected, wrong, since)
        if look.holders:
            named = look.expected in look.holders
            shown = look.expected if named and look.expected else look.holders[0]
            return RowOwners((shown,), "reported", look.expected, since_ms=since)
        return _inferred(look)

    def _judge_partly(self, look: _Look, now_ms: int) -> RowOwners:
        wrong, since = self._suspects.get(look.key, ("", now_ms))
        if look.holders:
            if wrong == "unowned":
                del self._suspects[look.key]
            return RowOwners(look.holders[:1], "reported", look.expected)
        # It had no owner when all answered, and the expected owner still says that it
        # does not hold it.
        denied = look.heard and not look.read
        if wrong == "unowned" and denied and now_ms - since >= CONFIRM_AFTER_MS:
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
    """Return the topics whose queues cannot lack an owner.

    No member reads them any more, or members hold logical queues of them although the
    brokers did not tell that they are static topics.
    """
    read = group.read_topics()
    unclaimed = set() if read is None else {key[0] for key in group.queues.keys} - read
    static = {key[0] for key in group.queues.keys if is_logical(key[1])}
    unclaimed.update(
        topic
        for member in group.members
        for topic, broker, _queue_id in member.queues or ()
        if is_logical(broker) and topic not in static
    )
    return unclaimed


def _inferred(look: _Look) -> RowOwners:
    if look.expected is None:
        return RowOwners(NOBODY, None)
    return _believed(look.expected, look.source)


@lru_cache(maxsize=4096)
def _believed(client: str, source: Source) -> RowOwners:
    """Return what is said of all queues that a member is believed to hold."""
    return RowOwners((client,), source, client)


def _claimed(
    group: GroupSnapshot, rows: Iterable[RowOwners], away: Collection[str]
) -> tuple[RowOwners, ...]:
    unclaimed = _unclaimed_topics(group)
    return tuple(
        RowOwners(NOBODY, None)
        if key[0] in unclaimed or (key[1] in away and not _held_now(row))
        else row
        for key, row in zip(group.queues.keys, rows, strict=True)
    )


def _held_now(row: RowOwners) -> bool:
    return bool(row.owners) and row.source == "reported"


def _nobody(group: GroupSnapshot) -> Iterator[RowOwners]:
    return repeat(RowOwners(NOBODY, None), len(group.queues))


def _holders(group: GroupSnapshot) -> Iterator[RowOwners]:
    """Yield all holders of each queue, where none is meant to have one owner."""
    held = _held(group)
    everybody = group.kind is GroupKind.BROADCASTING
    silent = [m.client_id for m in group.members if everybody and m.queues is None]
    for key in group.queues.keys:
        holders = (*held.get(key, NOBODY), *silent)
        source: Source = "inferred" if silent else "reported"
        yield RowOwners(holders, source if holders else None)


def _looks(group: GroupSnapshot, read: Collection[QueueKey]) -> Iterator[_Look]:
    held = _held(group)
    reporters = {m.client_id for m in group.members if m.queues is not None}
    assumed = group.strategy_source is StrategySource.ASSUMED
    source: Source = "assumed" if assumed else "inferred"
    for key, expected in zip(group.queues.keys, _expected(group), strict=True):
        holders = held.get(key, NOBODY)
        yield _Look(key, holders, expected, expected in reporters, key in read, source)


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
