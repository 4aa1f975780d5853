"""The figures at the head of a report."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Final

from analytics import contracts as c
from dashboard.models import JobRun

from .results import read_rows
from .steps import (
    Row,
    axis_of,
    epoch_bands,
    group_rows,
    highest,
    lag_steps,
    mean,
    total,
)
from .strategies import strategy_rows

BEHIND_MS: Final = 30_000
"""A group is behind while its oldest message is older than this."""

WORST_GROUPS: Final = 20


@dataclass(frozen=True, slots=True)
class Facts:
    """What stands at the head of a report; None is unknown, never 0."""

    peak: float | None
    peak_at: datetime | None
    oldest_ms: float | None
    oldest_at: datetime | None
    behind: timedelta | None
    collected: timedelta
    missing: timedelta
    epochs: int
    rebalances: int
    in_rate: float | None
    out_rate: float | None
    skew: float | None
    step: timedelta


def facts_of(run: JobRun, zone: tzinfo) -> Facts:
    """Return the facts of a finished run."""
    axis = axis_of(run, zone)
    rows = group_rows(run)
    steps = lag_steps(rows)
    peaks = [step for step in steps if step.peak is not None]
    ages = [step for step in steps if step.age_ms is not None]
    worst = max(peaks, key=lambda step: step.peak or 0, default=None)
    oldest = max(ages, key=lambda step: step.age_ms or 0, default=None)
    behind = sum(1 for step in ages if (step.age_ms or 0) > BEHIND_MS)
    collected = axis.step * len(steps)
    bands = epoch_bands(run)
    in_use = next((row for row in strategy_rows(run) if row.in_use), None)
    return Facts(
        peak=worst.peak if worst else None,
        peak_at=worst.since if worst else None,
        oldest_ms=oldest.age_ms if oldest else None,
        oldest_at=oldest.since if oldest else None,
        behind=axis.step * behind if ages else None,
        collected=collected,
        missing=max(timedelta(0), axis.step * len(axis.steps()) - collected),
        epochs=len(bands),
        rebalances=sum(
            1 for band in bands if band.began is not None and band.began > run.since
        ),
        in_rate=mean(total(row[c.IN_RATE] for row in each) for each in rows.values()),
        out_rate=mean(total(row[c.OUT_RATE] for row in each) for each in rows.values()),
        skew=in_use.max_to_mean if in_use else None,
        step=axis.step,
    )


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group over the period, in a report of all groups."""

    group: str
    peak: float | None
    mean: float | None
    oldest_ms: float | None


def worst_groups(run: JobRun) -> list[GroupRow]:
    """Return the groups with the highest peaks first; none for one group."""
    if run.group:
        return []
    by_group: dict[str, list[Row]] = defaultdict(list)
    for row in read_rows(run, c.LAG_BY_GROUP):
        by_group[row[c.GROUP]].append(row)
    found = [
        GroupRow(
            group=group,
            peak=highest(row[c.LAG_PEAK] for row in rows),
            mean=mean(row[c.LAG_MEAN] for row in rows),
            oldest_ms=highest(row[c.LAG_MS_PEAK] for row in rows),
        )
        for group, rows in by_group.items()
    ]
    found.sort(key=lambda row: (-(row.peak or 0), row.group))
    return found[:WORST_GROUPS]
