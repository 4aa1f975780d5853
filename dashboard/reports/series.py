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

from .results import NoResultError, has_table, iterate_batches, only, read_rows
from .steps import Row, highest, mean
from .strategies import StrategyRow, in_use_name, strategy_rows
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


def member_strategies(run: JobRun) -> list[StrategyRow]:
    """Return the strategies whose members a run can show over time, by rank.

    Members that are only imagined have no name: variants with more are left out.
    """
    if not run.group or not has_table(run, c.MEMBER_BY_TIME):
        return []
    return [row for row in strategy_rows(run) if row.added <= 0]


def member_strategy(run: JobRun) -> str:
    """Return the strategy whose members are shown: the reader's, else that in use."""
    names = [row.name for row in member_strategies(run)]
    wanted = run.members_under
    return wanted if wanted in names else in_use_name(member_strategies(run))


def member_lines(run: JobRun) -> list[QueueRow]:
    """Return each member's load over time under a strategy, the busiest first.

    Where two epochs share a step, each counts by the seconds that it was seen.
    """
    name = member_strategy(run)
    sums: dict[str, dict[datetime, list[tuple[float, float]]]] = {}
    columns = (c.STRATEGY, c.CLIENT_ID, c.SINCE, c.LOAD, c.SECONDS)
    for batch in iterate_batches(run, c.MEMBER_BY_TIME, columns=columns):
        for row in only(batch, c.STRATEGY, name).to_pylist():
            steps = sums.setdefault(row[c.CLIENT_ID] or "", {})
            loads = steps.setdefault(row[c.SINCE], [])
            if row[c.LOAD] is not None:
                loads.append((row[c.LOAD], row[c.SECONDS] or 0.0))
    lines = [
        QueueRow(label, {since: _weighted(steps[since]) for since in sorted(steps)})
        for label, steps in sums.items()
    ]
    lines.sort(key=lambda line: (-(mean(line.values.values()) or 0), line.label))
    return lines


def _weighted(values: Sequence[tuple[float, float]]) -> float | None:
    if not values:
        return None
    total = sum(weight for _value, weight in values)
    if not total:
        return values[-1][0]
    return sum(value * weight for value, weight in values) / total


def strategies_of(run: JobRun) -> list[Strategy]:
    """Return the strategies with their max / mean load; the one in use is named so."""
    return [(_used(row), row.max_to_mean, row.is_best) for row in strategy_rows(run)]


def _used(row: StrategyRow) -> str:
    return f"{row.title} ({row.use_word})" if row.in_use else row.title


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
