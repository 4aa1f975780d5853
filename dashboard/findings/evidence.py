"""The input of rules: a group now, its short past, and what was remembered.

Nothing here judges. Members' own reports (307) are only asked for every so often;
`told` says whether they are fresh, and without them `members` say nothing about
themselves. Brokers that do not answer leave rows unknown: `silent` names them, and
whatever a rule finds then holds for a part of the group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from rmqcore.model.columns import Column, QueueKey, Reason, reason_code
from rmqcore.model.snapshot import (
    GroupKind,
    GroupSnapshot,
    MemberSnapshot,
    QueueTable,
)
from rmqcore.model.subscription import ConsumeType

from .memory.files import FileLoss
from .memory.growth import Growth
from .memory.since import Since
from .memory.trail import Trail

NAMED: Final = 3
"""At most this many brokers or members that a rule lacks are named."""

_ANSWERED: Final = frozenset(
    (
        0,
        *map(
            reason_code,
            (
                Reason.NOTHING_COMMITTED,
                Reason.EXPIRED,
                Reason.NOT_LISTED,
                Reason.NOT_ASKED,
            ),
        ),
    )
)
"""The `Column.reasons` that mean a broker answered: with a number, or with none."""


class OwnerRow(Protocol):
    """The claims to make about one queue's owners: see `collector.ownership`."""

    @property
    def owners(self) -> tuple[str, ...]: ...

    @property
    def source(self) -> str | None: ...

    @property
    def expected(self) -> str | None: ...

    @property
    def wrong(self) -> str | None: ...

    @property
    def since_ms(self) -> int | None: ...


class Flow(Protocol):
    """The rates that the group's tiles and tables show: see `collector.rates`."""

    @property
    def rate_in(self) -> float | None: ...

    @property
    def rate_out(self) -> float | None: ...

    @property
    def rows_in(self) -> tuple[float | None, ...]: ...

    @property
    def rows_out(self) -> tuple[float | None, ...]: ...


@dataclass(frozen=True, slots=True)
class Unchecked:
    """States that a rule could not be checked, and what checking it would take.

    `brokers` and `members`: those listed in `names` have to answer. `not_asked`: the
    members were not asked. `commits`: some queue has messages and was never committed.
    `time`: the group has to be observed for longer.
    """

    why: Literal["brokers", "members", "not_asked", "commits", "time"]
    names: tuple[str, ...] = ()


