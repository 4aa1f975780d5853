"""What a task of a roll-up does: sum a landing file, or merge a bucket of a rung."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from analytics.lake.buckets import Bucket, only_held, read_groups
from analytics.lake.manifest import FileEntry
from analytics.lake.storage import Storage

from .parts import OF_SAMPLES, SCHEMAS, merged_table, rolled_up


def roll_file(lake: Storage, file: FileEntry, step_ms: int) -> dict[str, Any]:
    """Return the parts and peaks of a landing file, by family.

    A moment of a group is whole within one file, so that its peaks are.
    """
    bucket = Bucket(file.cluster, "", "")
    try:
        tables = list(_read(lake, [file], OF_SAMPLES, bucket))
    except FileNotFoundError:
        return {}
    return rolled_up(pa.concat_tables(tables), step_ms)


def merge_bucket(
    lake: Storage, bucket: Bucket, work: tuple[str, Sequence[FileEntry], int]
) -> dict[str, Any]:
    """Return what files of a rung have of a bucket's groups, merged into steps."""
    family, files, step_ms = work
    own = [file for file in files if file.cluster == bucket.cluster]
    names = SCHEMAS[family].names
    tables = [only_held(table, bucket) for table in _read(lake, own, names, bucket)]
    rows = pa.concat_tables(tables) if tables else SCHEMAS[family].empty_table()
    return {family: merged_table(family, rows, step_ms)}


def _read(
    lake: Storage, files: Sequence[FileEntry], names: Sequence[str], bucket: Bucket
) -> Iterator[Any]:
    return read_groups(
        lake,
        files,
        names,
        since_ms=min((file.first_ms for file in files), default=0),
        until_ms=max((file.last_ms for file in files), default=0) + 1,
        groups=(),
        bucket=bucket,
    )
