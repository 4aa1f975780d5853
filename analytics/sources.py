"""Choose what a job reads: samples, or the finest rung of the ladder that is suitable.

Samples are kept for two days and are many; the coarser roll-ups are, the further they
reach back. A job takes the first of samples, minutes, ten minutes and hours that
reaches back as far as any of them and has at most `MOST_ROWS` rows in the period; its
summary names the source. A source reaches back to where retention left it complete:
older rows that happen to remain are not read. The step of the result is never shorter
than that of the source.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  the usual name
from pyspark.sql.pandas.types import from_arrow_schema

from analytics import contracts as c
from analytics.division import Candidate
from analytics.errors import JobError
from analytics.lake.buckets import Bucket, plan_buckets
from analytics.lake.ladder import (
    MOST_ROWS,
    PEAKS,
    QUEUES,
    dataset_of,
    view_from,
)
from analytics.lake.manifest import FileEntry, load_manifest
from analytics.lake.storage import Storage
from analytics.presence import Period
from analytics.requests import JobRequest, iso, step_for
from analytics.schemas import schema_of
from analytics.transforms.bucket import BucketWork
from analytics.transforms.epochs import told_epochs
from analytics.transforms.lag import owners_seen
from analytics.transforms.parts import (
    REACH_MS,
    merged_parts,
    merged_peaks,
    parts_of,
    peaks_of,
)
from analytics.transforms.presence import queues_there

_LOOK_BACK_MS: Final = 180_000
"""Time read before the period, to give its first step a rate."""

_TOLD_WITHIN_MS: Final = 600_000
"""An epoch's rows are written this soon after it began or ended."""

ROWS_A_BUCKET: Final = 1_000_000
"""Few enough rows for a task to hold in memory, but enough to be worth a task."""

_FULL_REACH_MS: Final = 600_000
"""A source that begins this much later than another still reaches back as far."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A source: seconds of its steps (0 for samples), and its files of the period.

    Some of its data from before `whole_from_ms` has been deleted.
    """

    name: str
    level: int
    files: tuple[FileEntry, ...]
    whole_from_ms: int = 0

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def first_ms(self) -> int:
        first_ms = min(file.first_ms for file in self.files)
        return max(first_ms, self.whole_from_ms)

    @property
    def last_ms(self) -> int:
        return max(file.last_ms for file in self.files)


@dataclass(frozen=True, slots=True)
class Input:
    """What one job reads: parts and peaks of its steps, epochs, and facts about them.

    Parts begin somewhat before the period, for the rate of its first step. `there` are
    the queues that epochs name.
    """

    parts: DataFrame
    peaks: DataFrame
    seen: DataFrame
    epochs: DataFrame
    there: DataFrame
    period: Period
    source: Chosen
    manifest_version: int


def choose_source(
    lake: Storage, request: JobRequest, most_rows: int = MOST_ROWS
) -> Chosen:
    """Return the source for a request; raises `JobError` when nothing is there."""
    found = [each for each in _sources(lake, request) if each.files]
    if not found:
        manifest = load_manifest(lake, c.SAMPLES)
        raise JobError(
            f"the lake at {lake.url} holds no sample "
            f"{_period_words(request)}; it has {manifest.rows} in all"
        )
    # The first step tells a source's start only to within the length of that step.
    earliest = min(each.first_ms + each.level * 1000 for each in found)
    earliest = max(earliest, request.since_ms or earliest)
    reaching = [each for each in found if each.first_ms <= earliest + _FULL_REACH_MS]
    fitting = [each for each in reaching if each.rows <= most_rows]
    return fitting[0] if fitting else reaching[-1]


def period_of(source: Chosen, request: JobRequest) -> Period:
    """Return the period that a job covers.

    It begins on a whole step, and no earlier than the source is complete. Without a
    requested end, it ends with the source's last data.
    """
    since_ms = source.first_ms if request.since_ms is None else request.since_ms
    since_ms = max(since_ms, source.whole_from_ms)
    ended_ms = source.last_ms + source.level * 1000
    until_ms = request.until_ms
    if until_ms is None:
        until_ms = max(ended_ms, since_ms + 1)
    observed_ms = min(until_ms, ended_ms) - max(since_ms, source.first_ms)
    step_seconds = max(request.step_seconds or step_for(observed_ms), source.level)
    since_ms -= since_ms % (step_seconds * 1000)  # else the first step is partial
    if since_ms < source.whole_from_ms:  # some of that step is gone
        since_ms += step_seconds * 1000
    return Period(since_ms, until_ms, step_seconds * 1000)


