"""Batches on the ladder without Spark: one row of peaks each, told by its group."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c
from analytics.lake.carrying import add_batch, carry
from analytics.lake.ladder import PEAKS, view_from
from analytics.lake.manifest import FileEntry
from analytics.lake.reader import read_file
from analytics.lake.storage import Storage
from analytics.schemas import schema_of, table_of

LOWEST = f"rollup_peaks_{c.ROLLUP_LEVELS[0]}"


def put_peaks(
    storage: Storage, number: int, *times: int, clusters: tuple[str, ...] = ("a",)
) -> None:
    """Put a batch with a row of each time in each cluster; of no times it is empty."""
    add_batch(storage, PEAKS, number, lambda: _rows(number, times, clusters))


def carry_peaks(storage: Storage, now_ms: int) -> None:
    """Carry what is complete, up to the top."""

    def merge(files: list[FileEntry], step_ms: int) -> Any:
        rows = [read_file(storage, LOWEST, file.path) for file in files]
        table = pa.concat_tables([schema_of(LOWEST).empty_table(), *rows])
        at = table[c.TIME].cast(pa.int64())
        step = pc.multiply(pc.divide(at, step_ms), step_ms)
        place = table.schema.get_field_index(c.TIME)
        field = table.schema.field(place)
        return table.set_column(place, field, step.cast(field.type))

    for lower, upper in zip(c.ROLLUP_LEVELS, c.ROLLUP_LEVELS[1:], strict=False):
        carry(storage, PEAKS, lower, upper, merge=merge, now_ms=now_ms)


def batches_seen(storage: Storage, level: int) -> list[tuple[int, str]]:
    """Return batch and cluster of each row that is seen from a rung, in order."""
    return sorted(
        (int(row[c.GROUP]), row[c.CLUSTER])
        for file in view_from(storage, PEAKS, level).files
        for row in read_file(storage, LOWEST, file.path).to_pylist()
    )


def _rows(number: int, times: tuple[int, ...], clusters: tuple[str, ...]) -> Any:
    step_ms = c.ROLLUP_LEVELS[0] * 1000
    rows = [(time, cluster) for time in times for cluster in clusters]
    if not rows:
        return schema_of(LOWEST).empty_table()
    return table_of(
        LOWEST,
        {
            c.CLUSTER: [cluster for _time, cluster in rows],
            c.GROUP: str(number),
            c.TIME: [time - time % step_ms for time, _cluster in rows],
            c.LAG_PEAK: number,
        },
    )
