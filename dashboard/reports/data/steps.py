"""The lag of a run over time, for its page and its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from analytics import contracts as c
from dashboard.reports.report import Report, once
from dashboard.reports.request.axis import Axis
from dashboard.reports.request.epochs import epochs_between
from dashboard.wording.cells import in_zone

from .results import QUEUE_KEY, has_table, read_table
from .values import EpochBand, Lag, LagStep

Row = Mapping[str, Any]

STEP_COLUMNS: Final = (
    c.SINCE,
    c.SECONDS,
    c.UNKNOWN_SECONDS,
    c.QUEUE_COUNT,
    c.KNOWN_QUEUES,
    c.LAG_MEAN,
    c.LAG_PEAK,
    c.LAG_MS_PEAK,
)
"""The columns from which the steps of a line are accounted."""


@once
def lag_steps(report: Report) -> list[LagStep]:
    """Return the steps of a run's subject, in order; for all groups, of their sum."""
    axis = report.axis
    if report.consumer:
        return _of_consumer(report, axis)
    dataset, line = _rows_of(report)
    table = read_table(report, dataset, (*line, *STEP_COLUMNS))
    if line is not QUEUE_KEY:
        return steps_of(table, line, axis)
    sums = c.LAG_BY_TOPIC if report.topic else c.LAG_BY_GROUP
    peaks = peaks_of(read_table(report, sums, (c.SINCE, c.LAG_PEAK)))
    return steps_of(table, line, axis, peaks)


def mean_rate(report: Report, of: str) -> float | None:
    """Return the mean of a rate of a run's subject, over steps in which it is whole.

    `of` is the rate in or out, in messages a second.
    """
    from .accounting import known_by_step

    dataset, line = _rows_of(report)
    table = read_table(report, dataset, (*line, *STEP_COLUMNS, of))
    if table is None:
        return None
    parts = known_by_step(table, line, report.axis, of)
    return mean(part.at_least for part in parts.values() if part.is_whole)


def steps_by_group(report: Report, most: int) -> dict[str, list[LagStep]]:
    """Return the steps of that many groups, those whose lag was highest at any time."""
    table = read_table(report, c.LAG_BY_GROUP, (c.GROUP, *STEP_COLUMNS))
    if table is None:
        return {}
    from .accounting import highest_lines

    axis = report.axis
    return {
        rows[c.GROUP][0].as_py(): steps_of(rows, (c.GROUP,), axis)
        for rows in highest_lines(table, c.GROUP, c.LAG_PEAK, most)
    }


@once
def measured_time(report: Report) -> timedelta:
    """Return how long anything is known of a run's group, whatever its subject."""
    axis = report.axis
    table = read_table(report, c.LAG_BY_GROUP, (c.GROUP, *STEP_COLUMNS))
    steps = steps_of(table, (c.GROUP,), axis)
    spans = (axis.end_of(step.since) - step.since for step in steps if step.known)
    return sum(spans, timedelta(0))


def _rows_of(report: Report) -> tuple[str, Sequence[str]]:
    """Return the rows that sum up to a run's subject, and their identifying columns.

    For one group they are its queues: a row of their sum could not show that one of
    them has no sample in a step.
    """
    if report.consumer:
        return c.LAG_BY_CONSUMER, (c.GROUP, c.CLIENT_ID)
    if report.group and has_table(report, c.LAG_BY_QUEUE):
        return c.LAG_BY_QUEUE, QUEUE_KEY
    return (
        (c.LAG_BY_TOPIC, (c.GROUP, c.TOPIC))
        if report.topic
        else (c.LAG_BY_GROUP, (c.GROUP,))
    )


def _of_consumer(report: Report, axis: Axis) -> list[LagStep]:
    """Return a consumer's steps, marked where it alone had no queues."""
    dataset, line = _rows_of(report)
    table = read_table(report, dataset, (*line, *STEP_COLUMNS))
    found = {step.since: step for step in steps_of(table, line, axis)}
    groups = read_table(report, c.LAG_BY_GROUP, (c.GROUP, *STEP_COLUMNS))
    for step in steps_of(groups, (c.GROUP,), axis):
        if step.known:
            found.setdefault(step.since, LagStep(step.since, 0, 0, Lag(None)))
    return [found[at] for at in sorted(found)]


def peaks_of(sums: Any) -> dict[datetime, float | None]:
    """Return for each step the highest lag that one line had at one moment."""
    if sums is None or c.LAG_PEAK not in sums.column_names:
        return {}
    moments = (in_zone(at, UTC) for at in sums[c.SINCE].to_pylist())
    return dict(zip(moments, sums[c.LAG_PEAK].to_pylist(), strict=True))


def steps_of(
    table: Any,
    line: Sequence[str],
    axis: Axis,
    peaks: Mapping[datetime, float | None] | None = None,
) -> list[LagStep]:
    """Return the steps of the sum over all lines of a table; none of no table.

    Peaks of several lines occur at different moments, so the mean of a step is used as
    the peak of a sum, unless `peaks` has it.
    """
    if table is None:
        return []
    from .accounting import LINES, accounted, summed

    found = []
    for row in summed(accounted(table, line, axis), (c.SINCE,)).to_pylist():
        since, mean_lag = row[c.SINCE], row[c.LAG_MEAN]
        peak = row.get(c.LAG_PEAK) if row[LINES] == 1 else None
        if peaks is not None:
            peak = peaks.get(since)
        lag = Lag(mean_lag, mean_lag if peak is None else peak, row.get(c.LAG_MS_PEAK))
        unknown = timedelta(seconds=row.get(c.UNKNOWN_SECONDS) or 0)
        counts = row[c.KNOWN_QUEUES], row[c.QUEUE_COUNT]
        found.append(LagStep(since, *counts, lag, min(unknown, axis.step)))
    return [step for step in found if axis.since <= step.since < axis.until]


@once
def epoch_bands(report: Report) -> list[EpochBand]:
    """Return the epochs that overlap a run's period; none for all groups."""
    if not report.group:
        return []
    epochs = epochs_between(report.cluster, report.group, report.since, report.until)
    return [
        EpochBand(epoch.number, len(epoch.members), epoch.began_by, epoch.ended_by)
        for epoch in epochs.order_by("number")
    ]


def highest(values: Iterable[float | None]) -> float | None:
    """Return the highest known value, or None if there is none."""
    return max((value for value in values if value is not None), default=None)


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the known values, or None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
