"""A table of a run as Parquet: typed, with units, times with their zone.

A column's unit is in its field's metadata, the subject of the file in the schema's.
Unknown is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any, Final

from analytics.contracts import SCHEMA_VERSION
from dashboard.reports.data.results import iterate_batches
from dashboard.reports.data.tables import Kind, Table
from dashboard.reports.report import Report

UNIT: Final = b"unit"


def write_parquet(report: Report, table: Table, path: Path) -> None:
    """Write one table of a run to a file at `path`.

    Raises `NoResultError` when the run lacks the table.
    """
    from pyarrow import parquet

    batches = iterate_batches(report, table.key, table.order)
    schema = schema_of(report, table)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_table(_cast(batch, schema))


def schema_of(report: Report, table: Table) -> Any:
    """Return the file's Arrow schema."""
    import pyarrow as pa

    kinds = arrow_types(zone_name(report.zone))
    about = {
        "rocketscope.schema": str(SCHEMA_VERSION),
        "rocketscope.table": table.key,
        "rocketscope.cluster": report.cluster,
        "rocketscope.group": report.group,
        "rocketscope.since": report.run.summary["since"],
        "rocketscope.until": report.run.summary["until"],
        "rocketscope.step_seconds": str(report.step_seconds),
    }
    return pa.schema(
        [
            pa.field(
                column.key,
                kinds[column.kind],
                metadata={UNIT: column.unit} if column.unit else None,
            )
            for column in table.columns
        ],
        metadata=about,
    )


def arrow_types(zone: str) -> Mapping[Kind, Any]:
    """Return the Arrow type of each kind of column; times are in a zone."""
    import pyarrow as pa

    return {
        Kind.TEXT: pa.string(),
        Kind.COUNT: pa.int64(),
        Kind.NUMBER: pa.float64(),
        Kind.TIME: pa.timestamp("ms", tz=zone),
        Kind.FLAG: pa.bool_(),
    }


def zone_name(zone: tzinfo) -> str:
    """Return a zone's name as Arrow takes it: from the zone database, else UTC."""
    return str(getattr(zone, "key", "UTC"))


def _cast(batch: Any, schema: Any) -> Any:
    import pyarrow as pa

    arrays = []
    for field in schema:
        if field.name not in batch.schema.names:
            arrays.append(pa.nulls(batch.num_rows, field.type))
        else:
            arrays.append(_column(batch.column(field.name), field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def _column(array: Any, kind: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_timestamp(kind) and array.type.tz is None:
        array = pc.assume_timezone(array, "UTC")  # times from Spark are in UTC
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    return array.cast(kind, safe=not pa.types.is_timestamp(kind))
