"""The jobs of `python -m analytics`: read the lake, transform, write Parquet and JSON.

A job reads exactly the files of one manifest, so that it sees one state of the lake
however long it takes. Its output is a folder per data set and, written last,
`summary.json`: without that file an output is not complete. Each phase reports its
progress and asks whether it should stop.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  the usual name
from pyspark.sql.pandas.types import from_arrow_schema

from analytics import contracts as c
from analytics.division import IN_USE, Candidate, candidates_of
from analytics.errors import JobError
from analytics.lake.compaction import absorb
from analytics.lake.manifest import FileEntry, load_manifest
from analytics.lake.reader import count_rows
from analytics.lake.storage import Storage, open_storage
from analytics.requests import JobRequest, Progress, iso, step_for
from analytics.schemas import schema_of
from analytics.transforms.divisions import divisions, owners_in_use
from analytics.transforms.epochs import (
    members,
    newest_epochs,
    strategies_in_use,
    with_weights,
)
from analytics.transforms.lag import (
    lag_by_consumer,
    lag_by_group,
    lag_by_queue,
    owners_seen,
    queue_steps,
)
from analytics.transforms.skew import (
    load_by_member,
    member_steps,
    moves_between_epochs,
    skew_by_time,
    strategy_totals,
)

logger = logging.getLogger(__name__)

_COMPILED_FROM_ROWS: Final = 1_000_000
"""Below this, compiling the queries takes longer than running them interpreted."""

_EPOCHS_A_TASK: Final = 500
_MOST_TASKS: Final = 64
_LOOK_BACK_MS: Final = 180_000
"""Samples before the period that give its first step a rate."""


@dataclass(frozen=True, slots=True)
class Input:
    """What one job reads: frames cut to the request, and facts about them."""

    samples: DataFrame
    epochs: DataFrame
    since_ms: int
    until_ms: int
    step_seconds: int
    sample_rows: int
    epoch_rows: int
    manifest_version: int


def run_job(
    start: Callable[[], SparkSession], request: JobRequest, progress: Progress
) -> dict[str, Any]:
    """Run a job and return its summary, which is also written.

    `start` gives the session, and is only called once there is something to read.
    Raises `JobError` when the lake holds no sample for the request.
    """
    lake = open_storage(request.lake)
    progress(0.0, "listing")
    for dataset in (c.SAMPLES, c.EPOCHS):
        absorb(lake, dataset)
    files = _files(lake, request)
    progress(0.05, "starting")
    spark = start()
    source = _read(spark, lake, request, files)
    output = open_storage(request.output)
    _tune(spark, source.sample_rows)
    work = _Work(source, request, output, progress)
    tables = work.run()
    progress(0.95, "summary")
    summary = _summary(request, source, tables)
    output.write_new(c.SUMMARY, json.dumps(summary, indent=1).encode())
    progress(1.0, "done")
    return summary


class _Work:
    """One run over one input; frames that several outputs share are kept in memory."""

    def __init__(
        self, source: Input, request: JobRequest, output: Storage, progress: Progress
    ) -> None:
        self._source = source
        self._request = request
        self._output = output
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
        job, source = self._request.job, self._source
        candidates = candidates_of(self._request.options, self._request.added_members)
        steps = self._keep(queue_steps(source.samples, source.step_seconds))
        steps = steps.where(F.col(c.SINCE) >= _moment(source.since_ms))
        epochs = self._keep(newest_epochs(source.epochs, source.since_ms))
        pieces = min(_MOST_TASKS, 1 + source.epoch_rows // _EPOCHS_A_TASK)
        divided = self._keep(
            divisions(with_weights(epochs, steps), candidates, pieces=pieces)
        )
        self._progress(0.2, "samples")
        if job in {c.JOB_LAG, c.JOB_REPORT}:
            self._lag(steps, owners_in_use(divided, epochs))
        if job in {c.JOB_SKEW, c.JOB_REPORT}:
            self._skew(steps, epochs, divided, candidates)

    def _lag(self, steps: DataFrame, owners: DataFrame) -> None:
        source = self._source
        by_queue = self._keep(lag_by_queue(steps))
        self._write(c.LAG_BY_QUEUE, by_queue, 0.4)
        samples = source.samples.where(F.col(c.TIME) >= _moment(source.since_ms))
        by_group = lag_by_group(samples, by_queue, source.step_seconds)
        self._write(c.LAG_BY_GROUP, by_group, 0.5)
        seen = owners_seen(samples, source.step_seconds)
        self._write(c.LAG_BY_CONSUMER, lag_by_consumer(steps, owners, seen), 0.6)

    def _skew(
        self,
        steps: DataFrame,
        epochs: DataFrame,
        divided: DataFrame,
        candidates: list[Candidate],
    ) -> None:
        everyone = members(epochs)
        by_member = self._keep(member_steps(steps, divided, candidates))
        self._write(c.LOAD_BY_MEMBER, load_by_member(by_member, everyone), 0.75)
        by_time = self._keep(skew_by_time(by_member, epochs, candidates))
        told = F.col(c.STRATEGY) != IN_USE
        self._write(c.SKEW_BY_TIME, by_time.where(told), 0.85)
        moved = moves_between_epochs(divided, everyone, candidates)
        keys = [c.CLUSTER, c.GROUP, c.STRATEGY]
        totals = (
            strategy_totals(by_time.where(told))
            .join(moved, on=keys, how="left")
            .join(strategies_in_use(epochs), on=keys, how="left")
            .withColumn(c.IN_USE, F.coalesce(c.IN_USE, F.lit(False)))
        )
        self._write(c.STRATEGIES, totals, 0.95)

    def _keep(self, frame: DataFrame) -> DataFrame:
        self._kept.append(frame.persist())
        return frame

    def _write(self, dataset: str, frame: DataFrame, done: float) -> None:
        frame.write.mode("overwrite").parquet(self._output.uri(dataset))
        self._rows[dataset] = count_rows(self._output, dataset)
        self._progress(done, dataset)


def _tune(spark: SparkSession, rows: int) -> None:
    is_large = rows >= _COMPILED_FROM_ROWS
    spark.conf.set("spark.sql.codegen.wholeStage", str(is_large).lower())
    mode = "FALLBACK" if is_large else "NO_CODEGEN"
    spark.conf.set("spark.sql.codegen.factoryMode", mode)


def _files(lake: Storage, request: JobRequest) -> tuple[list[FileEntry], int]:
    manifest = load_manifest(lake, c.SAMPLES)
    clusters = request.clusters or None
    files = manifest.select(request.since_ms, request.until_ms, clusters)
    if not files:
        raise JobError(
            f"the lake at {lake.url} holds no sample "
            f"{_period_words(request)}; it has {manifest.rows} in all"
        )
    return files, manifest.version


def _read(
    spark: SparkSession,
    lake: Storage,
    request: JobRequest,
    listed: tuple[list[FileEntry], int],
) -> Input:
    files, version = listed
    first_ms = min(file.first_ms for file in files)
    last_ms = max(file.last_ms for file in files)
    since_ms = first_ms if request.since_ms is None else request.since_ms
    until_ms = last_ms + 1 if request.until_ms is None else request.until_ms
    observed_ms = min(until_ms, last_ms + 1) - max(since_ms, first_ms)
    step_seconds = request.step_seconds or step_for(observed_ms)
    since_ms -= since_ms % (step_seconds * 1000)  # else the first step is a part
    before = load_manifest(lake, c.SAMPLES).select(since_ms - _LOOK_BACK_MS, until_ms)
    paths = {file.path for file in files}
    paths.update(
        file.path
        for file in before
        if not request.clusters or file.cluster in request.clusters
    )
    samples = _frame(spark, lake, c.SAMPLES, sorted(paths))
    is_wanted = (F.col(c.TIME) >= _moment(since_ms - _LOOK_BACK_MS)) & (
        F.col(c.TIME) < _moment(until_ms)
    )
    epochs = load_manifest(lake, c.EPOCHS).select(None, until_ms)
    return Input(
        samples=_only(samples, request).where(is_wanted),
        epochs=_only(
            _frame(spark, lake, c.EPOCHS, [file.path for file in epochs]), request
        ),
        since_ms=since_ms,
        until_ms=until_ms,
        step_seconds=step_seconds,
        sample_rows=sum(file.rows for file in files),
        epoch_rows=sum(file.rows for file in epochs),
        manifest_version=version,
    )


def _frame(
    spark: SparkSession, lake: Storage, dataset: str, paths: list[str]
) -> DataFrame:
    schema = from_arrow_schema(schema_of(dataset))
    if not paths:
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).parquet(*(lake.uri(path) for path in paths))


def _only(frame: DataFrame, request: JobRequest) -> DataFrame:
    if request.clusters:
        frame = frame.where(F.col(c.CLUSTER).isin(*request.clusters))
    if request.groups:
        frame = frame.where(F.col(c.GROUP).isin(*request.groups))
    return frame


def _summary(
    request: JobRequest, source: Input, tables: Mapping[str, int]
) -> dict[str, Any]:
    return {
        "schema": c.SCHEMA_VERSION,
        "job": request.job,
        "since": iso(source.since_ms),
        "until": iso(source.until_ms),
        "step_seconds": source.step_seconds,
        "clusters": list(request.clusters),
        "groups": list(request.groups),
        "samples": source.sample_rows,
        "manifest_version": source.manifest_version,
        "rows": dict(tables),
    }


def _moment(ms: int) -> Any:
    return F.timestamp_millis(F.lit(ms))


def _period_words(request: JobRequest) -> str:
    since = "" if request.since_ms is None else f"since {iso(request.since_ms)} "
    until = "" if request.until_ms is None else f"until {iso(request.until_ms)} "
    where = (
        f"of {', '.join(request.clusters)}" if request.clusters else "of any cluster"
    )
    return f"{since}{until}{where}"
