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
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  the usual name
from pyspark.sql.pandas.types import from_arrow_schema

from analytics import contracts as c
from analytics.errors import AnalyticsError
from analytics.lake.carrying import Merge, add_batch, carry
from analytics.lake.damaged import put_aside
from analytics.lake.ladder import FAMILIES, PEAKS, QUEUES
from analytics.lake.manifest import FileEntry
from analytics.lake.naming import LANDING
from analytics.lake.source_log import CHECKPOINT, READ_WITHIN_MS, thin_log
from analytics.lake.storage import Storage
from analytics.lake.streamed import check_checkpoint, unread_files
from analytics.requests import Progress
from analytics.schemas import PARTS, SAMPLES
from analytics.schemas import PEAKS as PEAKS_SCHEMA
from analytics.session import close_callback_connections
from analytics.transforms.parts import (
    STEP,
    merged_parts,
    merged_peaks,
    parts_of,
    peaks_of,
)

FILES_A_BATCH: Final = 10
"""Minutes of landing files in one batch, when there is a backlog to catch up with."""

BATCHES_KEPT: Final = 20
"""Batches whose notes the checkpoint keeps; continuing needs the last two."""

_SCHEMAS: Final = {QUEUES: PARTS, PEAKS: PEAKS_SCHEMA}
_OF_SAMPLES: Final = {QUEUES: parts_of, PEAKS: peaks_of}
_MERGED: Final = {QUEUES: merged_parts, PEAKS: merged_peaks}
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
    carried = 0
    for at, (lower, upper) in enumerate(
        zip(c.ROLLUP_LEVELS, c.ROLLUP_LEVELS[1:], strict=False)
    ):
        progress(0.9 + at / 20, f"rollup_{upper}")
        for family in FAMILIES:
            merge = _merge_with(spark, lake, family)
            now_ms = int(time.time() * 1000)
            carried += carry(lake, family, lower, upper, merge=merge, now_ms=now_ms)
    return {
        "files": files,
        "damaged": len(damaged),
        "batches": done,
        "carried": carried,
    }


def frame_of(
    spark: SparkSession, lake: Storage, family: str, files: Sequence[FileEntry]
) -> DataFrame:
    """Return the parts, or peaks, in files of the ladder."""
    schema = from_arrow_schema(_SCHEMAS[family])
    if not files:
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).parquet(*(lake.uri(file.path) for file in files))


def _stream(
    spark: SparkSession, lake: Storage, progress: Progress, batches: int
) -> int:
    source = lake.uri(f"{LANDING}/{c.SAMPLES}")
    if not lake.list_files(f"{LANDING}/{c.SAMPLES}"):
        return 0
    done = 0
    failure: Exception | None = None

    def write(samples: DataFrame, number: int) -> None:
        nonlocal done, failure
        try:
            progress(0.1 + 0.8 * min(1.0, done / max(1, batches)), "samples")
            _write_batch(lake, samples, number)
            done += 1
        except Exception as error:
            failure = error
            raise

    spark.conf.set("spark.sql.streaming.minBatchesToRetain", str(BATCHES_KEPT))
    query = (
        spark.readStream.schema(from_arrow_schema(SAMPLES))
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


def _write_batch(lake: Storage, samples: DataFrame, number: int) -> None:
    step_ms = c.ROLLUP_LEVELS[0] * 1000
    samples.persist()
    try:
        for family in FAMILIES:
            parts = _OF_SAMPLES[family](samples, step_ms)
            add_batch(lake, family, number, partial(_table, parts, family))
    finally:
        samples.unpersist()


def _merge_with(spark: SparkSession, lake: Storage, family: str) -> Merge:
    def merge(files: list[FileEntry], step_ms: int) -> Any:
        parts = frame_of(spark, lake, family, files)
        return _table(_MERGED[family](parts, step_ms), family)

    return merge


def _table(frame: DataFrame, family: str) -> Any:
    schema = _SCHEMAS[family]
    named = frame.withColumn(c.TIME, F.timestamp_millis(STEP)).select(*schema.names)
    return named.toArrow().cast(schema)
