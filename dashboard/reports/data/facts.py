"""The figures at the head of a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from analytics import contracts as c
from dashboard.reports.report import Report, once
from dashboard.reports.request.axis import Axis

from .holes import (
    Lack,
    find_holes,
    lag_lack,
    spans_of,
)
from .series import mean_skew
from .steps import (
    epoch_bands,
    lag_steps,
    mean,
    mean_rate,
    steps_by_group,
)
from .values import LagStep, Part

BEHIND_MS: Final = 30_000
"""A group is behind while its oldest message is older than this."""

WORST_GROUPS: Final = 20


@dataclass(frozen=True, slots=True)
class Measured:
    """How much of the period is known, by steps, as the lag figure shows it.

    `whole` is drawn; of all queues `partial`, `missing` and `idle` (a consumer had no
    queues) are hatched, in so many spans. The four make up the period. For `within` of
    the drawn time, some queue was not known.
    """

    whole: timedelta
    within: timedelta
    partial: timedelta
    partial_spans: int
    missing: timedelta
    missing_spans: int
    idle: timedelta


@dataclass(frozen=True, slots=True)
class Highest:
    """The highest value of a period, and its step.

    `part` says how many queues it covers, if no step known for all queues had more: the
    value for all of them is then at least that.
    """

    value: float
    at: datetime
    part: Part | None = None

    @property
    def is_least(self) -> bool:
        return self.part is not None


@dataclass(frozen=True, slots=True)
class Facts:
    """What stands at the head of a report; None is unknown, never 0.

    All of it is from steps in which all queues are known, unless it is marked as
    partial. `behind` is of the time in which the age is known, `aged`.
    """

    peak: Highest | None
    oldest: Highest | None
    behind: timedelta | None
    aged: timedelta
    measured: Measured
    epochs: int
    rebalances: int
    in_rate: float | None
    out_rate: float | None
    skew: float | None
    step: timedelta


@once
def facts_of(report: Report) -> Facts:
    """Return the facts of a finished run."""
    axis = report.axis
    steps = lag_steps(report)
    aged = [step for step in steps if step.age_ms is not None]
    behind = [step for step in aged if (step.age_ms or 0) > BEHIND_MS]
    bands = epoch_bands(report)
    return Facts(
        peak=_highest((step, step.seen.peak) for step in steps),
        oldest=_highest((step, step.seen.age_ms) for step in steps),
        behind=_time_of(axis, behind) if aged else None,
        aged=_time_of(axis, aged),
        measured=measured(axis, steps),
        epochs=len(bands),
        rebalances=sum(
            1 for band in bands if band.began is not None and band.began > report.since
        ),
        in_rate=mean_rate(report, c.IN_RATE),
        out_rate=mean_rate(report, c.OUT_RATE),
        skew=mean_skew(report) if report.group else None,
        step=axis.step,
    )


def measured(axis: Axis, steps: Sequence[LagStep]) -> Measured:
    """Return how much of a period is known, as the lag figure shows it."""
    by_time = {step.since: step for step in steps}
    holes = find_holes(axis, lambda at: lag_lack(by_time.get(at)))
    spans = {lack: spans_of(holes, lack) for lack in Lack}
    lacking = {lack: sum(spans[lack], timedelta(0)) for lack in Lack}
    return Measured(
        whole=axis.until - axis.since - sum(lacking.values(), timedelta(0)),
        within=sum((s.unknown for s in steps if s.is_whole), timedelta(0)),
        partial=lacking[Lack.PART],
        partial_spans=len(spans[Lack.PART]),
        missing=lacking[Lack.NOTHING],
        missing_spans=len(spans[Lack.NOTHING]),
        idle=lacking[Lack.VALUE],
    )


def _time_of(axis: Axis, steps: Iterable[LagStep]) -> timedelta:
    spans = (axis.end_of(step.since) - step.since for step in steps)
    return sum(spans, timedelta(0))


def _highest(values: Iterable[tuple[LagStep, float | None]]) -> Highest | None:
    """Return the first highest value; of two equal ones, the one of all queues."""
    found = None
    for step, value in values:
        if value is None:
            continue
        part = None if step.is_whole else step.part(value)
        rank = (value, part is None)
        if found is None or rank > (found.value, found.part is None):
            found = Highest(value, step.since, part)
    return found


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group over the period, in a report of all groups."""

    group: str
    peak: Highest | None
    mean: float | None
    oldest: Highest | None


@once
def worst_groups(report: Report) -> list[GroupRow]:
    """Return the groups with the highest peaks first; none for one group.

    A group that is only partly known is placed by the known part.
    """
    if report.group:
        return []
    found = [
        GroupRow(
            group=group,
            peak=_highest((step, step.seen.peak) for step in steps),
            mean=mean(step.lag for step in steps),
            oldest=_highest((step, step.seen.age_ms) for step in steps),
        )
        for group, steps in steps_by_group(report, WORST_GROUPS).items()
    ]
    found.sort(key=lambda row: (-(row.peak.value if row.peak else 0), row.group))
    return found
