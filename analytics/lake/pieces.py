"""Spans of time cut at step boundaries, as Arrow and NumPy columns; no Spark.

It does what `analytics.transforms.steps` does for the jobs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c
from analytics.presence import EpochSpan, Period

AT: Final = "at"
LAG: Final = "lag"
LENGTH: Final = "length"
CLAIM_MS: Final = int(c.MOST_WEIGHT * 1000)

QUEUE: Final = (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID)
IN_EPOCH: Final = (*QUEUE, c.EPOCH)

_BEGAN: Final = "began"
_OVER: Final = "over"
_THERE: Final = pa.schema(
    [
        *((name, pa.string()) for name in (c.GROUP, c.TOPIC, c.BROKER)),
        (c.QUEUE_ID, pa.int32()),
        *((name, pa.int64()) for name in (c.EPOCH, _BEGAN, _OVER)),
    ]
)


def pieces_of(samples: Any, period: Period) -> Any:
    """Cut samples into pieces, parts of one sample each, with its lag and moment.

    Lag is null where an offset is not known. An offset committed after the maximum was
    read can be ahead of it: the lag is then 0.
    """
    step_ms = period.step_ms
    at = as_ms(samples[c.TIME]).to_numpy()
    weight = np.rint(samples[c.WEIGHT].to_numpy() * 1000).astype(np.int64)
    begin = at - np.minimum(weight, CLAIM_MS)
    # A moment belongs to the step that ends with it, even if nothing is claimed.
    row, step = _cut(np.minimum(begin, at - 1), at, step_ms)
    is_within = (step >= period.since_ms) & (begin[row] < period.until_ms)
    is_within &= step < period.until_ms
    row, step = row[is_within], step[is_within]
    end = np.minimum(at[row], period.until_ms)
    piece = pa.array(_overlap(begin[row], end, step, step_ms))
    taken = samples.take(pa.array(row))
    behind = pc.subtract(taken[c.MAX], taken[c.COMMITTED])
    lag = pc.max_element_wise(behind, pa.scalar(0, pa.int64()), skip_nulls=False)
    return pa.table(
        {
            **{name: taken[name] for name in IN_EPOCH},
            c.SINCE: as_time(pa.array(step)),
            AT: as_ms(taken[c.TIME]),
            LAG: lag,
            c.SECONDS: pc.if_else(pc.is_valid(lag), piece, pa.scalar(0.0)),
            c.LAG_SECONDS: pc.multiply(lag.cast(pa.float64()), piece),
            c.LAG_PEAK: lag,
            c.LAG_MS_PEAK: taken[c.LAG_MS],
        }
    )


def queues_of(there: Sequence[EpochSpan], topic: str = "") -> Any:
    """Return a row per epoch and queue that it names, of one topic or of all."""
    rows = [
        (span.group, *queue, span.number, span.began_ms, span.over_ms)
        for span in there
        for queue in span.queues
        if not topic or queue[0] == topic
    ]
    columns = list(zip(*rows, strict=True)) or [()] * len(_THERE)
    return pa.table(list(map(pa.array, columns, _THERE.types)), schema=_THERE)


def steps_there(queues: Any, period: Period) -> Any:
    """Return a row per epoch, queue and step in which it was there, with `LENGTH`."""
    begin = np.maximum(queues[_BEGAN].to_numpy(), period.since_ms)
    over = pc.fill_null(queues[_OVER], period.until_ms).to_numpy()
    end = np.minimum(over, period.until_ms)
    row, step = _cut(begin, end, period.step_ms)
    length = _overlap(begin[row], end[row], step, period.step_ms)
    taken = queues.select(IN_EPOCH).take(pa.array(row))
    return taken.append_column(c.SINCE, as_time(pa.array(step))).append_column(
        LENGTH, pa.array(length)
    )


def whole_steps(since: Any, period: Period) -> Any:
    """Return how many seconds of each step, given its start, are in the period."""
    step = as_ms(since).to_numpy()
    return pa.array(_overlap(period.since_ms, period.until_ms, step, period.step_ms))


def floored(time: Any, step_ms: int) -> Any:
    """Return the start of the step that each time is in."""
    return as_time(pc.multiply(pc.divide(as_ms(time), step_ms), step_ms))


def as_ms(time: Any) -> Any:
    """Return times as ms since the epoch."""
    return time.cast(pa.int64())


def as_time(ms: Any) -> Any:
    """Return ms since the epoch as times."""
    return ms.cast(pa.timestamp("ms", tz="UTC"))


def _cut(begin: Any, end: Any, step_ms: int) -> tuple[Any, Any]:
    """Return for each piece the span it comes from and the start of its step."""
    first = begin // step_ms * step_ms
    count = np.where(begin < end, (end - 1 - first) // step_ms + 1, 0)
    row = np.repeat(np.arange(len(begin)), count)
    place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return row, first[row] + place * step_ms


def _overlap(begin: Any, end: Any, step: Any, step_ms: int) -> Any:
    """Return the seconds by which spans and steps overlap."""
    return (np.minimum(end, step + step_ms) - np.maximum(begin, step)) / 1000
