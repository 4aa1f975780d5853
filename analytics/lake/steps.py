"""Lag of one group (or all) in steps over a short span, straight from the samples.

For a page that is zoomed in: no Spark, one reading of the few files that the span
touches. The rules are those of `analytics.transforms.lag`, and a test holds both to
the same numbers: means are weighed by what a sample stands for, unknown is null, a
group's peak is the highest sum at one sampled moment.

Cost: linear in the rows of those files; files that were merged are sorted by group, so
that for one group most of their row groups are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from analytics import contracts as c
from analytics.errors import LakeError

from .manifest import FileEntry, load_manifest
from .storage import Storage

MOST_ROWS: Final = 20_000_000
"""Rows of the files that one question may touch."""

_COLUMNS: Final = (
    *(c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID, c.TIME),
    *(c.WEIGHT, c.MAX, c.COMMITTED, c.LAG_MS),
)
_QUEUE: Final = (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID)
_AT: Final = "at"
_LAG: Final = "lag"
_WEIGHED: Final = "weighed"
_KNOWN: Final = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)


@dataclass(frozen=True, slots=True)
class Steps:
    """Arrow tables in the columns of the data sets of the same names, without rates."""

    by_queue: Any
    by_group: Any


def read_steps(
    storage: Storage,
    *,
    cluster: str,
    group: str = "",
    topic: str = "",
    since_ms: int,
    until_ms: int,
    step_seconds: int,
    most_rows: int = MOST_ROWS,
) -> Steps:
    """Return the steps in [since, until) of a cluster; a group or topic narrows them.

    `since_ms` is to lie on a whole step. Tables are empty where no samples are kept.
    Raises `LakeError` naming the limit when the files hold more than `most_rows`.
    """
    files = load_manifest(storage, c.SAMPLES).select(since_ms, until_ms, {cluster})
    rows = sum(file.rows for file in files)
    if rows > most_rows:
        raise LakeError(f"{rows:,} samples lie in that span, at most {most_rows:,}")
    wanted = (pc.field(c.TIME) >= _moment(since_ms)) & (
        pc.field(c.TIME) < _moment(until_ms)
    )
    for column, value in ((c.GROUP, group), (c.TOPIC, topic)):
        if value:
            wanted &= pc.field(column) == value
    samples = _read(storage, files, wanted)
    step_ms = step_seconds * 1000
    by_queue = _by_queue(samples, step_ms)
    return Steps(by_queue, _by_group(samples, by_queue, step_ms))


def _read(storage: Storage, files: list[FileEntry], wanted: Any) -> Any:
    parts = []
    for file in files:
        try:
            with storage.open_input(file.path) as source:
                parts.append(
                    parquet.read_table(source, columns=list(_COLUMNS), filters=wanted)
                )
        except FileNotFoundError:  # retention was faster
            continue
    if not parts:
        return pa.table({name: pa.array([], _TYPES[name]) for name in _COLUMNS})
    return pa.concat_tables(parts, promote_options="permissive")


def _by_queue(samples: Any, step_ms: int) -> Any:
    rows = _with_lag(samples, step_ms)
    summed = rows.group_by([*_QUEUE, c.SINCE]).aggregate(
        [
            (_WEIGHED, "sum", _KNOWN),
            (c.SECONDS, "sum"),
            (c.UNKNOWN_SECONDS, "sum"),
            (_LAG, "max"),
            (c.LAG_MS, "max"),
        ]
    )
    known = summed[f"{c.SECONDS}_sum"]
    mean = pc.divide(
        summed[f"{_WEIGHED}_sum"],
        pc.if_else(pc.greater(known, 0.0), known, pa.scalar(None, pa.float64())),
    )
    return pa.table(
        {
            **{name: summed[name] for name in (*_QUEUE, c.SINCE)},
            c.SECONDS: known,
            c.UNKNOWN_SECONDS: summed[f"{c.UNKNOWN_SECONDS}_sum"],
            c.LAG_MEAN: mean,
            c.LAG_PEAK: summed[f"{_LAG}_max"],
            c.LAG_MS_PEAK: summed[f"{c.LAG_MS}_max"],
        }
    )


def _by_group(samples: Any, by_queue: Any, step_ms: int) -> Any:
    at_once = (
        _with_lag(samples, step_ms)
        .group_by([c.GROUP, c.SINCE, _AT])
        .aggregate([(_LAG, "sum", _KNOWN)])
        .group_by([c.GROUP, c.SINCE])
        .aggregate([(f"{_LAG}_sum", "max")])
    )
    has_known = pc.greater(by_queue[c.SECONDS], 0.0).cast(pa.int64())
    summed = (
        by_queue.append_column(c.KNOWN_QUEUES, has_known)
        .group_by([c.GROUP, c.SINCE])
        .aggregate(
            [
                (c.QUEUE_ID, "count"),
                (c.KNOWN_QUEUES, "sum"),
                (c.LAG_MEAN, "sum", _KNOWN),
                (c.LAG_MS_PEAK, "max"),
                (c.SECONDS, "max"),
            ]
        )
        .join(at_once, [c.GROUP, c.SINCE], join_type="inner")
    )
    return pa.table(
        {
            c.GROUP: summed[c.GROUP],
            c.SINCE: summed[c.SINCE],
            c.SECONDS: summed[f"{c.SECONDS}_max"],
            c.QUEUE_COUNT: summed[f"{c.QUEUE_ID}_count"],
            c.KNOWN_QUEUES: summed[f"{c.KNOWN_QUEUES}_sum"],
            c.LAG_MEAN: summed[f"{c.LAG_MEAN}_sum"],
            c.LAG_PEAK: summed[f"{_LAG}_sum_max"],
            c.LAG_MS_PEAK: summed[f"{c.LAG_MS_PEAK}_max"],
        }
    )


def _with_lag(samples: Any, step_ms: int) -> Any:
    """Add lag, step and weights; lag is null where an offset is not known.

    An offset committed after the maximum was read can be ahead of it: that is 0.
    """
    behind = pc.subtract(samples[c.MAX], samples[c.COMMITTED])
    lag = pc.max_element_wise(behind, pa.scalar(0, pa.int64()), skip_nulls=False)
    at = samples[c.TIME].cast(pa.int64())
    step = pc.multiply(pc.divide(at, step_ms), step_ms)
    is_known, weight = pc.is_valid(lag), samples[c.WEIGHT]
    nothing = pa.scalar(0.0)
    return pa.table(
        {
            **{name: samples[name] for name in _QUEUE},
            c.SINCE: step.cast(pa.timestamp("ms", tz="UTC")),
            _AT: at,
            _LAG: lag,
            _WEIGHED: pc.multiply(lag.cast(pa.float64()), weight),
            c.SECONDS: pc.if_else(is_known, weight, nothing),
            c.UNKNOWN_SECONDS: pc.if_else(is_known, nothing, weight),
            c.LAG_MS: samples[c.LAG_MS],
        }
    )


_TYPES: Final = {
    c.GROUP: pa.string(),
    c.TOPIC: pa.string(),
    c.BROKER: pa.string(),
    c.QUEUE_ID: pa.int32(),
    c.TIME: pa.timestamp("ms", tz="UTC"),
    c.WEIGHT: pa.float64(),
    c.MAX: pa.int64(),
    c.COMMITTED: pa.int64(),
    c.LAG_MS: pa.int64(),
}


def _moment(ms: int) -> Any:
    return pa.scalar(ms, pa.timestamp("ms", tz="UTC"))
