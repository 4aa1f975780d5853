"""The stream of samples into the ladder of roll-ups; see `analytics.lake.ladder`.

Runs until everything that has landed is read, then ends; the checkpoint records where
to continue. A batch that was cut short is read again from the same files under the same
number, and its files have the same names: files already written stay, and the missing
ones follow. So each sample is counted once, however often anything is killed.

A sample may come late as long as its landing file is kept (`retention.RAW_KEPT_MS`):
it makes a part of its own, which adds up with what was there before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from analytics import contracts as c
from analytics.errors import AnalyticsError
from analytics.lake.buckets import plan_buckets
from analytics.lake.carrying import Merge, add_batch, carry
from analytics.lake.damaged import put_aside
from analytics.lake.ladder import FAMILIES
from analytics.lake.manifest import FileEntry
from analytics.lake.naming import LANDING
from analytics.lake.reader import read_entry
from analytics.lake.source_log import (
    CHECKPOINT,
    READ_WITHIN_MS,
    files_of_batch,
    thin_log,
)
from analytics.lake.storage import Storage
from analytics.lake.streamed import check_checkpoint, unread_files
from analytics.requests import Progress
from analytics.session import close_callback_connections
from analytics.sources import ROWS_A_BUCKET
from analytics.transforms.parts import SCHEMAS, merged_table
from analytics.transforms.rolling import merge_bucket, roll_file
from analytics.transforms.tasks import Make, Told, made_tables

FILES_A_BATCH: Final = 10
"""Minutes of landing files in one batch, when there is a backlog to catch up with."""

BATCHES_KEPT: Final = 20
"""Batches whose notes the checkpoint keeps; continuing needs the last two."""

ROWS_HERE: Final = 250_000
"""So few rows are rolled up here, before workers of Spark would have started."""

_POLL_SECONDS: Final = 1


def roll_up(spark: SparkSession, lake: Storage, progress: Progress) -> dict[str, int]:
    """Read what has landed, carry what is complete; return what was done.

    `progress` may raise to stop the work; the next run continues where it stopped.
    """
    check_checkpoint(lake)
    thin_log(lake)
    unread = unread_files(lake, c.SAMPLES)
    damaged = put_aside(lake, unread)
    files = len(unread) - len(damaged)
    done = _stream(spark, lake, progress, batches=-(-files // FILES_A_BATCH))
    carried = carry_up(spark, lake, progress, now_ms=int(time.time() * 1000))
    return {
        "files": files,
        "damaged": len(damaged),
        "batches": done,
        "carried": carried,
    }


def write_batch(
    spark: SparkSession, lake: Storage, number: int, paths: Sequence[str], told: Told
) -> None:
    """Put what some landing files have on the lowest rung, as a batch of the stream."""
    rolled = cache(partial(_rolled, spark, lake, paths, told))
    for family in FAMILIES:
        add_batch(lake, family, number, partial(_taken, rolled, family))


def carry_up(
    spark: SparkSession, lake: Storage, progress: Progress, *, now_ms: int
) -> int:
    """Carry what is complete to the rungs above; return how many spans were carried."""
    carried = 0
    for at, (lower, upper) in enumerate(
        zip(c.ROLLUP_LEVELS, c.ROLLUP_LEVELS[1:], strict=False)
    ):
        told = _telling(progress, 0.9 + at / 20, f"rollup_{upper}")
        told(0.0)
        for family in FAMILIES:
            merge = _merge_with(spark, lake, family, told)
            carried += carry(lake, family, lower, upper, merge=merge, now_ms=now_ms)
    return carried


def _telling(progress: Progress, part: float, phase: str) -> Told:
    """Return what asks whether to stop, and tells no more than a phase."""
    return lambda _share: progress(part, phase)


def _taken(rolled: Callable[[], dict[str, Any]], family: str) -> Any:
    return rolled()[family]


def _stream(
    spark: SparkSession, lake: Storage, progress: Progress, batches: int
) -> int:
    source = lake.uri(f"{LANDING}/{c.SAMPLES}")
    if not lake.list_files(f"{LANDING}/{c.SAMPLES}"):
        return 0
    done = 0
    failure: Exception | None = None

    def told(share: float) -> None:
        progress(0.1 + 0.8 * min(1.0, (done + share) / max(1, batches)), "samples")

    def write(_samples: DataFrame, number: int) -> None:
        nonlocal done, failure
        try:
            told(0.0)
            write_batch(spark, lake, number, files_of_batch(lake, number), told)
            done += 1
        except Exception as error:
            failure = error
            raise

    spark.conf.set("spark.sql.streaming.minBatchesToRetain", str(BATCHES_KEPT))
    query = (
        # Spark keeps the account of files and batches; their rows are read elsewhere.
        spark.readStream.schema(f"{c.TIME} timestamp")
        # Folders are named by cluster and day; the columns are in the files.
        .option("recursiveFileLookup", "true")
        .option("maxFilesPerTrigger", FILES_A_BATCH)
        .option("maxFileAge", f"{READ_WITHIN_MS}ms")
        # An interrupted batch may name files that have since been given up or set
        # aside.
        .option("ignoreMissingFiles", "true")
        .parquet(source)
        .writeStream.foreachBatch(write)
        .option("checkpointLocation", lake.uri(CHECKPOINT))
        .trigger(availableNow=True)
        .start()
    )
    try:
        while not query.awaitTermination(_POLL_SECONDS):
            pass
    except Exception as error:
        # Spark's own message is a page long; the exception raised inside is the reason.
        raise (failure or AnalyticsError(str(error).splitlines()[0])) from error
    finally:
        query.stop()
        close_callback_connections(spark)
    return done


def _rolled(
    spark: SparkSession, lake: Storage, paths: Sequence[str], told: Told
) -> dict[str, Any]:
    """Return the parts and peaks of landing files, by family."""
    step_ms = c.ROLLUP_LEVELS[0] * 1000
    files = [entry for path in paths if (entry := _entry(lake, path)) is not None]
    rows = sum(file.rows for file in files)
    found = _made(spark, lake, files, step_ms, roll_file, rows=rows, told=told)
    return {
        family: merged_table(family, _joined(family, found), step_ms)
        for family in FAMILIES
    }


def _entry(lake: Storage, path: str) -> FileEntry | None:
    try:
        return read_entry(lake, path, size=0)
    except FileNotFoundError:  # given up or set aside since the batch was planned
        return None


def _merge_with(spark: SparkSession, lake: Storage, family: str, told: Told) -> Merge:
    def merge(files: list[FileEntry], step_ms: int) -> Any:
        if not files:
            return SCHEMAS[family].empty_table()
        buckets = plan_buckets(
            lake,
            files,
            sorted({file.cluster for file in files}),
            since_ms=min(file.first_ms for file in files),
            until_ms=max(file.last_ms for file in files) + 1,
            rows_each=ROWS_A_BUCKET,
        )
        work = (family, files, step_ms)
        rows = sum(file.rows for file in files)
        found = _made(spark, lake, buckets, work, merge_bucket, rows=rows, told=told)
        return _joined(family, found)

    return merge


def _made(
    spark: SparkSession,
    lake: Storage,
    items: Sequence[Any],
    work: Any,
    make: Make,
    *,
    rows: int,
    told: Told,
) -> list[dict[str, Any]]:
    """Return the tables that a function makes of each item, here if there are few rows.

    Elsewhere, each item is a task of Spark.
    """
    if rows > ROWS_HERE:
        return made_tables(spark, lake, items, work, make, told=told)
    return [make(lake, item, work) for item in items]


def _joined(family: str, found: Sequence[dict[str, Any]]) -> Any:
    tables = [each[family] for each in found if family in each]
    return pa.concat_tables([SCHEMAS[family].empty_table(), *tables])
