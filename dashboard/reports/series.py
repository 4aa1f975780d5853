"""The series that a report draws, whoever draws them: the page, a file, a table.

A run over all groups is shown as their sum, with a row of the heatmap per group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from analytics import contracts as c
from dashboard.charts.series import QueueRow, SkewSeries
from dashboard.charts.strategies import Strategy
from dashboard.models import Grouping, JobRun

from .facts import strategy_rows
from .results import NoResultError, read_rows
from .steps import Row, highest
from .tables import LAG_TABLES

MOST_LINES: Final = 40
"""Lines of a heatmap over more than one group, the worst first."""


def heat_lines(run: JobRun) -> list[QueueRow]:
    """Return the lines of the heatmap: what the report is grouped by, over time."""
    grouping = shown_grouping(run)
    table = LAG_TABLES[grouping]
    rows = read_rows(run, table.key, table.order, (*table.order, c.LAG_MEAN))
    lines = lines_of(rows, grouping)
    if run.group and grouping is Grouping.QUEUE:
        return lines
    lines.sort(key=lambda line: highest(line.values.values()) or 0, reverse=True)
    return lines[:MOST_LINES]


def shown_grouping(run: JobRun) -> Grouping:
    """Return what a line of the heatmap stands for.

    Queues of all groups would be too many lines: there a line is a group.
    """
    grouping = Grouping(run.grouping)
    if run.consumer:
        return Grouping.CONSUMER
    if grouping is Grouping.QUEUE and not run.group:
        return Grouping.GROUP
    if grouping is Grouping.GROUP and run.topic:
        return Grouping.TOPIC
    return grouping


def skew_lines(run: JobRun) -> list[SkewSeries]:
    """Return max / mean load over time, a line per strategy; none for all groups."""
    if not run.group:
        return []
    in_use = {row.name for row in strategy_rows(run) if row.in_use}
    points: dict[str, list[tuple[datetime, float | None]]] = defaultdict(list)
    for row in rows_or_none(run, c.SKEW_BY_TIME, (c.STRATEGY, c.SINCE, c.EPOCH)):
        points[row[c.STRATEGY]].append((row[c.SINCE], row["load_max_to_mean"]))
    return [SkewSeries(name, name in in_use, line) for name, line in points.items()]


def strategies_of(run: JobRun) -> list[Strategy]:
    """Return the strategies with their max / mean load, in fixed order."""
    return [(row.title, row.max_to_mean, row.in_use) for row in strategy_rows(run)]


def rows_or_none(run: JobRun, dataset: str, order: Sequence[str]) -> list[Row]:
    """Return a data set's rows; none where the job writes no such data set."""
    try:
        return list(read_rows(run, dataset, order))
    except NoResultError:
        return []


def lines_of(rows: Sequence[Row], grouping: Grouping) -> list[QueueRow]:
    """Return the lines that rows of a grouping make, in the rows' order."""
    label = _LABELS[grouping]
    lines: dict[str, QueueRow] = {}
    for row in rows:
        name = label(row)
        line = lines.setdefault(name, QueueRow(name, {}))
        line.values[row[c.SINCE]] = row[c.LAG_MEAN]
    return list(lines.values())


_LABELS: Final[dict[Grouping, Callable[[Row], str]]] = {
    Grouping.GROUP: lambda row: str(row[c.GROUP]),
    Grouping.TOPIC: lambda row: str(row[c.TOPIC]),
    Grouping.QUEUE: lambda row: f"{row[c.TOPIC]} {row[c.BROKER]} {row[c.QUEUE_ID]}",
    Grouping.CONSUMER: lambda row: str(row[c.CLIENT_ID]),
}