def read_input(
    spark: SparkSession, lake: Storage, request: JobRequest, source: Chosen
) -> Input:
    """Return the frames of a job over a source."""
    period = period_of(source, request)
    step_ms = period.step_ms
    read = _Reader(spark, lake, request, *_span_of(source, period))
    if source.level:
        queues = read.rung(QUEUES, source.level)
        parts = merged_parts(queues, step_ms)
        peaks = merged_peaks(read.rung(PEAKS, source.level), step_ms)
        seen = owners_seen(read.empty(c.SAMPLES), step_ms)
    else:
        samples = read.samples()
        parts = parts_of(samples, step_ms, period.until_ms)
        wanted = read.since(samples, period.since_ms)
        peaks = peaks_of(wanted, step_ms, period.until_ms)
        seen = owners_seen(wanted, step_ms)
    listed = _epoch_files(lake, request, period)
    epochs = read.only(read.files(c.EPOCHS, listed))
    return Input(
        parts=parts,
        peaks=peaks,
        seen=seen,
        epochs=epochs,
        there=queues_there(told_epochs(epochs)),
        period=period,
        source=source,
        manifest_version=load_manifest(lake, c.SAMPLES).version,
    )


def plan_work(
    lake: Storage,
    request: JobRequest,
    source: Chosen,
    candidates: Sequence[Candidate],
    wanted: Collection[str],
) -> tuple[list[Bucket], BucketWork]:
    """Return the buckets of a back-test over a source, and what is done with each."""
    period = period_of(source, request)
    from_ms, until_ms = _span_of(source, period)
    files = _files_of(lake, request, source.level, from_ms, until_ms)
    epoch_files = _epoch_files(lake, request, period)
    groups = sorted(set(request.groups))
    buckets = plan_buckets(
        lake,
        files,
        sorted({file.cluster for file in epoch_files}),
        since_ms=from_ms,
        until_ms=until_ms,
        groups=groups,
        rows_each=ROWS_A_BUCKET,
    )
    work = BucketWork(
        level=source.level,
        files=files,
        epoch_files=epoch_files,
        groups=groups,
        pattern=_matching(request.group_pattern),
        from_ms=from_ms,
        until_ms=until_ms,
        period=period,
        candidates=candidates,
        wanted=wanted,
    )
    return buckets, work


def _span_of(source: Chosen, period: Period) -> tuple[int, int]:
    """Return from when until when rows are read for a period.

    The first step has a rate from what was before it, and samples after the period may
    claim time at its end.
    """
    from_ms = period.since_ms - max(_LOOK_BACK_MS, 2000 * source.level)
    return from_ms, period.until_ms + REACH_MS


def _files_of(
    lake: Storage, request: JobRequest, level: int, from_ms: int, until_ms: int
) -> tuple[FileEntry, ...]:
    clusters = request.clusters or None
    if not level:
        listed = load_manifest(lake, c.SAMPLES).select(from_ms, until_ms, clusters)
        return tuple(listed)
    view = view_from(
        lake, QUEUES, level, since_ms=from_ms, until_ms=until_ms, clusters=clusters
    )
    return view.files


def _epoch_files(
    lake: Storage, request: JobRequest, period: Period
) -> tuple[FileEntry, ...]:
    told_by_ms = period.until_ms + _TOLD_WITHIN_MS
    listed = load_manifest(lake, c.EPOCHS).select(
        None, told_by_ms, request.clusters or None
    )
    return tuple(listed)


