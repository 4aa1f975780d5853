"""The strategies of a report side by side, in the order of the back-test's ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.utils.translation import gettext as _

from analytics import contracts as c
from dashboard.reports.report import Report, once

from .results import has_table, read_rows
from .steps import Row, measured_time
from .values import BALANCED, added_members, strategy_title

_LAST: Final = 1_000_000
_TOLERANCE: Final = 1.01


@dataclass(frozen=True, slots=True)
class Evenness:
    """How evenly load or lag was spread over the members; None where not known."""

    max_to_mean: float | None
    variation: float | None
    gini: float | None


@dataclass(frozen=True, slots=True)
class StrategyRow:
    """One strategy over the period; None where it is not known, never 0.

    `drain` is the worst time to drain over the steps in which all members would drain,
    `never` is how long some member would not: known and above 0 means that it never
    would. Neither that nor `overload` is longer than the time that is `known`.
    `unowned` is the most queues without an owner at any time.
    """

    name: str
    in_use: bool
    is_assumed: bool
    rank: int | None
    load: Evenness
    lag: Evenness
    idle_share: float | None
    moves: int | None
    moves_per_change: float | None
    drain: timedelta | None
    never: timedelta | None
    overload: timedelta | None
    unowned: int | None
    epochs: int | None
    known: timedelta | None

    @property
    def is_best(self) -> bool:
        return self.rank == 1

    @property
    def max_to_mean(self) -> float | None:
        """Load of the busiest member over the mean, by which strategies are ranked."""
        return self.load.max_to_mean

    @property
    def is_balanced(self) -> bool:
        """True for the plan that is not one of RocketMQ's strategies."""
        return self.name == BALANCED

    @property
    def added(self) -> int:
        """How many more, or (negative) fewer, members than there were."""
        return added_members(self.name)

    @property
    def is_strategy(self) -> bool:
        """True for a strategy of RocketMQ's with the actual members."""
        return not (self.is_balanced or self.added)

    @property
    def never_drains(self) -> bool:
        """True if some member's lag would not have drained at some time."""
        return self.never is not None and self.never > timedelta(0)

    @property
    def title(self) -> str:
        """Its name for people; RocketMQ's own are not translated."""
        return strategy_title(self.name)

    @property
    def use_word(self) -> str:
        """Return whether it is in use, and how that is known; empty if it is not."""
        if not self.in_use:
            return ""
        return _("assumed") if self.is_assumed else _("in use")


@once
def strategy_rows(report: Report) -> list[StrategyRow]:
    """Return the strategies of a run over one group, by rank, the unknown ones last.

    The balanced plan and other numbers of members, which have no rank, follow them.
    """
    if not report.group:
        return []
    rows = read_rows(report, c.STRATEGIES)
    ranks = _ranks(rows)
    most = _most(report)
    found = [_row(row, ranks.get(row[c.STRATEGY]), most) for row in rows]
    return sorted(
        found,
        key=lambda row: (
            not row.is_strategy,
            abs(row.added),
            row.rank or _LAST,
            row.name,
        ),
    )


def in_use_name(rows: Sequence[StrategyRow]) -> str:
    """Return the strategy in use, or else the first; empty without any."""
    used = [row.name for row in rows if row.in_use]
    return used[0] if used else next((row.name for row in rows), "")


def _most(report: Report) -> timedelta:
    """Return the longest time for which a strategy can have been measured."""
    if not has_table(report, c.LAG_BY_GROUP):
        return report.until - report.since
    return measured_time(report)


def _row(row: Row, rank: int | None, most: timedelta) -> StrategyRow:
    known = _within(_span(row.get(c.SECONDS)), most)
    return StrategyRow(
        name=row[c.STRATEGY],
        in_use=bool(row[c.IN_USE]),
        is_assumed=row[c.STRATEGY_SOURCE] == "assumed",
        rank=rank,
        load=_evenness(row, "load"),
        lag=_evenness(row, "lag"),
        idle_share=row[c.IDLE_SHARE],
        moves=row[c.MOVES],
        moves_per_change=row.get(c.MOVES_PER_CHANGE),
        drain=_span(row.get(c.DRAIN_PEAK)),
        never=_within(_span(row.get(c.NEVER_SECONDS)), known),
        overload=_within(_span(row[c.OVERLOAD_SECONDS]), known),
        unowned=row.get(c.UNOWNED_COUNT),
        epochs=row.get(c.EPOCH_COUNT),
        known=known,
    )


def _within(span: timedelta | None, most: timedelta | None) -> timedelta | None:
    """Return a measured span; None where it is too long to be right.

    Older samples could stand for a little more than the time that there was.
    """
    if span is None or most is None:
        return None
    return min(span, most) if span <= most * _TOLERANCE else None


def _evenness(row: Row, of: str) -> Evenness:
    return Evenness(
        *(row.get(f"{of}_{score}") for score in (c.MAX_TO_MEAN, c.VARIATION, c.GINI))
    )


def _span(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


def _ranks(rows: Sequence[Row]) -> dict[str, int]:
    """Return the job's ranks; for older runs without ranks, apply the same rule."""
    if any(row.get(c.RANK) is not None for row in rows):
        return {row[c.STRATEGY]: row[c.RANK] for row in rows}
    known = [
        row
        for row in rows
        if row["load_max_to_mean"] is not None
        and row[c.STRATEGY] != BALANCED
        and not added_members(row[c.STRATEGY])
    ]
    known.sort(
        key=lambda row: (
            round(row["load_max_to_mean"], 9),
            _LAST if row[c.MOVES] is None else row[c.MOVES],
            row[c.STRATEGY],
        )
    )
    return {row[c.STRATEGY]: place for place, row in enumerate(known, start=1)}
