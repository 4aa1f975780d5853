"""Count the queues known in each step, and sum up their values.

A *line* is the subject of rows: a queue, a topic, a group, a consumer. A row gives the
seconds that are known and unknown in its step. In older results these can exceed the
step: a quiet queue was sampled once a minute, with one row for the minute. Such a row
also stands for the steps before it, so that none of them seems to lack data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c
from dashboard.reports.request.axis import Axis

from .values import Part

LINES: Final = "lines"
_TIME: Final = pa.timestamp("ms", tz="UTC")
_MS: Final = timedelta(milliseconds=1)
_STANDS_FOR: Final = "stands_for"
_LONGER: Final = 1.5
"""In steps: a shorter row stands for one step, as samples come early and late."""

_COUNTS: Final = (c.KNOWN_QUEUES, c.QUEUE_COUNT)
_HIGHEST: Final = (c.LAG_PEAK, c.LAG_MS_PEAK, c.UNKNOWN_SECONDS)


def accounted(table: Any, line: Sequence[str], axis: Axis, of: str = c.LAG_MEAN) -> Any:
    """Return rows of steps as an Arrow table, one row per step that they stand for.

    `line` are the columns that distinguish lines. A queue is known where the column
    `of` has a value; `known_queues` of `queue_count` says so in each row, even for
    single queues. Rows are sorted by line and time.
    """
    order = [(name, "ascending") for name in (*line, c.SINCE)]
    rows = _counted(table, line, of).sort_by(order)
    if not rows.num_rows:
        return rows
    step_ms, first_ms = axis.step // _MS, round(axis.since.timestamp() * 1000)
    at = (_numbers(rows[c.SINCE].cast(_TIME, safe=False)) - first_ms) // step_ms
    free = np.where(_begins(rows, line), at, np.diff(at, prepend=at[:1]) - 1)
    steps = rows[_STANDS_FOR].to_numpy() * 1000 / step_ms
    reach = np.where(steps < _LONGER, 0, steps).astype(np.int64)
    each = 1 + np.minimum(free.clip(min=0), reach)
    row = np.repeat(np.arange(len(at)), each)
    back = np.arange(len(row)) - np.repeat(np.cumsum(each) - each, each)
    since = pa.array(first_ms + (at[row] - back) * step_ms).cast(_TIME)
    found = rows.drop_columns([_STANDS_FOR]).take(pa.array(row))
    return found.set_column(found.column_names.index(c.SINCE), c.SINCE, since)


def summed(rows: Any, by: Sequence[str], of: str = c.LAG_MEAN) -> Any:
    """Return the sums of accounted rows over the lines with equal values in `by`.

    Peaks and unknown seconds are the maximum over the lines; `lines` counts the rows.
    """
    known = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)
    highest = [name for name in _HIGHEST if name in rows.column_names]
    sums = rows.group_by([*by]).aggregate(
        [
            (of, "sum", known),
            *((name, "sum") for name in _COUNTS),
            *((name, "max") for name in highest),
            (c.QUEUE_COUNT, "count"),
        ]
    )
    names = {f"{name}_max": name for name in highest}
    names |= {f"{name}_sum": name for name in (of, *_COUNTS)}
    names[f"{c.QUEUE_COUNT}_count"] = LINES
    sums = sums.rename_columns([names.get(name, name) for name in sums.column_names])
    return sums.sort_by([(name, "ascending") for name in by])


def highest_lines(table: Any, name: str, of: str, most: int) -> Iterator[Any]:
    """Yield the rows of `most` lines, each as a table, the highest in `of` first.

    Lines are distinguished by name.
    """
    tops = table.group_by(name).aggregate([(of, "max")])
    order = [(f"{of}_max", "descending"), (name, "ascending")]
    for line in tops.sort_by(order).slice(0, most)[name]:
        yield table.filter(pc.equal(table[name], line))


def known_by_step(
    table: Any, line: Sequence[str], axis: Axis, of: str
) -> dict[datetime, Part]:
    """Return by step for how many queues of all lines a column is known."""
    sums = summed(accounted(table, line, axis, of), (c.SINCE,), of)
    return {
        row[c.SINCE]: Part(row[c.KNOWN_QUEUES], row[c.QUEUE_COUNT], row[of])
        for row in sums.to_pylist()
    }


def _counted(table: Any, line: Sequence[str], of: str) -> Any:
    """Return the needed columns, with counts of queues in every row."""

    def column(name: str, kind: Any) -> Any:
        if name not in table.column_names:
            return pa.nulls(table.num_rows, kind)
        return table[name].cast(kind)

    value = column(of, pa.float64())
    queues = pc.coalesce(column(c.QUEUE_COUNT, pa.int64()), 1)
    known = pc.coalesce(column(c.KNOWN_QUEUES, pa.int64()), queues)
    spans = (column(name, pa.float64()) for name in (c.SECONDS, c.UNKNOWN_SECONDS))
    return pa.table(
        {
            **{name: table[name] for name in (*line, c.SINCE)},
            of: value,
            **{name: table[name] for name in _HIGHEST if name in table.column_names},
            c.KNOWN_QUEUES: pc.if_else(pc.is_valid(value), known, 0),
            c.QUEUE_COUNT: queues,
            _STANDS_FOR: pc.add(*(pc.coalesce(each, 0.0) for each in spans)),
        }
    )


def _begins(rows: Any, line: Sequence[str]) -> Any:
    """Return for each sorted row whether it is the first of its line."""
    begins = np.zeros(rows.num_rows, bool)
    begins[0] = True
    for name in line:
        code = _numbers(rows[name].dictionary_encode().combine_chunks().indices)
        begins[1:] |= code[1:] != code[:-1]
    return begins


def _numbers(column: Any) -> Any:
    return column.cast(pa.int64()).to_numpy()
