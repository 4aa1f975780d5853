"""The series that a report draws, for the page, the files and the tables alike.

A run over all groups is shown as their sum, with a row of the heatmap per group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any, Final

from analytics import contracts as c
from dashboard.models import Grouping
from dashboard.reports.data.values import Strategy
from dashboard.reports.report import Report, once
from dashboard.reports.request.axis import Axis

from .results import (
    QUEUE_KEY,
    NoResultError,
    has_table,
    iterate_batches,
    known_queues,
    only,
    read_rows,
    read_table,
    values_of,
)
from .steps import STEP_COLUMNS, Row, mean
from .strategies import StrategyRow, in_use_name, strategy_rows
from .tables import LAG_TABLES
from .values import Part, QueueRow, SkewSeries

MOST_LINES: Final = 40
"""Number of lines of a heatmap over more than one group, the worst first."""


@once
def heat_lines(report: Report) -> list[QueueRow]:
    """Return the heatmap's lines over time, one per item of the report's grouping."""
    grouping = shown_grouping(report)
    rows = _heat_rows(report)
    key = ROW_KEYS[rows]
    table = read_table(report, LAG_TABLES[rows].key, (*key, *STEP_COLUMNS))
    if table is None:
        return []
    most = None if grouping is Grouping.QUEUE else MOST_LINES
    return lines_of(table, key, grouping, report.axis, most)


@once
def heat_count(report: Report) -> int:
    """Return how many lines there are, of which the heatmap has the worst."""
    lines = heat_lines(report)
    grouping = shown_grouping(report)
    if grouping is Grouping.QUEUE or len(lines) < MOST_LINES:
        return len(lines)
    name = _LABELS[grouping][0]
    return len(values_of(report, LAG_TABLES[_heat_rows(report)].key, name))


def _heat_rows(report: Report) -> Grouping:
    """Return what a row is of which the heatmap's lines are made."""
    grouping = shown_grouping(report)
    of_queues = bool(report.group) and grouping is not Grouping.CONSUMER
    return Grouping.QUEUE if of_queues else grouping


def shown_grouping(report: Report) -> Grouping:
    """Return what a line of the heatmap stands for.

    Queues of all groups would be too many lines: there a line is a group.
    """
    grouping = report.grouping
    if report.consumer:
        return Grouping.CONSUMER
    if grouping is Grouping.QUEUE and not report.group:
        return Grouping.GROUP
    if grouping is Grouping.GROUP and report.topic:
        return Grouping.TOPIC
    return grouping


@once
def load_queues(report: Report) -> Mapping[datetime, Part]:
    """Return by step for how many of a group's queues the rates are known."""
    return known_queues(report, c.IN_RATE) if report.group else {}


@once
def skew_lines(report: Report) -> list[SkewSeries]:
    """Return max / mean load over time, one line per strategy; none for all groups.

    Where two epochs share a step, each counts by the seconds that it was seen.
    """
    if not report.group:
        return []
    in_use = {row.name for row in strategy_rows(report) if row.in_use}
    found: dict[str, dict[datetime, _Weighed]] = {}
    for row in rows_or_none(report, c.SKEW_BY_TIME, (c.STRATEGY, c.SINCE, c.EPOCH)):
        steps = found.setdefault(row[c.STRATEGY], defaultdict(list))
        steps[row[c.SINCE]].append((row["load_max_to_mean"], row[c.SECONDS]))
    return [
        SkewSeries(name, name in in_use, _weighted_steps(steps))
        for name, steps in found.items()
    ]


@once
def mean_skew(report: Report) -> float | None:
    """Return the mean skew of the strategy in use, over the steps in which it is known.

    Without skew over time it is the value that the job found for the period.
    """
    used = next((row for row in strategy_rows(report) if row.in_use), None)
    if used is None:
        return None
    rows = rows_or_none(report, c.SKEW_BY_TIME, ())
    if not rows:
        return used.max_to_mean
    step = report.step_seconds
    return _weighted(
        [
            (row["load_max_to_mean"], row[c.SECONDS] or step)
            for row in rows
            if row[c.STRATEGY] == used.name
        ]
    )


@once
def member_strategies(report: Report) -> list[StrategyRow]:
    """Return the strategies whose members a run can show over time, by rank.

    Imagined members have no name: variants with more members are left out.
    """
    if not report.group or not has_table(report, c.MEMBER_BY_TIME):
        return []
    return [row for row in strategy_rows(report) if row.added <= 0]


def member_strategy(report: Report) -> str:
    """Return the strategy whose members are shown: the reader's or the one in use."""
    names = [row.name for row in member_strategies(report)]
    wanted = report.view.strategy
    return wanted if wanted in names else in_use_name(member_strategies(report))


