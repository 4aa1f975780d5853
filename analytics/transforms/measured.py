"""What was measured of the groups of a bucket, from its files to steps; no Spark.

Samples (or parts, from a rung of the roll-ups) are read as arrays, with numbers for
queues, and sorted; files are sorted already, so that this takes little time. Whole
groups, some at a time, become steps. Memory is bounded by the bucket, not by the lake.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa

from analytics import contracts as c
from analytics.division import IN_USE, WEIGHTS, Candidate, Divider
from analytics.lake.buckets import Bucket, read_epochs, read_groups
from analytics.lake.manifest import FileEntry
from analytics.lake.storage import Storage
from analytics.presence import Period
from analytics.schemas import schema_of
from analytics.spread import EpochNames
from analytics.spread.shares import Ints
from rmqcore.allocation import BALANCED

from .groups import (
    Divisions,
    Epoch,
    Groups,
    queues_named,
    told_epochs,
    weights_of,
)
from .lag import (
    CONSUMER,
    KEY,
    highest,
    lag_by,
    lag_by_consumer,
    lag_by_queue,
    owners_seen,
    peaks_of,
)
from .steps import (
    AT,
    CLAIM,
    DETAIL,
    ENDS,
    NONE,
    OFFSETS,
    QUEUE,
    STEP,
    Columns,
    claims_of,
    in_order,
    joined,
    of_epochs,
    parts_of_samples,
    steps_of,
    steps_there,
    whole,
    whole_ms,
)

_ROWS_AT_ONCE: Final = 150_000
"""Rows of steps that are worked on together, unless one group has more."""

_NO_EPOCH: Final = schema_of(c.EPOCHS).empty_table()
_KEY: Final = (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID)
_OF_SAMPLES: Final = (c.WEIGHT, c.MAX, c.COMMITTED)
_OF_PARTS: Final = (
    c.SECONDS,
    c.LAG_SECONDS,
    *(f"{offset}_{end}" for offset in OFFSETS for end in ENDS),
)
_FLOATS: Final = {c.SECONDS, c.LAG_SECONDS, c.OVER_SECONDS}


@dataclass(frozen=True, slots=True)
class BucketWork:
    """What all buckets of a job have in common.

    `level` is that of the source (0 for samples). Rows of [from, until) are read; they
    begin before the period, for the rate of its first step. `groups` (sorted) and
    `pattern`, a regular expression, narrow the groups; empty ones do not. With
    `has_lag`, lags and ages are read, of all queues: a back-test is only about those of
    epochs that are divided. `rule` is what a trial tries.
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
    wanted: Collection[str] = ()
    has_lag: bool = False
    peak_files: Sequence[FileEntry] = ()
    rule: Mapping[str, Any] = field(default_factory=dict)

    def wants(self, group: str) -> bool:
        return (not self.groups or group in self.groups) and (
            not self.pattern or re.match(self.pattern, group) is not None
        )


