"""How each candidate would have divided each epoch, through Arrow.

Epochs go to Python by group, in few large tasks, and are divided by
`analytics.division`: the same code as on the what-if page. The result has one row per
epoch and queue, and two columns per candidate: the position of the owner among the
epoch's members, and whether the queue had another owner in the previous epoch. A queue
with several owners has a row for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  the usual name
from pyspark.sql.types import (
    BooleanType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from analytics import contracts as c
from analytics.division import IN_USE, WEIGHTS, Candidate, Divider

from .epochs import EPOCH_KEY, MEMBER, members, newest_epochs

_ROWS_A_BATCH: Final = 20_000


def divisions(
    epochs: DataFrame, candidates: Sequence[Candidate], *, pieces: int
) -> DataFrame:
    """Divide the queues of `epochs`, which have weights, in `pieces` tasks."""
    arrow_schema = _arrow_schema(candidates)

    def divide(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        divider = Divider(candidates)
        columns: list[list[object]] = [[] for _name in divider.columns]
        for batch in batches:
            for epoch in batch.to_pylist():
                for column, values in zip(columns, divider.divide(epoch), strict=True):
                    column.extend(values)
                if len(columns[0]) >= _ROWS_A_BATCH:
                    yield _batch(columns, arrow_schema)
                    columns = [[] for _name in divider.columns]
        yield _batch(columns, arrow_schema)

    by_group = epochs.repartition(pieces, c.CLUSTER, c.GROUP)
    in_order = by_group.sortWithinPartitions(*EPOCH_KEY)
    return in_order.mapInArrow(divide, _schema(candidates))


def _batch(columns: list[list[object]], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [
        pa.array(values, field.type)
        for values, field in zip(columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def owners_in_use(epochs: DataFrame, since_ms: int, *, pieces: int) -> DataFrame:
    """Return each queue key, epoch and client id of the strategy in use, once.

    Of epochs that were over by `since_ms` nothing is told.
    """
    divided = newest_epochs(epochs, since_ms)
    in_use = Candidate(IN_USE, IN_USE)
    weighed = divided.withColumn(WEIGHTS, F.lit(None).cast("string"))
    return (
        divisions(weighed, [in_use], pieces=pieces)
        .where(F.col(in_use.column) >= 0)
        .withColumnRenamed(in_use.column, MEMBER)
        .join(members(divided), on=[*EPOCH_KEY, MEMBER], how="inner")
        .select(*c.QUEUE_KEY, c.EPOCH, c.CLIENT_ID)
        .distinct()
    )


_KEYS: Final = (
    (c.CLUSTER, StringType(), pa.string()),
    (c.GROUP, StringType(), pa.string()),
    (c.EPOCH, LongType(), pa.int64()),
    (c.TOPIC, StringType(), pa.string()),
    (c.BROKER, StringType(), pa.string()),
    (c.QUEUE_ID, IntegerType(), pa.int32()),
)


def _schema(candidates: Sequence[Candidate]) -> StructType:
    keys = [StructField(name, kind) for name, kind, _arrow in _KEYS]
    owners = [StructField(each.column, IntegerType()) for each in candidates]
    moved = [StructField(each.moved_column, BooleanType()) for each in candidates]
    return StructType(keys + owners + moved)


def _arrow_schema(candidates: Sequence[Candidate]) -> pa.Schema:
    keys = [(name, arrow) for name, _kind, arrow in _KEYS]
    owners = [(each.column, pa.int32()) for each in candidates]
    moved = [(each.moved_column, pa.bool_()) for each in candidates]
    return pa.schema(keys + owners + moved)