@once
def member_lines(report: Report) -> list[QueueRow]:
    """Return each member's load over time under a strategy, the busiest first.

    There is no load in steps in which the rate of any queue of the group is not known.
    Where two epochs share a step, each counts by the seconds that it was seen.
    """
    name = member_strategy(report)
    partial = {at for at, part in load_queues(report).items() if not part.is_whole}
    found: dict[str, dict[datetime, _Weighed]] = {}
    columns = (c.STRATEGY, c.CLIENT_ID, c.SINCE, c.LOAD, c.SECONDS)
    for batch in iterate_batches(report, c.MEMBER_BY_TIME, columns=columns):
        for row in only(batch, c.STRATEGY, name).to_pylist():
            steps = found.setdefault(row[c.CLIENT_ID] or "", defaultdict(list))
            load = None if row[c.SINCE] in partial else row[c.LOAD]
            steps[row[c.SINCE]].append((load, row[c.SECONDS]))
    lines = [QueueRow(label, _weighted_steps(steps)) for label, steps in found.items()]
    lines.sort(key=lambda line: (-(mean(line.values.values()) or 0), line.label))
    return lines


_Weighed = list[tuple[float | None, float | None]]
"""Values of one step, with the seconds that each of them was seen."""


def _weighted_steps(
    steps: Mapping[datetime, _Weighed],
) -> dict[datetime, float | None]:
    return {since: _weighted(steps[since]) for since in sorted(steps)}


def _weighted(values: _Weighed) -> float | None:
    known = [(value, weight or 0.0) for value, weight in values if value is not None]
    if not known:
        return None
    total = sum(weight for _value, weight in known)
    if not total:
        return known[-1][0]
    return sum(value * weight for value, weight in known) / total


def strategies_of(report: Report) -> list[Strategy]:
    """Return the strategies with their max / mean load; the one in use is named so."""
    return [(_used(row), row.max_to_mean, row.is_best) for row in strategy_rows(report)]


def _used(row: StrategyRow) -> str:
    return f"{row.title} ({row.use_word})" if row.in_use else row.title


def rows_or_none(report: Report, dataset: str, order: Sequence[str]) -> list[Row]:
    """Return a data set's rows; none where the job writes no such data set."""
    try:
        return list(read_rows(report, dataset, order))
    except NoResultError:
        return []


ROW_KEYS: Final[Mapping[Grouping, tuple[str, ...]]] = {
    Grouping.GROUP: (c.GROUP,),
    Grouping.TOPIC: (c.GROUP, c.TOPIC),
    Grouping.QUEUE: QUEUE_KEY,
    Grouping.CONSUMER: (c.GROUP, c.CLIENT_ID),
}
"""The columns that tell the rows of a data set apart, but for the time."""

_LABELS: Final[Mapping[Grouping, tuple[str, ...]]] = {
    Grouping.GROUP: (c.GROUP,),
    Grouping.TOPIC: (c.TOPIC,),
    Grouping.QUEUE: (c.TOPIC, c.BROKER, c.QUEUE_ID),
    Grouping.CONSUMER: (c.CLIENT_ID,),
}
"""Gives a row's line name; rows with one name and time are summed."""


def lines_of(
    table: Any,
    key: Sequence[str],
    grouping: Grouping,
    axis: Axis,
    most: int | None = None,
) -> list[QueueRow]:
    """Return the lines made of the rows, by name, or only the `most` worst ones.

    `key` distinguishes the rows of `table`, which may be queues whatever the lines
    stand for.
    """
    from .accounting import accounted, highest_lines, summed

    names = _LABELS[grouping]
    rows = summed(accounted(table, key, axis), (*names, c.SINCE))
    collected = frozenset(rows[c.SINCE].unique().to_pylist())
    kept = [rows]
    if most is not None:  # counts lines with one name, not queues
        kept = list(highest_lines(rows, names[0], c.LAG_MEAN, most))
    lines: dict[tuple[Any, ...], QueueRow] = {}
    for row in chain.from_iterable(part.to_pylist() for part in kept):
        name = tuple(row[each] for each in names)
        line = lines.setdefault(name, QueueRow(" ".join(map(str, name)), {}))
        part = Part(row[c.KNOWN_QUEUES], row[c.QUEUE_COUNT], row[c.LAG_MEAN])
        line.values[row[c.SINCE]] = None if part.is_part else part.at_least
        if part.is_part:
            line.parts[row[c.SINCE]] = part
    if grouping is not Grouping.CONSUMER:
        return list(lines.values())
    return [
        replace(line, without_queues=collected - line.values.keys())
        for line in lines.values()
    ]
