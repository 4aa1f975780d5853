"""Work on a lake in tasks of Spark, by buckets of groups or by files; no shuffle.

Spark divides the work and repeats what is lost; each task reads its own files. Those of
most jobs write their own results, a file per bucket and data set, whole or not at all,
and what they return is small. Those of roll-ups return tables, of which the driver
makes files.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow import parquet
from pyspark import SparkContext
from pyspark.sql import SparkSession

from analytics.lake.buckets import Bucket
from analytics.lake.storage import Storage, open_storage

from .bucket import TABLES, bucket_tables
from .measured import BucketWork
from .trial import Tried, try_bucket

_SETTINGS: Final = ("ROCKETSCOPE_S3_", "AWS_")
_TOLD_SECONDS: Final = 0.5

Do = Callable[[Callable[[str], Storage], int, Any, Any], Any]
"""What a task does with a numbered item (a bucket, or a file), and what all have in
common; it is given what opens a storage."""

Make = Callable[[Storage, Any, Any], dict[str, pa.Table]]
"""Makes tables of an item of a lake; takes what all items have in common, too."""

Told = Callable[[float], None]
"""Called with the share of the tasks that are done; may raise to stop them."""


def write_buckets(
    spark: SparkSession,
    lake: Storage,
    buckets: Sequence[Bucket],
    work: BucketWork,
    output: Storage,
    *,
    told: Told,
) -> dict[str, int]:
    """Write the wanted data sets of all buckets, replacing older ones.

    Returns their numbers of rows.
    """
    for dataset in work.wanted:
        output.delete_tree(dataset)
    rows: Counter[str] = Counter()
    for written in _done(spark, buckets, work, _writer(lake.url, output.url), told):
        rows.update(written)
    for dataset in work.wanted:
        if not rows[dataset]:
            output.delete_tree(dataset)
            _write_empty(output, dataset)
    return {dataset: rows[dataset] for dataset in work.wanted}


def try_buckets(
    spark: SparkSession,
    lake: Storage,
    buckets: Sequence[Bucket],
    work: BucketWork,
    told: Told,
) -> list[Tried]:
    """Return what a rule would have done in each bucket."""
    return _done(spark, buckets, work, _trier(lake.url), told)


def made_tables(
    spark: SparkSession,
    lake: Storage,
    items: Sequence[Any],
    work: Any,
    make: Make,
    *,
    told: Told,
) -> list[dict[str, pa.Table]]:
    """Return the tables that a function makes of each item."""
    packed = _done(spark, items, work, _maker(lake.url, make), told)
    return [
        {name: pa.ipc.open_stream(data).read_all() for name, data in each.items()}
        for each in packed
    ]


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


def _maker(lake_url: str, make: Make) -> Do:
    def made(
        opened: Callable[[str], Storage], _piece: int, item: Any, work: Any
    ) -> dict[str, bytes]:
        tables = make(opened(lake_url), item, work)
        return {name: _packed(table) for name, table in tables.items()}

    return made


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _done(
    spark: SparkSession, items: Sequence[Any], work: Any, do: Do, told: Told
) -> list[Any]:
    """Run a task for each item, and return what they return."""
    if not items:
        return []
    # Executors elsewhere have neither this environment nor Spark's settings for S3.
    settings = {
        name: value for name, value in os.environ.items() if name.startswith(_SETTINGS)
    }
    context = spark.sparkContext
    # A process reads a broadcast value once, and this function for every task.
    given = context.broadcast((settings, items, work))

    def run(piece: int) -> Any:
        settings, items, work = given.value
        return do(lambda url: open_storage(url, settings), piece, items[piece], work)

    try:
        tasks = context.parallelize(range(len(items)), len(items)).map(run)
        return _collected(context, tasks, len(items), told)
    finally:
        given.destroy()


def _collected(context: SparkContext, tasks: Any, count: int, told: Told) -> list[Any]:
    """Collect results, and meanwhile tell how many there are from another thread."""
    has_ended = threading.Event()
    stopped: list[Exception] = []

    def tell() -> None:
        done = 0
        while not has_ended.wait(_TOLD_SECONDS):
            try:
                # Spark counts none before the job has begun, and when it has ended.
                done = max(done, _completed(context))
                told(done / count)
            except Exception as error:
                stopped.append(error)
                # There is no other job; this one may not even have begun.
                context.cancelAllJobs()

    teller = threading.Thread(target=tell, name="progress")
    teller.start()
    try:
        found: list[Any] = tasks.collect()
    except Exception:
        if stopped:
            raise stopped[0] from None
        raise
    finally:
        has_ended.set()
        teller.join()
    if stopped:
        raise stopped[0]
    return found


def _completed(context: SparkContext) -> int:
    """Return how many tasks of the running job are done."""
    tracker = context.statusTracker()
    stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)


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
