"""The values that figures are made of, and the gaps between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

BALANCED: Final = "BALANCED"
"""The plan of `rmqcore.allocation` that weighs queues."""

_WITH_MEMBERS: Final = re.compile(r"in_use([+-]\d+)")
"""Names of the strategy in use with members more or fewer: in_use+1."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The period that a page's figures share, its step, and the reader's zone."""

    since: datetime
    until: datetime
    step: timedelta
    zone: tzinfo

    def local(self, moment: datetime) -> str:
        """Return a moment as Plotly wants it: local time, no offset."""
        shown = moment.astimezone(self.zone).replace(tzinfo=None)
        return shown.isoformat(timespec="milliseconds")

    @property
    def range(self) -> list[str]:
        return [self.local(self.since), self.local(self.until)]

    def steps(self) -> list[datetime]:
        """Return the begin of each step of the period."""
        count = -(-(self.until - self.since) // self.step)
        return [self.since + self.step * number for number in range(count)]


@dataclass(frozen=True, slots=True)
class LagStep:
    """One step of a group's lag; None is unknown. `known` of `queues` are summed."""

    since: datetime
    lag: float | None
    peak: float | None = None
    age_ms: float | None = None
    known: int = 0
    queues: int = 0


@dataclass(frozen=True, slots=True)
class EpochBand:
    """A span with equal members and queues; None where it began before or goes on."""

    number: int
    members: int
    began: datetime | None
    ended: datetime | None


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One row of a heatmap: a queue's (or a group's) value at each step it has."""

    label: str
    values: dict[datetime, float | None]


@dataclass(frozen=True, slots=True)
class SkewSeries:
    """One strategy's max / mean over time."""

    strategy: str
    in_use: bool
    points: Sequence[tuple[datetime, float | None]]

    @property
    def title(self) -> str:
        """Its name for people, and whether it is in use."""
        if self.in_use:
            return _("%(strategy)s (in use)") % {"strategy": self.strategy}
        return strategy_title(self.strategy)


def added_members(strategy: str) -> int:
    """Return how many members more (or fewer) a variant of that name has; 0: none."""
    found = _WITH_MEMBERS.fullmatch(strategy)
    return int(found[1]) if found else 0


def strategy_title(strategy: str) -> str:
    """Return a strategy's name for people; RocketMQ's own are not translated."""
    if strategy == BALANCED:
        return _("Balanced plan")
    added = added_members(strategy)
    if not added:
        return strategy
    count = abs(added)
    if added > 0:
        text = ngettext("%(n)s member more", "%(n)s members more", count)
    else:
        text = ngettext("%(n)s member fewer", "%(n)s members fewer", count)
    return text % {"n": count}


def broken(
    axis: Axis, points: Sequence[tuple[datetime, float | None]]
) -> list[tuple[datetime, float | None]]:
    """Return points in order of time, with an empty one where nothing was collected."""
    breaks = [(start, None) for start, _end in gaps(axis, [at for at, _ in points])]
    return sorted([*points, *breaks], key=lambda point: point[0])


def gaps(axis: Axis, seen: Sequence[datetime]) -> list[tuple[datetime, datetime]]:
    """Return the spans of whole steps that nothing was collected in.

    A step may lack samples where quiet queues are sampled once a minute, so spans
    shorter than two minutes are no gap.
    """
    shortest = max(axis.step, timedelta(minutes=2))
    known = sorted(seen)
    edges = [axis.since - axis.step, *known, axis.until]
    found = []
    for before, after in pairwise(edges):
        start = before + axis.step
        if after - start >= shortest:
            found.append((start, after))
    return found
