"""Work on a lake by buckets of groups: a task of Spark each, and no shuffle.

Spark divides the work and repeats what is lost; each task reads its own files and
writes its own results: a file per bucket and data set, whole or not at all. What it
returns is small.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import SparkSession

from analytics.lake.buckets import Bucket
from analytics.lake.storage import Storage, open_storage

from .bucket import TABLES, bucket_tables
from .measured import BucketWork
from .trial import Tried, try_bucket

_SETTINGS: Final = ("ROCKETSCOPE_S3_", "AWS_")

Do = Callable[[Callable[[str], Storage], int, Bucket, BucketWork], Any]
"""What a task does with a numbered bucket; it is given what opens a storage."""


def write_buckets(
    spark: SparkSession,
    lake: Storage,
    buckets: Sequence[Bucket],
    work: BucketWork,
    output: Storage,
) -> dict[str, int]:
    """Write the wanted data sets of all buckets, replacing older ones.

    Returns their numbers of rows.
    """
    for dataset in work.wanted:
        output.delete_tree(dataset)
    rows: Counter[str] = Counter()
    for written in _done(spark, buckets, work, _writer(lake.url, output.url)):
        rows.update(written)
    for dataset in work.wanted:
        if not rows[dataset]:
            output.delete_tree(dataset)
            _write_empty(output, dataset)
    return {dataset: rows[dataset] for dataset in work.wanted}


def try_buckets(
    spark: SparkSession, lake: Storage, buckets: Sequence[Bucket], work: BucketWork
) -> list[Tried]:
    """Return what a rule would have done in each bucket."""
    return _done(spark, buckets, work, _trier(lake.url))


def _writer(lake_url: str, output_url: str) -> Do:
    def write(
        opened: Callable[[str], Storage], piece: int, bucket: Bucket, work: BucketWork
    ) -> dict[str, int]:
        rows: Counter[str] = Counter()
        with _Files(opened(output_url), piece) as files:
            for dataset, table in bucket_tables(opened(lake_url), bucket, work):
                if dataset in work.wanted and table.num_rows:
                    files.write(dataset, table)
                    rows[dataset] += table.num_rows
        return dict(rows)

    return write


def _trier(lake_url: str) -> Do:
    def try_it(
        opened: Callable[[str], Storage], _piece: int, bucket: Bucket, work: BucketWork
    ) -> Tried:
        return try_bucket(opened(lake_url), bucket, work)

    return try_it


def _done(
    spark: SparkSession, buckets: Sequence[Bucket], work: BucketWork, do: Do
) -> list[Any]:
    """Run a task for each bucket, and return what they return."""
    if not buckets:
        return []
    # Executors elsewhere have neither this environment nor Spark's settings for S3.
    settings = {
        name: value for name, value in os.environ.items() if name.startswith(_SETTINGS)
    }
    context = spark.sparkContext
    # A process reads a broadcast value once, and this function for every task.
    given = context.broadcast((settings, buckets, work))

    def run(piece: int) -> Any:
        settings, buckets, work = given.value
        return do(lambda url: open_storage(url, settings), piece, buckets[piece], work)

    try:
        return context.parallelize(range(len(buckets)), len(buckets)).map(run).collect()
    finally:
        given.destroy()


class _Files:
    """A file per data set, put into the output when all of them are complete."""

    def __init__(self, output: Storage, piece: int) -> None:
        self._output = output
        self._piece = piece
        self._stack = ExitStack()
        self._writers: dict[str, Any] = {}

    def __enter__(self) -> _Files:
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        return self

    def write(self, dataset: str, table: pa.Table) -> None:
        """Add rows to a data set's file."""
        if dataset not in self._writers:
            self._writers[dataset] = parquet.ParquetWriter(
                self._folder / dataset, table.schema, **_PARQUET
            )
        self._writers[dataset].write_table(table)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        with self._stack:
            for writer in self._writers.values():
                writer.close()
            if error is None:
                for dataset in self._writers:
                    path = _path(dataset, self._piece)
                    # An earlier task that was lost may have come this far.
                    self._output.write_file(path, self._folder / dataset)


# Readers see plain strings, whatever their type was here.
_PARQUET: Final[dict[str, Any]] = {"compression": "zstd", "store_schema": False}


def _write_empty(output: Storage, dataset: str) -> None:
    with _Files(output, 0) as files:
        files.write(dataset, TABLES[dataset].empty_table())


def _path(dataset: str, piece: int) -> str:
    return f"{dataset}/part-{piece:05d}.parquet"