def measured(lake: Storage, bucket: Bucket, work: BucketWork) -> Iterator[Measured]:
    """Yield what was measured of a bucket's groups, in order, some at a time."""
    epochs = read_epochs(lake, work.epoch_files, bucket)
    told = told_epochs(
        pa.concat_tables([_NO_EPOCH, *epochs]),
        lambda name: bucket.holds(name) and work.wants(name),
    )
    since_ms = work.period.since_ms
    queues = _Numbers(
        queues_named(told, since_ms, divided_only=not work.has_lag),
        lambda key: work.has_lag and bucket.holds(key[0]) and work.wants(key[0]),
    )
    clients = _Numbers(
        {member[c.CLIENT_ID] for epoch in told for member in epoch[c.MEMBERS]},
        lambda _name: True,
    )
    rows = _rows(lake, bucket, work, queues, clients)
    groups = Groups(told, since_ms, queues.names)
    read = _Read(
        work=work,
        told=told,
        groups=groups,
        clients=clients,
        rows=rows,
        spans=in_order(groups.spans, QUEUE),
        peaks=_peaks(lake, bucket, work, groups) if work.peak_files else None,
        divider=Divider(work.candidates),
    )
    for begin, end in _stretches(groups, rows, work.period):
        yield Measured(read, begin, end)


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of a bucket. `peaks` are of groups and of topics, from a rung."""

    work: BucketWork
    told: Sequence[Epoch]
    groups: Groups
    clients: _Numbers
    rows: Columns
    spans: Columns
    peaks: tuple[Columns, Columns] | None
    divider: Divider


class Measured:
    """The steps of some groups of a bucket, and what follows from them when asked."""

    def __init__(self, read: _Read, begin: int, end: int) -> None:
        groups = read.groups
        first, last = np.searchsorted(groups.group_of, [begin, end])
        self.groups = groups
        self.period = read.work.period
        self.candidates = read.work.candidates
        self._read = read
        self._range = begin, end
        self._rows = _between(read.rows, first, last)
        there = steps_there(_between(read.spans, first, last), self.period)
        self.steps = steps_of(_parts(self._rows, read.work), there, self.period)

    @cached_property
    def of_epochs(self) -> Columns:
        """The steps of queues while their epoch lasted."""
        return of_epochs(self.steps)

    @cached_property
    def queues(self) -> Columns:
        return lag_by_queue(self.steps)

    @cached_property
    def by_group(self) -> Columns:
        peaks = self._peaks(self.groups.group_of, 0)
        return lag_by(self.groups.group_of, peaks, self.steps, self.queues)

    @cached_property
    def by_topic(self) -> Columns:
        peaks = self._peaks(self.groups.topic_of, 1)
        return lag_by(self.groups.topic_of, peaks, self.steps, self.queues)

    @cached_property
    def by_consumer(self) -> Columns:
        owners, step_ms = self._owners(), self.period.step_ms
        if self._read.work.level:  # parts do not tell who had a queue
            nothing = np.empty(0, np.int64)
            names = (QUEUE, c.EPOCH, c.SINCE, CONSUMER)
            seen = dict.fromkeys(names, nothing)
        else:
            seen = owners_seen(self._in_period, step_ms)
        return lag_by_consumer(self.groups.group_of, self.of_epochs, owners, seen)

    @property
    def clients(self) -> Sequence[str]:
        """The names of consumers, by number."""
        return self._read.clients.names

    @property
    def names(self) -> EpochNames:
        """The names of the epochs that are divided."""
        return self.groups.epoch_names(*self._range)

    @cached_property
    def divided(self) -> Divisions:
        """How the candidates would have divided the epochs."""
        epochs = self.groups.of(*self._range)
        if any(each.strategy == BALANCED for each in self.candidates):
            weights = weights_of(self.of_epochs, self.groups.queues)
            epochs = [
                each | {WEIGHTS: weights.get((each[c.GROUP], each[c.EPOCH]))}
                for each in epochs
            ]
        number = self.groups.number
        return Divisions(self._read.divider, self.candidates, epochs, number)

    @property
    def has_divided(self) -> bool:
        return bool(self.groups.of(*self._range))

    def member_counts(self) -> dict[tuple[int, int], int]:
        """Return how many members each epoch has, by group number and epoch."""
        at = self.groups.at
        return {
            (at[epoch[c.GROUP]], epoch[c.EPOCH]): len(epoch[c.MEMBERS])
            for epoch in self._read.told
            if epoch[c.GROUP] in at
        }

    @cached_property
    def _in_period(self) -> Columns:
        begun = self._rows[AT] >= self.period.since_ms
        return {name: values[begun] for name, values in self._rows.items()}

    def _peaks(self, key_of: Ints, place: int) -> Columns:
        if self._read.peaks is not None:
            return self._read.peaks[place]
        period = self.period
        return peaks_of(self._in_period, key_of, period.step_ms, period.until_ms)

    def _owners(self) -> Columns:
        """Return the consumers of queues in epochs by the strategy in use."""
        (column,) = (each.column for each in self.candidates if each.name == IN_USE)
        divided, names = self.divided, self.names
        place = whole(divided.owners[column])
        row = np.flatnonzero(place >= 0)
        queue, epoch = divided.queue[row], divided.epoch[row]
        members = self._read.clients.of_all(names.client_ids.to_pylist())
        at = names.find(self.groups.group_of[queue], epoch) if len(row) else row
        consumer = members[names.first[at] + place[row]]
        return {QUEUE: queue, c.EPOCH: epoch, CONSUMER: consumer}


class _Numbers:
    """Numbers of names, in their order once all are known; other names are `NONE`."""

    def __init__(self, named: Iterable[Any], admits: Callable[[Any], bool]) -> None:
        self._number = {name: at for at, name in enumerate(sorted(named))}
        self._admits = admits

    @property
    def names(self) -> Sequence[Any]:
        return list(self._number)

    def of(self, name: Any) -> int:
        """Return the number of a name, a new one if the name is admitted."""
        found = self._number.get(name)
        if found is None and self._admits(name):
            found = self._number[name] = len(self._number)
        return NONE if found is None else found

    def of_all(self, names: Sequence[Any]) -> Ints:
        return np.array([self.of(name) for name in names], np.int64)

    def put_in_order(self) -> Ints:
        """Number the names in their order; return the new numbers of the old ones."""
        before = self._number
        self._number = {name: at for at, name in enumerate(sorted(before))}
        return np.array([self._number[name] for name in before], np.int64)


def _rows(
    lake: Storage,
    bucket: Bucket,
    work: BucketWork,
    queues: _Numbers,
    clients: _Numbers,
) -> Columns:
    """Return the samples, or parts, of a bucket's queues, by queue and time.

    The numbers that they have are in the order of the names.
    """
    names: tuple[str, ...] = _OF_PARTS if work.level else _OF_SAMPLES
    columns: tuple[str, ...] = names if work.level else (CLAIM, *OFFSETS)
    if work.has_lag and work.level:
        names, columns = (*names, *DETAIL), (*columns, *DETAIL)
    elif work.has_lag:
        names = (*names, c.LAG_MS, c.OWNER)
        columns = (*columns, c.LAG_MS, CONSUMER)
    groups = work.groups if work.has_lag else sorted({key[0] for key in queues.names})
    parts: list[Columns] = []
    if groups or work.has_lag:
        tables = read_groups(
            lake,
            [file for file in work.files if file.cluster == bucket.cluster],
            (*_KEY, c.EPOCH, c.TIME, *names),
            since_ms=work.from_ms,
            until_ms=work.until_ms,
            groups=groups,
            bucket=bucket,
        )
        parts = [_numbered(table, work, names, queues, clients) for table in tables]
    rows: Columns = {
        name: np.concatenate(
            [
                np.empty(0, np.float64 if name in _FLOATS else np.int64),
                *(part[name] for part in parts),
            ]
        )
        for name in (QUEUE, c.EPOCH, AT, *columns)
    }
    rows[QUEUE] = _renumbered(rows[QUEUE], queues)
    if CONSUMER in rows:
        rows[CONSUMER] = _renumbered(rows[CONSUMER], clients)
    rows = in_order(rows, QUEUE, AT)
    queue, epoch = rows[QUEUE], rows[c.EPOCH]
    if np.any((epoch[1:] < epoch[:-1]) & (queue[1:] == queue[:-1])):
        rows = in_order(rows, QUEUE, c.EPOCH)
    return rows


def _renumbered(numbers: Ints, of: _Numbers) -> Ints:
    found: Ints = np.append(of.put_in_order(), NONE)[numbers]
    return found


def _numbered(
    table: pa.Table,
    work: BucketWork,
    names: Sequence[str],
    queues: _Numbers,
    clients: _Numbers,
) -> Columns:
    """Return the rows of numbered queues within the span that is read."""
    at = whole_ms(table[c.TIME])
    queue = _queue_numbers(table, queues)
    row = np.flatnonzero((queue >= 0) & (at >= work.from_ms) & (at < work.until_ms))
    rows: Columns = {
        QUEUE: queue[row],
        AT: at[row],
        c.EPOCH: whole(table[c.EPOCH])[row],
    }
    for name in names:
        if name == c.WEIGHT:
            rows[CLAIM] = claims_of(table[name].to_numpy()[row])
        elif name == c.OWNER:
            rows[CONSUMER] = _client_numbers(table[name].combine_chunks(), row, clients)
        elif name in _FLOATS:
            rows[name] = table[name].to_numpy()[row]
        else:
            rows[name] = whole(table[name])[row]
    return rows


def _client_numbers(column: Any, row: Ints, clients: _Numbers) -> Ints:
    """Return the numbers of the clients that rows name."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks else column.type.empty()
    code = whole(column.indices)[row]
    used = np.unique(code[code != NONE])
    values = column.dictionary
    number = np.full(len(values) + 1, NONE)
    number[used] = clients.of_all(values.take(pa.array(used)).to_pylist())
    return number[code]


