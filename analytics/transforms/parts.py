"""Summaries of samples by step, in a form that adds up: the rows of the roll-ups.

A *part* is a row per queue, epoch and step: what samples say about the time of the step
that they claim. Two parts of one step, made of different samples, merge into the part
of all of them, in any order; a longer step is merged from shorter ones the same way.
Means and rates are not kept: they follow from the sums and from the offsets at both
ends. Peaks are of groups and topics, and merge alike. Tables of Arrow go in and come
out; no Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from analytics import contracts as c
from analytics.lake.ladder import PEAKS, QUEUES
from analytics.schemas import PARTS
from analytics.schemas import PEAKS as PEAKS_SCHEMA
from analytics.spread.shares import Ints

from .lag import KEY, highest, peaks_of
from .steps import (
    AT,
    CLAIM,
    NONE,
    OFFSETS,
    QUEUE,
    STEP,
    Columns,
    claims_of,
    in_order,
    joined,
    merged,
    parts_of_samples,
    whole,
    whole_ms,
)

SCHEMAS: Final = {QUEUES: PARTS, PEAKS: PEAKS_SCHEMA}
"""Of the tables of each family of the ladder."""

OF_SAMPLES: Final = (
    *c.QUEUE_KEY,
    c.EPOCH,
    c.TIME,
    c.WEIGHT,
    *OFFSETS,
    c.LAG_MS,
)
"""The columns of samples that are read."""

_GROUP: Final = (c.CLUSTER, c.GROUP)
_TOPIC: Final = (*_GROUP, c.TOPIC)
_FOREVER: Final = 1 << 62


def rolled_up(samples: Any, step_ms: int) -> dict[str, Any]:
    """Return the parts and the peaks of samples, by the family of the ladder.

    Of a group, all samples of a moment have to be among them.
    """
    queue, keys = _numbered(samples, c.QUEUE_KEY)
    rows: Columns = {
        QUEUE: queue,
        c.EPOCH: whole(samples[c.EPOCH]),
        AT: whole_ms(samples[c.TIME]),
        CLAIM: claims_of(samples[c.WEIGHT].to_numpy()),
        **{name: whole(samples[name]) for name in (*OFFSETS, c.LAG_MS)},
    }
    rows = in_order(rows, QUEUE, c.EPOCH, AT)
    parts = parts_of_samples(rows, step_ms, _FOREVER, has_unknown=True)
    return {
        QUEUES: _parts_table(merged(parts), keys),
        PEAKS: _peaks(rows, keys, step_ms),
    }


def merged_table(family: str, rows: Any, step_ms: int) -> Any:
    """Merge parts, or peaks, into those of steps that are at least as long."""
    return (_merged_parts if family == QUEUES else _merged_peaks)(rows, step_ms)


def _merged_parts(table: Any, step_ms: int) -> Any:
    queue, keys = _numbered(table, c.QUEUE_KEY)
    rows: Columns = {QUEUE: queue, STEP: whole_ms(table[c.TIME]) // step_ms * step_ms}
    for field in PARTS:
        if field.name not in (*c.QUEUE_KEY, c.TIME):
            is_whole = pa.types.is_integer(field.type)
            column = table[field.name]
            rows[field.name] = whole(column) if is_whole else column.to_numpy()
    return _parts_table(merged(joined([rows])), keys)


def _parts_table(parts: Columns, keys: Any) -> Any:
    return _table(PARTS, keys, parts[QUEUE], parts | {c.TIME: parts[STEP]})


def _peaks(samples: Columns, queues: Any, step_ms: int) -> Any:
    """Return the highest lag that each group, and each topic of it, had at one moment.

    The rows of whole groups have no topic.
    """
    found = []
    for key in (_GROUP, _TOPIC):
        key_of, keys = _numbered(queues, key)
        peaks = peaks_of(samples, key_of, step_ms, _FOREVER)
        found.append(_peaks_table(peaks, keys))
    return pa.concat_tables(found)


def _merged_peaks(table: Any, step_ms: int) -> Any:
    number, keys = _numbered(table, _TOPIC)
    step = whole_ms(table[c.TIME]) // step_ms * step_ms
    peaks = {KEY: number, STEP: step, c.LAG_PEAK: whole(table[c.LAG_PEAK])}
    return _peaks_table(highest(peaks), keys)


def _peaks_table(peaks: Columns, keys: Any) -> Any:
    return _table(PEAKS_SCHEMA, keys, peaks[KEY], peaks | {c.TIME: peaks[STEP]})


def _numbered(table: Any, names: Sequence[str]) -> tuple[Ints, Any]:
    """Number the keys in a table; return each row's number, and the keys in order."""
    count = table.num_rows
    if not count:
        return np.empty(0, np.int64), table.select(names)
    code = np.zeros(count, np.int64)
    for name in names:
        values = _codes(table[name])
        low = values.min()
        code = code * (int(values.max()) - int(low) + 1) + (values - low)
    _code, first, number = np.unique(code, return_index=True, return_inverse=True)
    return number, table.select(names).take(pa.array(first))


def _codes(column: Any) -> Ints:
    """Return numbers in place of names; `NONE` for null."""
    if pa.types.is_integer(column.type):
        return whole(column)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole_column = column.unify_dictionaries().combine_chunks()
    if isinstance(whole_column, pa.ChunkedArray):
        whole_column = whole_column.chunk(0)
    return whole(whole_column.indices)


def _table(schema: Any, keys: Any, number: Ints, columns: Columns) -> Any:
    """Return rows with the names of their keys; what is not known is null."""
    arrays = []
    place = pa.array(number)
    for field in schema:
        if field.name in columns:
            values = columns[field.name]
            is_null = np.isnan(values) if values.dtype.kind == "f" else values == NONE
            array = pa.array(values, mask=is_null).cast(field.type)
        elif field.name in keys.schema.names:
            array = keys[field.name].cast(field.type).take(place)
        else:  # a whole group has no topic
            array = pa.nulls(len(number), field.type)
        arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=schema)
