"""The jobs of `python -m analytics`: read the lake, transform, write Parquet and JSON.

A job reads exactly the files of one manifest, so that it sees one state of the lake
however long it takes. Its output is a folder per data set and, written last,
`summary.json`: without that file an output is not complete. Each phase reports its
progress and asks whether it should stop.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from analytics import contracts as c
from analytics.division import candidates_of
from analytics.lake.compaction import absorb
from analytics.lake.manifest import load_manifest
from analytics.lake.reader import count_rows
from analytics.lake.storage import Storage, open_storage
from analytics.requests import JobRequest, Progress, iso
from analytics.rollup import roll_up
from analytics.session import check_address
from analytics.sources import (
    Chosen,
    choose_source,
    period_of,
    plan_work,
    read_input,
)
from analytics.transforms.divisions import owners_in_use
from analytics.transforms.lag import (
    lag_by_consumer,
    lag_by_group,
    lag_by_queue,
    lag_by_topic,
    steps_of_parts,
)
from analytics.transforms.spread import write_buckets
from analytics.trials import run_trial, with_step

logger = logging.getLogger(__name__)

_COMPILED_FROM_ROWS: Final = 500_000
"""Below this size, compiling the queries takes longer than running them interpreted."""

_ROWS_A_TASK: Final = 1_000_000
"""Few enough samples for a task to sum in memory, but enough to be worth a task."""

_FEWEST_PIECES: Final = 2
_LEAST_BYTES: Final = 1 << 20

_WITH_LAG: Final = frozenset({c.JOB_LAG, c.JOB_REPORT})
_WITH_SKEW: Final = frozenset({c.JOB_SKEW, c.JOB_REPORT, c.JOB_BACKTEST})


def run_job(
    start: Callable[[], SparkSession], request: JobRequest, progress: Progress
) -> dict[str, Any]:
    """Run a job and return its summary, which is also written.

    `start` returns the session, and is only called when there is something to read.
    Roll-ups go into the lake, so their summary is returned but not written. Raises
    `JobError` when the lake holds no sample for the request.
    """
    lake = open_storage(request.lake)
    progress(0.0, "listing")
    for dataset in (c.SAMPLES, c.EPOCHS):
        absorb(lake, dataset)
    if request.job == c.JOB_ROLLUP:
        progress(0.05, "starting")
        spark = start()
        check_address(spark, lake.url)
        return _rolled_up(spark, lake, progress)
    chosen = choose_source(lake, request)
    if request.job == c.JOB_TRIAL:
        request = with_step(request, chosen)
    progress(0.05, "starting")
    spark = start()
    output = open_storage(request.output)
    for each in (lake, output):
        check_address(spark, each.url)
    _tune(spark, chosen)
    summary = _summary(request, chosen, load_manifest(lake, c.SAMPLES).version)
    if request.job == c.JOB_TRIAL:
        source = read_input(spark, lake, request, chosen)
        summary |= run_trial(source, request, _pieces_of(chosen), progress)
    else:
        work = _Work(spark, lake, chosen, request, progress)
        summary["rows"] = work.run()
    progress(0.95, "summary")
    output.write_new(c.SUMMARY, json.dumps(summary, indent=1).encode())
    progress(1.0, "done")
    return summary


def _rolled_up(
    spark: SparkSession, lake: Storage, progress: Progress
) -> dict[str, Any]:
    _tune(spark, None)
    done = roll_up(spark, lake, progress)
    progress(1.0, "done")
    return {"schema": c.SCHEMA_VERSION, "job": c.JOB_ROLLUP, **done}


class _Work:
    """One run over one input; frames that several outputs share are kept in memory."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Storage,
        chosen: Chosen,
        request: JobRequest,
        progress: Progress,
    ) -> None:
        self._spark = spark
        self._lake = lake
        self._chosen = chosen
        self._request = request
        self._output = open_storage(request.output)
        self._progress = progress
        self._kept: list[DataFrame] = []
        self._rows: dict[str, int] = {}

    def run(self) -> dict[str, int]:
        """Write every data set that the job has; return their rows by name."""
        try:
            self._run()
        finally:
            for frame in self._kept:
                frame.unpersist()
        return self._rows

    def _run(self) -> None:
        if self._request.job in _WITH_LAG:
            self._lag()
        if self._request.job in _WITH_SKEW:
            self._spread()

    def _lag(self) -> None:
        source = read_input(self._spark, self._lake, self._request, self._chosen)
        pieces = _pieces_of(self._chosen)
        steps = self._keep(
            steps_of_parts(source.parts, source.there, source.period, pieces=pieces)
        )
        owners = owners_in_use(source.epochs, source.period.since_ms, pieces=pieces)
        by_queue = self._keep(lag_by_queue(steps))
        self._write(c.LAG_BY_QUEUE, by_queue, 0.4)
        by_group = lag_by_group(source.peaks, steps, by_queue)
        self._write(c.LAG_BY_GROUP, by_group, 0.5)
        by_topic = lag_by_topic(source.peaks, steps, by_queue)
        self._write(c.LAG_BY_TOPIC, by_topic, 0.55)
        by_consumer = lag_by_consumer(steps, owners, source.seen)
        self._write(c.LAG_BY_CONSUMER, by_consumer, 0.6)

    def _spread(self) -> None:
        request = self._request
        candidates = candidates_of(
            request.options, request.added_members, request.strategies
        )
        wanted = [c.LOAD_BY_MEMBER, c.SKEW_BY_TIME, c.STRATEGIES]
        # For all groups, this would be more rows than there are samples in a step.
        is_small = request.job == c.JOB_REPORT and bool(request.groups)
        if is_small or request.job == c.JOB_BACKTEST:
            wanted.append(c.MEMBER_BY_TIME)
        buckets, work = plan_work(self._lake, request, self._chosen, candidates, wanted)
        self._progress(0.65, "samples")
        write_buckets(self._spark, self._lake, buckets, work, self._output)
        for dataset in wanted:
            self._rows[dataset] = count_rows(self._output, dataset)
        self._progress(0.9, c.SKEW_BY_TIME)

    def _keep(self, frame: DataFrame) -> DataFrame:
        self._kept.append(frame.persist())
        return frame

    def _write(self, dataset: str, frame: DataFrame, done: float) -> None:
        frame.write.mode("overwrite").parquet(self._output.uri(dataset))
        self._rows[dataset] = count_rows(self._output, dataset)
        self._progress(done, dataset)


