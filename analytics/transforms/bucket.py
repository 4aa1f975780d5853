"""The back-test of one bucket of groups, from its files to its tables; no Spark.

Samples (or parts, from a rung of the roll-ups) are read as arrays, with numbers for
queues, and sorted; files are sorted already, so that this takes little time. Whole
groups, some at a time, become steps, are joined to the divisions of their epochs, and
are spread over members by `analytics.spread`. Memory is bounded by the bucket, not by
the lake.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from analytics import contracts as c
from analytics.division import WEIGHTS, Candidate, Divider
from analytics.lake.buckets import Bucket, read_epochs, read_groups
from analytics.lake.ladder import QUEUES, dataset_of
from analytics.lake.manifest import FileEntry
from analytics.lake.storage import Storage
from analytics.presence import Period
from analytics.schemas import schema_of
from analytics.spread import STEP_COLUMNS, Changes, StepRows, spread_tables
from analytics.spread.shares import Ints
from rmqcore.allocation import BALANCED

from .groups import Divisions, Groups, QueueKey, told_epochs, weights_of
from .parts import OFFSETS, REACH_MS
from .steps import (
    AT,
    CLAIM,
    ENDS,
    NONE,
    QUEUE,
    STEP,
    Columns,
    in_order,
    joined,
    parts_of_samples,
    steps_of,
    steps_there,
)

_ROWS_AT_ONCE: Final = 150_000
"""Rows of steps that are spread together, unless one group has more."""

_NO_EPOCH: Final = schema_of(c.EPOCHS).empty_table()
_KEY: Final = (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID)
_OF_SAMPLES: Final = (c.WEIGHT, c.MAX, c.COMMITTED)
_OF_PARTS: Final = (
    c.SECONDS,
    c.LAG_SECONDS,
    *(f"{offset}_{end}" for offset in OFFSETS for end in ENDS),
)


@dataclass(frozen=True, slots=True)
class BucketWork:
    """What all buckets of a job have in common.

    `level` is that of the source (0 for samples). Rows of [from, until) are read; they
    begin before the period, for the rate of its first step. `groups` (sorted) and
    `pattern`, a regular expression, narrow the groups; empty ones do not.
    """

    level: int
    files: Sequence[FileEntry]
    epoch_files: Sequence[FileEntry]
    groups: Sequence[str]
    pattern: str
    from_ms: int
    until_ms: int
    period: Period
    candidates: Sequence[Candidate]
    wanted: Collection[str]

    @property
    def dataset(self) -> str:
        return dataset_of(QUEUES, self.level) if self.level else c.SAMPLES

    def wants(self, group: str) -> bool:
        return (not self.groups or group in self.groups) and (
            not self.pattern or re.match(self.pattern, group) is not None
        )


def bucket_tables(
    lake: Storage, bucket: Bucket, work: BucketWork
) -> Iterator[tuple[str, pa.Table]]:
    """Yield tables of data sets with the results of a bucket, some groups at a time."""
    epochs = read_epochs(lake, work.epoch_files, bucket)
    told = told_epochs(
        pa.concat_tables([_NO_EPOCH, *epochs]),
        lambda name: bucket.holds(name) and work.wants(name),
    )
    groups = Groups(told, work.period.since_ms)
    if not groups.names:
        return
    rows = _rows(lake, bucket, work, groups)
    spans = in_order(groups.spans, QUEUE)
    divider = Divider(work.candidates)
    in_use = groups.strategies_in_use()
    for begin, end in _stretches(groups, rows, work.period):
        first, last = np.searchsorted(groups.group_of, [begin, end])
        parts = _parts(_between(rows, first, last), work)
        there = steps_there(_between(spans, first, last), work.period)
        steps = steps_of(parts, there, work.period)
        epochs_here = groups.of(begin, end)
        if any(each.strategy == BALANCED for each in work.candidates):
            weights = weights_of(steps, groups.queues)
            epochs_here = [
                each | {WEIGHTS: weights.get((each[c.GROUP], each[c.EPOCH]))}
                for each in epochs_here
            ]
        divided = Divisions(divider, work.candidates, epochs_here, groups.number)
        names = groups.epoch_names(begin, end)
        most_added = max(0, *(each.added for each in work.candidates))
        table = _step_table(steps, divided, groups.group_of)
        moves = divided.moves(groups.group_of[divided.queue], len(groups.names))
        yield from spread_tables(
            StepRows(table, names, most_added),
            names,
            work.candidates,
            Changes(moves, in_use),
            work.wanted,
        )


def _rows(lake: Storage, bucket: Bucket, work: BucketWork, groups: Groups) -> Columns:
    """Return the samples, or parts, of a bucket's queues, by queue and time."""
    names = _OF_PARTS if work.level else _OF_SAMPLES
    tables = read_groups(
        lake,
        [file for file in work.files if file.cluster == bucket.cluster],
        (*_KEY, c.EPOCH, c.TIME, *names),
        since_ms=work.from_ms,
        until_ms=work.until_ms,
        groups=groups.names,
    )
    parts = [_numbered(table, work, groups.number) for table in tables]
    columns = (QUEUE, c.EPOCH, AT, *((CLAIM, *OFFSETS) if not work.level else names))
    rows = {
        name: np.concatenate([np.empty(0, np.int64), *(part[name] for part in parts)])
        if parts
        else np.empty(0, np.int64)
        for name in columns
    }
    for name in _INTS & rows.keys():
        rows[name] = rows[name].astype(np.int64, copy=False)
    rows = in_order(rows, QUEUE, AT)
    queue, epoch = rows[QUEUE], rows[c.EPOCH]
    if np.any((epoch[1:] < epoch[:-1]) & (queue[1:] == queue[:-1])):
        rows = in_order(rows, QUEUE, c.EPOCH)
    return rows