class _Reader:
    """Frames over [from_ms, until_ms), of the clusters and groups asked for."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Storage,
        request: JobRequest,
        from_ms: int,
        until_ms: int,
    ) -> None:
        self._spark = spark
        self._lake = lake
        self._request = request
        self._from_ms = from_ms
        self._until_ms = until_ms

    def samples(self) -> DataFrame:
        span = self._from_ms, self._until_ms
        listed = _files_of(self._lake, self._request, 0, *span)
        return self._within(self.files(c.SAMPLES, listed))

    def rung(self, family: str, level: int) -> DataFrame:
        view = view_from(
            self._lake,
            family,
            level,
            since_ms=self._from_ms,
            until_ms=self._until_ms,
            clusters=self._request.clusters or None,
        )
        return self._within(self.files(dataset_of(family, level), view.files))

    def files(self, dataset: str, listed: Sequence[FileEntry]) -> DataFrame:
        if not listed:
            return self.empty(dataset)
        paths = sorted({self._lake.uri(file.path) for file in listed})
        schema = from_arrow_schema(schema_of(dataset))
        return self._spark.read.schema(schema).parquet(*paths)

    def empty(self, dataset: str) -> DataFrame:
        return self._spark.createDataFrame([], from_arrow_schema(schema_of(dataset)))

    def only(self, frame: DataFrame) -> DataFrame:
        request = self._request
        if request.clusters:
            frame = frame.where(F.col(c.CLUSTER).isin(*request.clusters))
        if request.groups:
            frame = frame.where(F.col(c.GROUP).isin(*request.groups))
        if request.group_pattern:
            frame = frame.where(F.col(c.GROUP).rlike(matching(request.group_pattern)))
        return frame

    def since(self, frame: DataFrame, since_ms: int) -> DataFrame:
        return frame.where(F.col(c.TIME) >= moment(since_ms))

    def _within(self, frame: DataFrame) -> DataFrame:
        begun = self.since(self.only(frame), self._from_ms)
        return begun.where(F.col(c.TIME) < moment(self._until_ms))


def matching(pattern: str) -> str:
    """Return Java's regular expression for a pattern of names with `*` and `?`.

    No name takes long to compare: what stood for a `*` is never tried again.
    """
    first, *others = (
        "".join("." if sign == "?" else re.escape(sign) for sign in part)
        for part in re.split(r"\*+", pattern)
    )
    if not others:
        return rf"(?s)\A{first}\z"
    *between, last = others
    return rf"(?s)\A{first}{''.join(f'(?>.*?{part})' for part in between)}.*{last}\z"


def _matching(pattern: str) -> str:
    """Return the same for Python; nothing for no pattern."""
    return matching(pattern).replace(r"\z", r"\Z") if pattern else ""


def moment(ms: int) -> Any:
    """Return a time as a column."""
    return F.timestamp_millis(F.lit(ms))


def _sources(lake: Storage, request: JobRequest) -> Iterator[Chosen]:
    clusters = request.clusters or None
    span: dict[str, Any] = {
        "since_ms": request.since_ms,
        "until_ms": request.until_ms,
        "clusters": clusters,
    }
    manifest = load_manifest(lake, c.SAMPLES)
    until_ms = request.until_ms
    samples = Chosen(
        c.SAMPLES, 0, tuple(manifest.select(**span)), manifest.whole_from_ms
    )
    yield _kept(samples, until_ms)
    for level in c.ROLLUP_LEVELS:
        view = view_from(lake, QUEUES, level, **span)
        name = dataset_of(QUEUES, level)
        rung = Chosen(name, level, view.files, view.whole_from_ms)
        yield _kept(rung, until_ms)


def _kept(source: Chosen, until_ms: int | None) -> Chosen:
    """Leave out files in which no step is complete."""
    if until_ms is not None and until_ms <= source.whole_from_ms:
        return replace(source, files=())
    step_ms = source.level * 1000
    kept = (
        file for file in source.files if file.last_ms + step_ms > source.whole_from_ms
    )
    return replace(source, files=tuple(kept))


def _period_words(request: JobRequest) -> str:
    since = "" if request.since_ms is None else f"since {iso(request.since_ms)} "
    until = "" if request.until_ms is None else f"until {iso(request.until_ms)} "
    where = (
        f"of {', '.join(request.clusters)}" if request.clusters else "of any cluster"
    )
    return f"{since}{until}{where}"