def _queue_numbers(table: pa.Table, numbers: _Numbers) -> Ints:
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
        numbers.of((values[0][g], values[1][t], values[2][b], q))
        for g, t, b, q in zip(group, topic, broker, queue_id, strict=True)
    ]
    sizes = np.diff(np.append(first, table.num_rows))
    return np.repeat(np.array(found, np.int64)[run], sizes)


def _peaks(
    lake: Storage, bucket: Bucket, work: BucketWork, groups: Groups
) -> tuple[Columns, Columns]:
    """Return the peaks of groups and of topics in steps, from a rung."""
    tables = read_groups(
        lake,
        [file for file in work.peak_files if file.cluster == bucket.cluster],
        (c.GROUP, c.TOPIC, c.TIME, c.LAG_PEAK),
        since_ms=work.from_ms,
        until_ms=work.until_ms,
        groups=groups.names,
        bucket=bucket,
    )
    topic_at = {name: at for at, name in enumerate(groups.topics)}
    found: tuple[list[Columns], list[Columns]] = ([], [])
    for table in tables:
        at = whole_ms(table[c.TIME])
        step = at // work.period.step_ms * work.period.step_ms
        lag = whole(table[c.LAG_PEAK])
        group, topic = table[c.GROUP].to_pylist(), table[c.TOPIC].to_pylist()
        group_no = np.array([groups.at.get(name, NONE) for name in group], np.int64)
        topic_no = np.array(
            [topic_at.get(key, NONE) for key in zip(group, topic, strict=True)],
            np.int64,
        )
        is_topic = np.array([name is not None for name in topic], bool)
        is_read = (at >= work.from_ms) & (at < work.until_ms)
        for parts, key, kept in (
            (found[0], group_no, ~is_topic),
            (found[1], topic_no, is_topic),
        ):
            row = np.flatnonzero(kept & is_read & (key != NONE))
            parts.append({KEY: key[row], STEP: step[row], c.LAG_PEAK: lag[row]})
    of_groups, of_topics = (
        highest(
            {
                name: np.concatenate(
                    [np.empty(0, np.int64), *(part[name] for part in parts)]
                )
                for name in (KEY, STEP, c.LAG_PEAK)
            }
        )
        for parts in found
    )
    return of_groups, of_topics


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