NOT_ASKED: Final = Unchecked("not_asked")
NEEDS_COMMITS: Final = Unchecked("commits")
NEEDS_TIME: Final = Unchecked("time")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything known of one group at `at_ms`; `rows` follow the queue table.

    `last_owners`: the member that last reported each queue alone. `stays` are members
    that joined and left again soon, `moves` counts how often each queue changed hands
    while no member came or went, both within the window of `memory.turnover`.
    `online_ms`: when a member was last seen, None if never. `read_topics` are those
    that members read when last seen, None if that is not known. `unheard` are rows for
    which a broker did not tell something that it knows, `silent` the brokers of these,
    and others that did not answer everything. `standing` are the rules that found
    something at the previous look.
    """

    at_ms: int
    group: GroupSnapshot
    rows: Sequence[OwnerRow]
    told: bool
    trail: Trail
    since: Since
    last_owners: Mapping[QueueKey, str] = field(default_factory=dict)
    stays: Sequence[str] = ()
    moves: Mapping[QueueKey, int] = field(default_factory=dict)
    dead_letters: Growth = field(default_factory=Growth)
    file_losses: Sequence[FileLoss] = ()
    online_ms: int | None = None
    read_topics: frozenset[str] | None = None
    unheard: frozenset[int] = frozenset()
    silent: tuple[str, ...] = ()
    flow: Flow | None = None
    standing: frozenset[str] = frozenset()

    @property
    def unread(self) -> frozenset[QueueKey]:
        """The queues of topics that members gave up: their commits never move again."""
        if self.read_topics is None:
            return frozenset()
        read = self.read_topics
        return frozenset(key for key in self.group.queues.keys if key[0] not in read)

    @property
    def owned(self) -> bool:
        """True where each queue is meant to have one owner."""
        return self.group.kind is GroupKind.OWNED

    @property
    def commits_tell(self) -> bool:
        """True when progress shows in the commits at the broker.

        Pull consumers seek, and may keep their progress elsewhere; broadcasting
        members always do.
        """
        pulls = self.group.consume_type is ConsumeType.PULL
        kinds = (GroupKind.OWNED, GroupKind.SHARED_POP)
        return self.group.kind in kinds and not pulls

    @property
    def orderly(self) -> bool:
        """True when some member says that it consumes orderly."""
        return any(member.orderly for member in self.group.members)

    @property
    def untold(self) -> tuple[str, ...]:
        """The members that were asked and reported nothing about themselves."""
        silent = {m.client_id for m in self.group.members if m.subscriptions is None}
        return tuple(sorted(silent))

    def told_members(self) -> Iterator[MemberSnapshot]:
        """Yield the members that reported about themselves, each id once."""
        seen: set[str] = set()
        for member in self.group.members:
            if member.subscriptions is not None and member.client_id not in seen:
                seen.add(member.client_id)
                yield member

    def needs_brokers(self) -> Unchecked | None:
        """Return the answer of a rule that needs all brokers, None when it has them."""
        return _needs("brokers", self.silent)

    def needs_offsets(self, explained: Collection[QueueKey]) -> Unchecked | None:
        """Return the answer of a rule that needs the offsets of all other queues."""
        keys = self.group.queues.keys
        unheard = {keys[row] for row in self.unheard} - set(explained)
        return _needs("brokers", {key[1] for key in unheard})

    def needs_everybody(self) -> Unchecked | None:
        """Return the answer of a rule that needs all members' word and all brokers."""
        return self.needs_brokers() or _needs("members", self.untold)

    def rows_that(self, wrong: str) -> list[int]:
        """Return the rows known to be "unowned" or "double"."""
        return [row for row, owners in enumerate(self.rows) if owners.wrong == wrong]

    def keys_of(self, rows: Sequence[int]) -> tuple[QueueKey, ...]:
        """Return the queues of some rows."""
        keys = self.group.queues.keys
        return tuple(keys[row] for row in rows)

    def still_there(self, queues: Iterable[QueueKey]) -> tuple[QueueKey, ...]:
        """Return those of the given earlier queues that the group still has."""
        known = set(self.group.queues.keys)
        return tuple(key for key in queues if key in known)

    def lag_of(self, rows: Iterable[int]) -> Amount:
        """Return the total lag of some rows."""
        table = self.group.queues
        known, partial = None, False
        for row in rows:
            lag = table.waiting(row)
            if lag is None:
                partial = True
            else:
                known = (known or 0) + lag
        return Amount(known, partial)


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum over queues: None when none of it is known, `partial` when not all is."""

    known: int | None
    partial: bool

    def marks(self, *names: str) -> tuple[str, ...]:
        """Return the names to mark as "at least": all of them if the sum is partial."""
        return names if self.partial else ()


def _needs(
    why: Literal["brokers", "members"], names: Collection[str]
) -> Unchecked | None:
    return Unchecked(why, tuple(sorted(names)[:NAMED])) if names else None


def unheard_rows(table: QueueTable) -> list[int]:
    """Return the rows for which a broker did not tell something that it knows.

    That a queue was never committed, or no longer exists, counts as told.
    """
    columns = [column for column in _offsets(table) if _lacks(column)]
    if not columns:
        return []
    return [
        row
        for row in range(len(table))
        if any(column.reasons[row] not in _ANSWERED for column in columns)
    ]


def _offsets(table: QueueTable) -> tuple[Column, ...]:
    return table.min, table.max, table.committed


def _lacks(column: Column) -> bool:
    return not _ANSWERED.issuperset(column.reasons)
