"""Back-test a lake by buckets of groups: a task each, and no shuffle.

Spark divides the work and repeats what is lost; each task reads its own files and
writes its own results: a file per bucket and data set, whole or not at all.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import SparkSession

from analytics.lake.buckets import Bucket
from analytics.lake.storage import Storage, open_storage
from analytics.spread import TABLES

from .bucket import BucketWork, bucket_tables

_SETTINGS: Final = ("ROCKETSCOPE_S3_", "AWS_")
_PIECE: Final = "piece"

Batches = Iterator[pa.RecordBatch]


def write_buckets(
    spark: SparkSession,
    lake: Storage,
    buckets: Sequence[Bucket],
    work: BucketWork,
    output: Storage,
) -> None:
    """Write the wanted data sets of all buckets, replacing older ones."""
    for dataset in work.wanted:
        output.delete_tree(dataset)
    # Executors elsewhere have neither this environment nor Spark's settings for S3.
    settings = {
        name: value for name, value in os.environ.items() if name.startswith(_SETTINGS)
    }
    if buckets:
        # A process reads a broadcast value once, and this function for every task.
        given = spark.sparkContext.broadcast(
            (lake.url, output.url, settings, buckets, work)
        )
        pieces = spark.range(0, len(buckets), 1, len(buckets))
        try:
            pieces.mapInArrow(_writer(given), f"{_PIECE} int").collect()
        finally:
            given.destroy()
    for dataset in work.wanted:
        if not output.list_files(dataset):
            _write_empty(output, dataset)


def _writer(given: Any) -> Callable[[Batches], Batches]:
    def write(batches: Batches) -> Batches:
        lake_url, output_url, settings, buckets, work = given.value
        lake, output = (open_storage(url, settings) for url in (lake_url, output_url))
        for batch in batches:
            for piece in batch.column(0).to_pylist():
                with _Files(output, piece) as files:
                    for dataset, table in bucket_tables(lake, buckets[piece], work):
                        if dataset in work.wanted:
                            files.write(dataset, table)
                yield pa.RecordBatch.from_pydict(
                    {_PIECE: pa.array([piece], pa.int32())}
                )

    return write


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
