"""The tables of one bucket of groups, from what was measured of it; no Spark.

Each task makes all tables of a job in one pass: those of lag, and those of a back-test,
for which steps are joined to the divisions of their epochs and spread over members by
`analytics.spread`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from analytics import contracts as c
from analytics.lake.buckets import Bucket
from analytics.lake.storage import Storage
from analytics.spread import STEP_COLUMNS, Changes, StepRows, spread_tables
from analytics.spread.shares import Ints, Values
from analytics.spread.tables import TABLES as SPREAD_TABLES

from .groups import Divisions
from .lag import CONSUMER, KEY
from .measured import BucketWork, Measured, measured
from .steps import NONE, QUEUE, Columns

_TEXT: Final = pa.string()
_TIME: Final = pa.timestamp("us", tz="UTC")
_GROUP: Final = ((c.CLUSTER, _TEXT), (c.GROUP, _TEXT))
_KNOWN: Final = tuple((name, pa.float64()) for name in (c.SECONDS, c.UNKNOWN_SECONDS))
_RATES: Final = tuple((name, pa.float64()) for name in (c.IN_RATE, c.OUT_RATE))
_COUNTS: Final = tuple((name, pa.int64()) for name in (c.QUEUE_COUNT, c.KNOWN_QUEUES))
_LAGS: Final = (
    (c.LAG_MEAN, pa.float64()),
    *((name, pa.int64()) for name in (c.LAG_PEAK, c.LAG_LAST, c.LAG_MS_PEAK)),
)
_SUMS: Final = ((c.SINCE, _TIME), *_KNOWN, *_COUNTS, *_LAGS, *_RATES)

LAG_TABLES: Final[Mapping[str, Any]] = {
    c.LAG_BY_QUEUE: pa.schema(
        [
            *_GROUP,
            (c.TOPIC, _TEXT),
            (c.BROKER, _TEXT),
            (c.QUEUE_ID, pa.int32()),
            (c.SINCE, _TIME),
            *_KNOWN,
            *_LAGS,
            (c.OVER_SECONDS, pa.float64()),
            *_RATES,
        ]
    ),
    c.LAG_BY_GROUP: pa.schema([*_GROUP, *_SUMS]),
    c.LAG_BY_TOPIC: pa.schema([*_GROUP, (c.TOPIC, _TEXT), *_SUMS]),
    c.LAG_BY_CONSUMER: pa.schema(
        [
            *_GROUP,
            (c.CLIENT_ID, _TEXT),
            *(each for each in _SUMS if each[0] != c.LAG_PEAK),
        ]
    ),
}
TABLES: Final[Mapping[str, Any]] = {**LAG_TABLES, **SPREAD_TABLES}
"""The schemas of the data sets, by name."""


def bucket_tables(
    lake: Storage, bucket: Bucket, work: BucketWork
) -> Iterator[tuple[str, pa.Table]]:
    """Yield tables of data sets with the results of a bucket, some groups at a time."""
    in_use = None
    has_spread = not SPREAD_TABLES.keys().isdisjoint(work.wanted)
    for found in measured(lake, bucket, work):
        if work.has_lag:
            yield from _lag_tables(bucket.cluster, found)
        if has_spread and found.has_divided:
            in_use = in_use or found.groups.strategies_in_use()
            names, divided = found.names, found.divided
            group_of = found.groups.group_of
            most_added = max(0, *(each.added for each in work.candidates))
            table = _step_table(found.of_epochs, divided, group_of)
            moves = divided.moves(group_of[divided.queue], len(found.groups.names))
            yield from spread_tables(
                StepRows(table, names, most_added),
                names,
                work.candidates,
                Changes(moves, in_use),
                work.wanted,
            )


def _lag_tables(cluster: str, found: Measured) -> Iterator[tuple[str, pa.Table]]:
    groups = found.groups
    group, topic, broker, queue_id = (
        pa.array([key[place] for key in groups.queues], kind)
        for place, kind in enumerate((_TEXT, _TEXT, _TEXT, pa.int32()))
    )
    queue = pa.array(found.queues[QUEUE])
    yield _lag_table(
        c.LAG_BY_QUEUE,
        cluster,
        found.queues,
        {
            c.GROUP: group.take(queue),
            c.TOPIC: topic.take(queue),
            c.BROKER: broker.take(queue),
            c.QUEUE_ID: queue_id.take(queue),
        },
    )
    names = pa.array(groups.names, _TEXT)
    rows = found.by_group
    of_group = {c.GROUP: _taken(names, rows[KEY])}
    yield _lag_table(c.LAG_BY_GROUP, cluster, rows, of_group)
    rows = found.by_topic
    of_topic = {
        name: _taken(pa.array([key[place] for key in groups.topics], _TEXT), rows[KEY])
        for place, name in enumerate((c.GROUP, c.TOPIC))
    }
    yield _lag_table(c.LAG_BY_TOPIC, cluster, rows, of_topic)
    rows = found.by_consumer
    of_consumer = {
        c.GROUP: _taken(names, rows[KEY]),
        c.CLIENT_ID: _taken(pa.array(found.clients, _TEXT), rows[CONSUMER]),
    }
    yield _lag_table(c.LAG_BY_CONSUMER, cluster, rows, of_consumer)


def _taken(names: pa.Array, number: Ints) -> pa.Array:
    return names.take(pa.array(number))


def _lag_table(
    dataset: str, cluster: str, rows: Columns, names: Mapping[str, pa.Array]
) -> tuple[str, pa.Table]:
    schema = LAG_TABLES[dataset]
    count = len(rows[c.SINCE])
    arrays = []
    for each in schema:
        if each.name == c.CLUSTER:
            arrays.append(pa.repeat(pa.scalar(cluster, _TEXT), count))
        elif each.name in names:
            arrays.append(names[each.name])
        else:
            arrays.append(_array(rows[each.name], each.type))
    return dataset, pa.Table.from_arrays(arrays, schema=schema)


def _array(values: Values, kind: pa.DataType) -> pa.Array:
    if kind == _TIME:
        return pa.array(values * 1000).cast(kind)
    if pa.types.is_floating(kind):
        return pa.array(values, kind, from_pandas=True)
    return pa.array(values, kind, mask=values == NONE)


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