_INTS: Final = {QUEUE, c.EPOCH, AT, CLAIM, *OFFSETS, *_OF_PARTS[2:]}


def _numbered(
    table: pa.Table, work: BucketWork, number: Mapping[QueueKey, int]
) -> Columns:
    """Return the rows of numbered queues within the span that is read."""
    at = _whole(table[c.TIME].cast(pa.timestamp("ms", tz="UTC")))
    queue = _queue_numbers(table, number)
    row = np.flatnonzero((queue >= 0) & (at >= work.from_ms) & (at < work.until_ms))
    rows: Columns = {
        QUEUE: queue[row],
        AT: at[row],
        c.EPOCH: _whole(table[c.EPOCH])[row],
    }
    if not work.level:
        claim = np.floor(table[c.WEIGHT].to_numpy()[row] * 1000 + 0.5).astype(np.int64)
        rows[CLAIM] = np.minimum(claim, REACH_MS)
        return rows | {name: _whole(table[name])[row] for name in OFFSETS}
    for name in _OF_PARTS:
        values = table[name]
        rows[name] = (_whole(values) if name in _INTS else values.to_numpy())[row]
    return rows


def _whole(column: pa.ChunkedArray) -> Ints:
    found: Ints = column.cast(pa.int64()).fill_null(NONE).to_numpy()
    return found


def _queue_numbers(table: pa.Table, number: Mapping[QueueKey, int]) -> Ints:
    """Return the number of each row's queue, or -1.

    Neighbouring rows are mostly of one queue: names are looked up once for each run of
    them at most.
    """
    if not table.num_rows:
        return np.empty(0, np.int64)
    names = [table[name].combine_chunks() for name in _KEY[:3]]
    names = [
        each.chunk(0) if isinstance(each, pa.ChunkedArray) else each for each in names
    ]
    values = [each.dictionary.to_pylist() for each in names]
    columns = [each.indices.to_numpy() for each in names]
    columns.append(table[c.QUEUE_ID].to_numpy())
    begins = np.zeros(table.num_rows, bool)
    begins[0] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    first = np.flatnonzero(begins)
    code = np.zeros(len(first), np.int64)
    for column in columns:
        code = code * (int(column.max()) + 1) + column[first]
    _codes, at, run = np.unique(code, return_index=True, return_inverse=True)
    group, topic, broker, queue_id = (column[first[at]].tolist() for column in columns)
    found = [
        number.get((values[0][g], values[1][t], values[2][b], q), -1)
        for g, t, b, q in zip(group, topic, broker, queue_id, strict=True)
    ]
    sizes = np.diff(np.append(first, table.num_rows))
    return np.repeat(np.array(found, np.int64)[run], sizes)


def _parts(rows: Columns, work: BucketWork) -> Columns:
    step_ms = work.period.step_ms
    if not work.level:
        return parts_of_samples(rows, step_ms, work.period.until_ms)
    return joined([rows | {STEP: rows[AT] // step_ms * step_ms}])


def _stretches(
    groups: Groups, rows: Columns, period: Period
) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups that have no more than so many rows and steps together."""
    steps = -(-(period.until_ms - period.since_ms) // period.step_ms)
    count = len(groups.names)
    sizes = np.bincount(groups.group_of, minlength=count) * steps
    sizes += np.bincount(groups.group_of[rows[QUEUE]], minlength=count)
    passed = np.cumsum(sizes)
    begin = 0
    while begin < count:
        before = passed[begin - 1] if begin else 0
        end = int(np.searchsorted(passed, before + _ROWS_AT_ONCE, side="right"))
        end = max(end, begin + 1)
        yield begin, end
        begin = end


def _between(rows: Columns, first: int, last: int) -> Columns:
    """Return the rows of queues from one number up to another."""
    begin, end = np.searchsorted(rows[QUEUE], [first, last])
    return {name: values[begin:end] for name, values in rows.items()}


def _step_table(steps: Columns, divided: Divisions, group_of: Ints) -> pa.Table:
    """Return steps beside the owners of their queues, as `StepRows` takes them."""
    row, of = divided.joined_to(steps[QUEUE], steps[c.EPOCH])
    at = steps[c.SINCE][row] * 1000
    columns: dict[str, Any] = {
        c.GROUP_NO: group_of[steps[QUEUE][row]],
        c.EPOCH: steps[c.EPOCH][row],
        c.SINCE: pa.array(at).cast(pa.timestamp("us", tz="UTC")),
    }
    for name in STEP_COLUMNS[3:]:
        columns[name] = pa.array(steps[name][row].astype(np.float64), from_pandas=True)
    place = pa.array(of)
    columns |= {name: owners.take(place) for name, owners in divided.owners.items()}
    return pa.table(columns)
