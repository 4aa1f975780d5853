"""Arrow schemas of the data sets, and the check that rows conform to them.

Spark derives its own from these, so that the writer and the jobs cannot disagree.
Strings with few distinct values are plain strings here; Parquet encodes them by
dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c
from analytics.errors import SchemaError

_TIMESTAMP: Final = pa.timestamp("ms", tz="UTC")
_VERSION_KEY: Final = b"rocketscope.schema"


def _required(name: str, kind: Any) -> Any:
    return pa.field(name, kind, nullable=False)


_SUBSCRIPTION: Final = pa.struct(
    [_required(c.TOPIC, pa.string()), pa.field(c.EXPRESSION, pa.string())]
)
_MEMBER: Final = pa.struct(
    [
        _required(c.CLIENT_ID, pa.string()),
        pa.field(c.STRATEGY, pa.string()),
        pa.field(c.SUBSCRIPTIONS, pa.list_(_SUBSCRIPTION)),
    ]
)
_QUEUE: Final = pa.struct(
    [
        _required(c.TOPIC, pa.string()),
        _required(c.BROKER, pa.string()),
        _required(c.QUEUE_ID, pa.int32()),
    ]
)
_METADATA: Final = {_VERSION_KEY: str(c.SCHEMA_VERSION).encode()}

SAMPLES: Final = pa.schema(
    [
        _required(c.CLUSTER, pa.string()),
        _required(c.GROUP, pa.string()),
        _required(c.TOPIC, pa.string()),
        _required(c.BROKER, pa.string()),
        _required(c.QUEUE_ID, pa.int32()),
        _required(c.TIME, _TIMESTAMP),
        _required(c.WEIGHT, pa.float64()),
        pa.field(c.MIN, pa.int64()),
        pa.field(c.MAX, pa.int64()),
        pa.field(c.COMMITTED, pa.int64()),
        pa.field(c.EPOCH, pa.int64()),
        pa.field(c.PULLED, pa.int64()),
        pa.field(c.LAG_MS, pa.int64()),
        pa.field(c.OWNER, pa.string()),
    ],
    metadata=_METADATA,
)

EPOCHS: Final = pa.schema(
    [
        _required(c.CLUSTER, pa.string()),
        _required(c.GROUP, pa.string()),
        _required(c.EPOCH, pa.int64()),
        _required(c.TIME, _TIMESTAMP),
        pa.field(c.BEGAN_AFTER, _TIMESTAMP),
        _required(c.BEGAN, _TIMESTAMP),
        pa.field(c.ENDED, _TIMESTAMP),
        pa.field(c.ENDED_BEFORE, _TIMESTAMP),
        pa.field(c.MODE, pa.string()),
        pa.field(c.STRATEGY, pa.string()),
        pa.field(c.STRATEGY_SOURCE, pa.string()),
        pa.field(c.OPTIONS, pa.string()),
        _required(c.MEMBERS, pa.list_(_MEMBER)),
        _required(c.QUEUES, pa.list_(_QUEUE)),
    ],
    metadata=_METADATA,
)
"""A row when an epoch begins, when more is known of it, and when it ends; the newest
`time` counts."""

_QUEUE_FIELDS: Final = [
    _required(c.CLUSTER, pa.string()),
    _required(c.GROUP, pa.string()),
    _required(c.TOPIC, pa.string()),
    _required(c.BROKER, pa.string()),
    _required(c.QUEUE_ID, pa.int32()),
]

PARTS: Final = pa.schema(
    [
        *_QUEUE_FIELDS,
        pa.field(c.EPOCH, pa.int64()),
        _required(c.TIME, _TIMESTAMP),
        _required(c.SECONDS, pa.float64()),
        _required(c.UNKNOWN_SECONDS, pa.float64()),
        pa.field(c.LAG_SECONDS, pa.float64()),
        pa.field(c.LAG_PEAK, pa.int64()),
        pa.field(c.LAG_LAST, pa.int64()),
        pa.field(c.LAG_LAST_AT, pa.int64()),
        pa.field(c.LAG_MS_PEAK, pa.int64()),
        pa.field(c.OVER_SECONDS, pa.float64()),
        *(
            pa.field(f"{offset}_{end}", pa.int64())
            for offset in (c.MAX, c.COMMITTED)
            for end in ("first_at", "first", "last_at", "last")
        ),
    ],
    metadata=_METADATA,
)
"""A rung of the roll-ups by queue; `time` is the beginning of the step."""

PEAKS: Final = pa.schema(
    [
        _required(c.CLUSTER, pa.string()),
        _required(c.GROUP, pa.string()),
        pa.field(c.TOPIC, pa.string()),
        _required(c.TIME, _TIMESTAMP),
        pa.field(c.LAG_PEAK, pa.int64()),
    ],
    metadata=_METADATA,
)
"""A rung of the roll-ups by group (no topic) and by topic."""

BY_NAME: Final[Mapping[str, Any]] = {
    c.SAMPLES: SAMPLES,
    c.EPOCHS: EPOCHS,
    **{f"rollup_queues_{level}": PARTS for level in c.ROLLUP_LEVELS},
    **{f"rollup_peaks_{level}": PEAKS for level in c.ROLLUP_LEVELS},
}

_NEVER_NEGATIVE: Final = (
    c.QUEUE_ID,
    c.WEIGHT,
    c.MIN,
    c.MAX,
    c.COMMITTED,
    c.PULLED,
    c.LAG_MS,
)


def schema_of(dataset: str) -> Any:
    """Return the Arrow schema of a data set, or raise `SchemaError` with the names."""
    try:
        return BY_NAME[dataset]
    except KeyError:
        known = ", ".join(sorted(BY_NAME))
        raise SchemaError(
            f"unknown data set {dataset!r}; the known ones are {known}"
        ) from None


def table_of(dataset: str, columns: Mapping[str, Any]) -> Any:
    """Build a checked Arrow table from columns of one length.

    A string or number stands for every row; a column that may be null can be left
    out. Times are integers (ms since the epoch) or timestamps. Raises `SchemaError`.
    """
    schema = schema_of(dataset)
    unknown = sorted(set(columns) - set(schema.names))
    if unknown:
        raise SchemaError(f"{dataset} has no column {', '.join(unknown)}")
    rows = _row_count(dataset, columns)
    arrays = [_column(dataset, field, columns, rows) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def version_of(schema: Any) -> int:
    """Return the contract's version noted in a file's schema; 0 when there is none."""
    return int((schema.metadata or {}).get(_VERSION_KEY, b"0"))


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _row_count(dataset: str, columns: Mapping[str, Any]) -> int:
    lengths = {
        name: len(value) for name, value in columns.items() if not _is_scalar(value)
    }
    if not lengths:
        raise SchemaError(f"{dataset}: no column is a sequence, so no row is given")
    if len(set(lengths.values())) > 1:
        raise SchemaError(f"{dataset}: columns differ in length: {lengths}")
    return next(iter(lengths.values()))


def _column(dataset: str, field: Any, columns: Mapping[str, Any], rows: int) -> Any:
    value = columns.get(field.name)
    try:
        if value is None:
            array = pa.nulls(rows, field.type)
        elif _is_scalar(value):
            array = pa.repeat(pa.scalar(value).cast(field.type), rows)
        else:
            array = _array(value, field.type)
    except (pa.ArrowException, TypeError, OverflowError) as error:
        raise SchemaError(f"{dataset}.{field.name}: {error}") from error
    _check(dataset, field, array)
    return array


def _array(value: Any, kind: Any) -> Any:
    if isinstance(value, pa.Array | pa.ChunkedArray):
        return value.cast(kind)
    try:
        return pa.array(value, kind)
    except pa.ArrowInvalid:
        # numpy and array('q') give plain integers where a timestamp is expected.
        return pa.array(value).cast(kind)


def _check(dataset: str, field: Any, array: Any) -> None:
    if not field.nullable and array.null_count:
        raise SchemaError(
            f"{dataset}.{field.name}: {array.null_count} of {len(array)} are null"
        )
    if field.name in _NEVER_NEGATIVE and len(array):
        lowest = pc.min(array).as_py()
        if lowest is not None and lowest < 0:
            raise SchemaError(
                f"{dataset}.{field.name}: {lowest} is below 0; unknown is null"
            )
    if pa.types.is_floating(array.type) and pc.any(pc.is_nan(array)).as_py():
        raise SchemaError(f"{dataset}.{field.name}: NaN; unknown is null")
