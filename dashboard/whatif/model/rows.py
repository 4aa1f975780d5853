"""One row of a comparison: a division, and what it means in numbers.

Loads are as `weights` computes them, and marked where a rate was assumed. Lag is summed
over known values, and marked as partial if some are not known. Drain times use known
values only: unknown stays unknown. The evenness of a division is known only if the
value and the owner of every queue are. Moves are relative to the present owners; new
queues have not moved, and for queues whose owner is not known, nobody can tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, fsum
from typing import Final

from rmqcore.allocation import (
    NEVER,
    Move,
    Plan,
    Scores,
    member_drain_time,
    scores,
    share_loads,
    worst_drain_time,
)

from .edits import Note
from .situation import KEEPS_UP_S
from .weights import QueueColumns

NOT_KNOWN: Final = Scores(None, None, None, None)
MEASURED: Final = 0.02
"""How much two rates that are measured over half a minute may differ by chance."""


@dataclass(frozen=True, slots=True)
class MemberFigures:
    """What one member has in a division; `lag` is None if none is known.

    `load_assumed` is true if the rate of one of its queues is not known.
    """

    client_id: str
    queues: int
    load: float
    lag: float | None
    lag_partial: bool
    drain_s: float | None
    load_assumed: bool = False


@dataclass(frozen=True, slots=True)
class Remainder:
    """How unevenly the odd queues of all topics are spread over the members.

    Of a topic with q queues, each of c members has q // c; the rest are odd ones.
    `worst` is the most odd ones that a member has over all topics, `least_possible` the
    most if they were dealt evenly.
    """

    worst: int
    least_possible: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Numbers of one division.

    `owners` are in the order of the queues of `columns`; `moved`, `gained` and `lost`
    are positions in it: of queues with an owner before and another now, with none
    before, and with none now. `unassigned` counts queues that nobody consumes, `twice`
    those that several processes do. `unheard` are positions of queues whose present
    owners are not known, `unknown` of those whose owners in this division are not
    known; if there are any, `idle` is not known either.
    """

    columns: QueueColumns = field(repr=False)
    owners: tuple[tuple[str, ...], ...]
    moved: tuple[int, ...]
    gained: tuple[int, ...]
    lost: tuple[int, ...]
    members: tuple[MemberFigures, ...]
    unassigned: int
    twice: int
    unheard: frozenset[int]
    unknown: frozenset[int]
    idle: tuple[str, ...] | None
    by_queues: Scores
    by_load: Scores
    by_lag: Scores | None
    worst_drain_s: float | None
    remainder: Remainder

    @property
    def full(self) -> bool:
        """True when each queue is known to be consumed by exactly one process."""
        return not (self.unassigned or self.twice or self.unknown)

    @property
    def changed(self) -> tuple[int, ...]:
        """The positions of all queues whose owners differ, as far as that is known."""
        return (*self.moved, *self.gained, *self.lost)

    def moves(self, positions: Sequence[int]) -> list[Move]:
        """Return the queues at some positions with their owners before and now."""
        return [
            Move(
                self.columns.queues[at],
                self.columns.present[at] or (),
                self.owners[at],
            )
            for at in positions
        ]


@dataclass(frozen=True, slots=True)
class Row:
    """A strategy in the comparison: its plan and figures, or why there are none."""

    key: str
    strategy: str
    plan: Plan | None = None
    figures: Figures | None = None
    reason: Note | None = None
    assumed: tuple[tuple[str, str | int], ...] = ()


def figures_of(
    plan: Plan,
    columns: QueueColumns,
    member_rate: float | None,
    members: Sequence[str] = (),
    unknown: frozenset[int] = frozenset(),
) -> Figures:
    """Return the figures of a plan; `member_rate` is what one member can take.

    `members` has a client id once for each process; owners of the queues at `unknown`
    are not known, so any member may have more.
    """
    # A CONFIG list may name queues that the topic does not have.
    held = {
        client_id: [at for at in map(columns.positions.get, share) if at is not None]
        for client_id, share in plan.by_client.items()
    }
    shares = tuple(
        _member_figures(client_id, positions, columns, member_rate, bool(unknown))
        for client_id, positions in held.items()
    )
    owners = _owners(held, len(columns.queues))
    moved, gained, lost = _changes(owners, columns)
    drains = [member.drain_s for member in shares]
    drains.extend(
        _drain_without_owner(columns, columns.positions[queue])
        for queue in plan.unassigned
    )
    processes = members or tuple(held)
    return Figures(
        columns=columns,
        owners=tuple(owners),
        moved=moved,
        gained=gained,
        lost=lost,
        members=shares,
        unassigned=len(plan.unassigned),
        twice=_twice(owners, plan.shared_ids),
        unheard=columns.unheard,
        unknown=unknown,
        idle=None if unknown else plan.idle,
        by_queues=_evenness([1.0] * len(owners), held, processes) or NOT_KNOWN,
        by_load=_evenness(columns.scored, held, processes) or NOT_KNOWN,
        by_lag=_evenness(columns.lags, held, processes),
        worst_drain_s=worst_drain_time([*drains, *([None] if unknown else [])]),
        remainder=_remainder(held, columns),
    )