def _pieces_of(source: Chosen) -> int:
    return 1 + source.rows // _ROWS_A_TASK


def _tune(spark: SparkSession, source: Chosen | None) -> None:
    """Fit Spark to the size of the input; every job sets the same keys."""
    rows = source.rows if source else 0
    size = sum(file.size for file in source.files) if source else 0
    is_large = rows >= _COMPILED_FROM_ROWS
    spark.conf.set("spark.sql.codegen.wholeStage", str(is_large).lower())
    mode = "FALLBACK" if is_large else "NO_CODEGEN"
    spark.conf.set("spark.sql.codegen.factoryMode", mode)
    pieces = max(_FEWEST_PIECES, 1 + rows // _ROWS_A_TASK)
    spark.conf.set("spark.sql.shuffle.partitions", str(pieces))
    # Byte sizes say little about rows that compress this well: a task would get
    # millions.
    task_bytes = max(_LEAST_BYTES, _ROWS_A_TASK * size // max(1, rows))
    spark.conf.set("spark.sql.files.maxPartitionBytes", str(task_bytes))
    spark.conf.set("spark.sql.files.openCostInBytes", str(task_bytes // 64))


def _summary(
    request: JobRequest, source: Chosen, manifest_version: int
) -> dict[str, Any]:
    period = period_of(source, request)
    return {
        "schema": c.SCHEMA_VERSION,
        "job": request.job,
        "since": iso(period.since_ms),
        "until": iso(period.until_ms),
        "step_seconds": period.step_ms // 1000,
        "clusters": list(request.clusters),
        "groups": list(request.groups),
        "source": source.name,
        "samples": source.rows,
        "manifest_version": manifest_version,
        "rows": {},
    }
