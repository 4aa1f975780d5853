"""One line of a comparison: a division, and what it means in numbers.

Loads are as `weights` has them. Lag is summed over what is known and then marked as
partial. Drain times use known values only: unknown stays unknown. Moves are seen from
the present owners; queues that are new have not moved.
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
    worst_drain_time,
)

from .edits import Note
from .situation import KEEPS_UP_S
from .weights import QueueColumns

MEASURED: Final = 0.02
"""By how much two rates that are measured over half a minute may differ by chance."""


@dataclass(frozen=True, slots=True)
class MemberFigures:
    """What one member has in a division; `lag` None where none is known."""

    client_id: str
    queues: int
    load: float
    lag: float | None
    lag_partial: bool
    drain_s: float | None


@dataclass(frozen=True, slots=True)
class Remainder:
    """How unevenly the odd queues of all topics fall on the same members.

    Of a topic with q queues each of c members has q // c; the rest are odd ones.
    `worst` is the most odd ones that a member has over all topics, `least_possible`
    what it would be if they were dealt evenly.
    """

    worst: int
    least_possible: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Numbers of one division.

    `owners` stand in the order of the queues of `columns`; `moved`, `gained` and `lost`
    are positions in it: of queues with an owner before and another now, with none
    before, and with none now.
    """

    columns: QueueColumns = field(repr=False)
    owners: tuple[tuple[str, ...], ...]
    moved: tuple[int, ...]
    gained: tuple[int, ...]
    lost: tuple[int, ...]
    members: tuple[MemberFigures, ...]
    unassigned: int
    idle: tuple[str, ...]
    by_queues: Scores
    by_load: Scores
    by_lag: Scores | None
    worst_drain_s: float | None
    remainder: Remainder

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


def figures_of(plan: Plan, columns: QueueColumns, member_rate: float | None) -> Figures:
    """Return the numbers of a plan; `member_rate` is what one member can take."""
    # A CONFIG list may name queues that the topic does not have.
    held = {
        client_id: [
            columns.positions[queue] for queue in share if queue in columns.positions
        ]
        for client_id, share in plan.by_client.items()
    }
    members = tuple(
        _member_figures(client_id, positions, columns, member_rate)
        for client_id, positions in held.items()
    )
    owners = _owners(held, len(columns.queues))
    present = columns.present
    changed = [
        at
        for at, before in enumerate(present)
        if before is not None and before != owners[at]
    ]
    lags = [member.lag for member in members if member.lag is not None]
    drains = [member.drain_s for member in members]
    drains.extend(
        _drain_without_owner(columns, columns.positions[queue])
        for queue in plan.unassigned
    )
    return Figures(
        columns=columns,
        owners=tuple(owners),
        moved=tuple(at for at in changed if present[at] and owners[at]),
        gained=tuple(at for at in changed if not present[at]),
        lost=tuple(at for at in changed if not owners[at]),
        members=members,
        unassigned=len(plan.unassigned),
        idle=plan.idle,
        by_queues=scores([member.queues for member in members]),
        by_load=scores([member.load for member in members]),
        by_lag=scores(lags) if len(lags) == len(members) else None,
        worst_drain_s=worst_drain_time(drains),
        remainder=_remainder(held, columns),
    )


def _member_figures(
    client_id: str,
    positions: Sequence[int],
    columns: QueueColumns,
    member_rate: float | None,
) -> MemberFigures:
    lags = [columns.lags[at] for at in positions]
    rates = [columns.rates[at] for at in positions]
    known = [lag for lag in lags if lag is not None]
    return MemberFigures(
        client_id=client_id,
        queues=len(positions),
        load=fsum([columns.weights.loads[at] for at in positions]),
        lag=fsum(known) if known or not positions else None,
        lag_partial=len(known) < len(positions),
        drain_s=_drain(lags, rates, member_rate),
    )


def _drain(
    lags: Sequence[float | None],
    rates: Sequence[float | None],
    member_rate: float | None,
) -> float | None:
    """Return a member's drain time; 0 for one that keeps up with what arrives.

    What arrived in the last seconds is on its way, not behind. A member that takes all
    of it was seen to take no more than arrives, so what it could take is not known, and
    the small difference of two measured rates would make its drain time anything.
    """
    if member_rate is not None and None not in lags and None not in rates:
        arriving = fsum(rate for rate in rates if rate is not None)
        waiting = fsum(lag for lag in lags if lag is not None)
        alike = abs(arriving - member_rate) <= member_rate * MEASURED
        if alike and waiting <= arriving * KEEPS_UP_S:
            return 0.0
    return member_drain_time(lags, rates, member_rate)


def _drain_without_owner(columns: QueueColumns, at: int) -> float | None:
    """Return NEVER where something waits or arrives that nobody will take."""
    if columns.lags[at] or columns.rates[at]:
        return NEVER
    return None if columns.lags[at] is None else 0.0


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
    sizes = Counter(columns.topics)
    floors = {topic: size // len(held) for topic, size in sizes.items()}
    odd = sum(size % len(held) for size in sizes.values())
    worst = 0
    for positions in held.values():
        counts = Counter([columns.topics[at] for at in positions])
        over = [count - floors[topic] for topic, count in counts.items()]
        worst = max(worst, sum([each for each in over if each > 0]))
    return Remainder(worst, ceil(odd / len(held)))