def _changes(
    owners: Sequence[tuple[str, ...]], columns: QueueColumns
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return the positions moved, gained and lost, as far as that is known."""
    present = columns.present
    changed = [
        at
        for at, (before, now) in enumerate(zip(present, owners, strict=True))
        if before is not None
        and before != now
        and at not in columns.unheard
        # The order of several owners means nothing.
        and (len(before) <= 1 >= len(now) or set(before) != set(now))
    ]
    return (
        tuple(at for at in changed if present[at] and owners[at]),
        tuple(at for at in changed if not present[at]),
        tuple(at for at in changed if not owners[at]),
    )


def _evenness(
    values: Sequence[float | None],
    held: Mapping[str, Sequence[int]],
    processes: Sequence[str],
) -> Scores | None:
    loads = share_loads(values, held, processes)
    return None if loads is None else scores(loads)


def _twice(owners: Sequence[Sequence[str]], shared_ids: Sequence[str]) -> int:
    shared = set(shared_ids)
    if not shared:
        return len([count for count in map(len, owners) if count > 1])
    return sum(len(holders) > 1 or not shared.isdisjoint(holders) for holders in owners)


def _member_figures(
    client_id: str,
    positions: Sequence[int],
    columns: QueueColumns,
    member_rate: float | None,
    more: bool,
) -> MemberFigures:
    """Return a member's figures; `more` if it may have queues beyond these."""
    lags = [columns.lags[at] for at in positions]
    rates = [columns.rates[at] for at in positions]
    known = [lag for lag in lags if lag is not None]
    drain_s = _drain(lags, rates, member_rate)
    return MemberFigures(
        client_id=client_id,
        queues=len(positions),
        load=fsum([columns.weights.loads[at] for at in positions]),
        lag=fsum(known) if known or not (positions or more) else None,
        lag_partial=more or len(known) < len(positions),
        drain_s=drain_s if drain_s == NEVER or not more else None,
        load_assumed=more or (columns.weights.is_rate and None in rates),
    )


def _drain(
    lags: Sequence[float | None],
    rates: Sequence[float | None],
    member_rate: float | None,
) -> float | None:
    """Return a member's drain time; 0 for one that keeps up with what arrives.

    Messages of the last seconds are on their way, not behind. A member that takes all
    of them was never seen to take more than arrives, so what it could take is not
    known, and the small difference of two measured rates would make its drain time
    arbitrary.
    """
    if member_rate is not None and None not in lags and None not in rates:
        arriving = fsum(rate for rate in rates if rate is not None)
        waiting = fsum(lag for lag in lags if lag is not None)
        alike = abs(arriving - member_rate) <= member_rate * MEASURED
        if alike and waiting <= arriving * KEEPS_UP_S:
            return 0.0
    return member_drain_time(lags, rates, member_rate)


def _drain_without_owner(columns: QueueColumns, at: int) -> float | None:
    """Return NEVER if something waits or arrives that nobody will take."""
    lag, rate = columns.lags[at], columns.rates[at]
    if lag or rate:
        return NEVER
    return None if lag is None or rate is None else 0.0


def _owners(held: Mapping[str, Sequence[int]], count: int) -> list[tuple[str, ...]]:
    owners: list[tuple[str, ...]] = [()] * count
    for client_id, positions in held.items():
        alone = (client_id,)
        for at in positions:
            before = owners[at]
            if not before:
                owners[at] = alone
            elif client_id not in before:
                owners[at] = (*before, client_id)
    return owners


def _remainder(held: Mapping[str, Sequence[int]], columns: QueueColumns) -> Remainder:
    if not held:
        return Remainder(0, 0)
    topics = columns.topics
    sizes = Counter(topics)
    floors = {topic: size // len(held) for topic, size in sizes.items()}
    odd = sum(size % len(held) for size in sizes.values())
    worst = 0
    for positions in held.values():
        # A `Counter` takes longer to make than a few queues to count.
        counts: dict[str, int] = {}
        for at in positions:
            topic = topics[at]
            counts[topic] = counts.get(topic, 0) + 1
        over = [count - floors[topic] for topic, count in counts.items()]
        worst = max(worst, sum([each for each in over if each > 0]))
    return Remainder(worst, ceil(odd / len(held)))
