"""The lag of a run over time, as its page and its figures use it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, tzinfo
from typing import Any

from analytics import contracts as c
from dashboard.charts.series import Axis, EpochBand, LagStep
from dashboard.models import Epoch, JobRun

from .results import read_rows

Row = Mapping[str, Any]


def axis_of(run: JobRun, zone: tzinfo) -> Axis:
    """Return the period that was computed, which starts on a whole step."""
    summary = run.summary
    return Axis(
        since=datetime.fromisoformat(summary["since"]),
        until=datetime.fromisoformat(summary["until"]),
        step=timedelta(seconds=summary["step_seconds"]),
        zone=zone,
    )


def group_rows(run: JobRun) -> dict[datetime, list[Row]]:
    """Return the rows of what a run is about by step, in order of time.

    One group, one topic of it, or one consumer has one row a step.
    """
    by_time: dict[datetime, list[Row]] = defaultdict(list)
    for row in read_rows(run, subject_dataset(run), (c.SINCE,)):
        by_time[row[c.SINCE]].append(row)
    return by_time


def subject_dataset(run: JobRun) -> str:
    """Return the data set whose rows sum up what a run is about."""
    if run.consumer:
        return c.LAG_BY_CONSUMER
    return c.LAG_BY_TOPIC if run.topic else c.LAG_BY_GROUP


def lag_steps(rows_by_time: Mapping[datetime, list[Row]]) -> list[LagStep]:
    """Return the steps of one group, or the sum over several.

    Peaks of several groups or queues fall on different moments, so that the mean of a
    step stands for the peak of a sum.
    """
    return [
        LagStep(
            since=since,
            lag=total(row[c.LAG_MEAN] for row in rows),
            peak=_peak(rows),
            age_ms=highest(row[c.LAG_MS_PEAK] for row in rows),
            known=sum(row[c.KNOWN_QUEUES] for row in rows),
            queues=sum(row[c.QUEUE_COUNT] for row in rows),
        )
        for since, rows in rows_by_time.items()
    ]


def _peak(rows: list[Row]) -> float | None:
    if len(rows) == 1 and rows[0].get(c.LAG_PEAK) is not None:
        return float(rows[0][c.LAG_PEAK])
    return total(row[c.LAG_MEAN] for row in rows)


def epoch_bands(run: JobRun) -> list[EpochBand]:
    """Return the epochs that overlap a run's period; none for all groups."""
    if not run.group:
        return []
    epochs = Epoch.objects.filter(
        cluster__name=run.cluster, group=run.group, began_by__lt=run.until
    ).exclude(ended_by__lte=run.since)
    return [
        EpochBand(epoch.number, len(epoch.members), epoch.began_by, epoch.ended_by)
        for epoch in epochs.order_by("number")
    ]


def total(values: Iterable[float | None]) -> float | None:
    """Sum what is known; None when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def highest(values: Iterable[float | None]) -> float | None:
    """Return the highest of what is known; None when nothing is."""
    return max((value for value in values if value is not None), default=None)


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of what is known; None when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
