"""Read a data set without Spark: for pages, tests and small questions.

Reads what the newest manifest lists. If retention deletes a file in between, the reader
starts again with the current manifest.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from analytics import contracts as c
from analytics.errors import LakeError, MissingFileError
from analytics.schemas import schema_of, version_of

from .manifest import FileEntry, load_manifest
from .storage import Storage

_ATTEMPTS: Final = 3


def read_table(
    storage: Storage,
    dataset: str,
    *,
    since_ms: int | None = None,
    until_ms: int | None = None,
    clusters: Collection[str] | None = None,
    columns: Sequence[str] | None = None,
) -> Any:
    """Return the rows with `since_ms` <= time < `until_ms` as an Arrow table."""
    for attempt in range(_ATTEMPTS):
        files = load_manifest(storage, dataset).select(since_ms, until_ms, clusters)
        try:
            table = _read(storage, dataset, files, columns)
        except MissingFileError:
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            wanted = list(columns) if columns else schema_of(dataset).names
            return _within(table, since_ms, until_ms).select(wanted)
    raise AssertionError("unreachable")


def read_entry(storage: Storage, path: str, size: int) -> FileEntry:
    """Return a file's manifest entry, from its footer alone.

    Raises `LakeError` when it is not a Parquet file of a known schema.
    """
    try:
        with storage.open_input(path) as source:
            metadata = parquet.read_metadata(source)
            first_ms, last_ms = _span(metadata)
    except (pa.ArrowException, ValueError) as error:
        raise LakeError(f"{path} is not a readable Parquet file: {error}") from error
    except OSError as error:
        if "thrift" not in str(error):  # else the file is readable but makes no sense
            raise
        raise LakeError(f"{path} is not a readable Parquet file: {error}") from error
    return FileEntry(path, metadata.num_rows, size, first_ms, last_ms)


def read_file(
    storage: Storage, dataset: str, path: str, columns: Sequence[str] | None = None
) -> Any:
    """Return one file's rows in the data set's schema."""
    schema = schema_of(dataset)
    try:
        with storage.open_input(path) as source:
            table = parquet.ParquetFile(source).read(
                columns=list(columns) if columns else None
            )
    except FileNotFoundError as error:
        raise MissingFileError(f"{path} is gone") from error
    if version_of(table.schema) > c.SCHEMA_VERSION:
        raise LakeError(
            f"{path} has schema {version_of(table.schema)}, "
            f"this program reads up to {c.SCHEMA_VERSION}"
        )
    wanted = [schema.field(name) for name in columns] if columns else schema
    return table.cast(pa.schema(wanted, metadata=schema.metadata))


def count_rows(storage: Storage, folder: str) -> int:
    """Return the rows of every Parquet file in a folder, from their footers."""
    rows = 0
    for file in storage.list_files(folder):
        if file.path.endswith(".parquet"):
            with storage.open_input(file.path) as source:
                rows += parquet.read_metadata(source).num_rows
    return rows


def _read(
    storage: Storage,
    dataset: str,
    files: Sequence[FileEntry],
    columns: Sequence[str] | None,
) -> Any:
    schema = schema_of(dataset)
    read = list(columns) if columns else schema.names
    if c.TIME not in read:  # needed to cut the span
        read.append(c.TIME)
    parts = [read_file(storage, dataset, file.path, read) for file in files]
    return pa.concat_tables(parts) if parts else schema.empty_table().select(read)


def _within(table: Any, since_ms: int | None, until_ms: int | None) -> Any:
    if since_ms is not None:
        table = table.filter(pc.greater_equal(table[c.TIME], moment(since_ms)))
    if until_ms is not None:
        table = table.filter(pc.less(table[c.TIME], moment(until_ms)))
    return table


def moment(ms: int) -> Any:
    """Return a time in the form that Arrow compares."""
    return pa.scalar(ms, pa.timestamp("ms", tz="UTC"))


def _span(metadata: Any) -> tuple[int, int]:
    column = metadata.schema.names.index(c.TIME)
    first: datetime | None = None
    last: datetime | None = None
    for group in range(metadata.num_row_groups):
        statistics = metadata.row_group(group).column(column).statistics
        if statistics is None or not statistics.has_min_max:
            raise ValueError(f"no statistics for {c.TIME}")
        first = min(first or statistics.min, statistics.min)
        last = max(last or statistics.max, statistics.max)
    if first is None or last is None:
        raise ValueError("no row")
    return _ms(first), _ms(last)


def _ms(moment: datetime) -> int:
    return round(moment.astimezone(UTC).timestamp() * 1000)
