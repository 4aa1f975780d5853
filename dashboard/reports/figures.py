"""The figures of a finished run, from its data sets to Plotly documents.

A run over all groups is shown as their sum, with a row of the heatmap per group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, Final

from analytics import contracts as c
from dashboard.charts.heatmap import queue_heatmap
from dashboard.charts.lag import lag_over_time
from dashboard.charts.series import Axis, QueueRow, SkewSeries
from dashboard.charts.skew import skew_over_time
from dashboard.models import JobRun

from .facts import strategy_rows
from .results import read_rows
from .steps import Row, axis_of, epoch_bands, group_rows, highest, lag_steps

_SHOWN_GROUPS: Final = 40


def figure_of(run: JobRun, name: str, zone: tzinfo) -> dict[str, Any]:
    """Return one figure of a finished run; raises KeyError for an unknown name."""
    return FIGURES[name](run, axis_of(run, zone))


def _lag(run: JobRun, axis: Axis) -> dict[str, Any]:
    return lag_over_time(axis, lag_steps(group_rows(run)), epoch_bands(run))


def _queues(run: JobRun, axis: Axis) -> dict[str, Any]:
    if run.group:
        rows = read_rows(run, c.LAG_BY_QUEUE, (c.TOPIC, c.BROKER, c.QUEUE_ID, c.SINCE))
        return queue_heatmap(axis, _heat_rows(rows, _queue_label))
    rows = read_rows(run, c.LAG_BY_GROUP, (c.GROUP, c.SINCE))
    lines = _heat_rows(rows, lambda row: str(row[c.GROUP]))
    lines.sort(key=lambda line: highest(line.values.values()) or 0, reverse=True)
    return queue_heatmap(axis, lines[:_SHOWN_GROUPS])


def _skew(run: JobRun, axis: Axis) -> dict[str, Any]:
    in_use = {row.name for row in strategy_rows(run) if row.in_use}
    points: dict[str, list[tuple[datetime, float | None]]] = defaultdict(list)
    if run.group:
        for row in read_rows(run, c.SKEW_BY_TIME, (c.STRATEGY, c.SINCE, c.EPOCH)):
            points[row[c.STRATEGY]].append((row[c.SINCE], row["load_max_to_mean"]))
    series = [SkewSeries(name, name in in_use, line) for name, line in points.items()]
    return skew_over_time(axis, series)


FIGURES: Final[Mapping[str, Callable[[JobRun, Axis], dict[str, Any]]]] = {
    "lag": _lag,
    "queues": _queues,
    "skew": _skew,
}


def _heat_rows(rows: Sequence[Row], label: Callable[[Row], str]) -> list[QueueRow]:
    lines: dict[str, QueueRow] = {}
    for row in rows:
        name = label(row)
        line = lines.setdefault(name, QueueRow(name, {}))
        line.values[row[c.SINCE]] = row[c.LAG_MEAN]
    return list(lines.values())


def _queue_label(row: Row) -> str:
    return f"{row[c.TOPIC]} {row[c.BROKER]} {row[c.QUEUE_ID]}"
