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
from analytics.transforms.bucket import LAG_TABLES
from analytics.transforms.measured import BucketWork
from analytics.transforms.steps import REACH_MS

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


def plan_work(
    lake: Storage,
    request: JobRequest,
    source: Chosen,
    candidates: Sequence[Candidate],
    wanted: Collection[str],
) -> tuple[list[Bucket], BucketWork]:
    """Return the buckets of a job over a source, and what is done with each.

    `wanted` are data sets to write.
    """
    has_lag = request.job == c.JOB_TRIAL or not LAG_TABLES.keys().isdisjoint(wanted)
    period = period_of(source, request)
    from_ms, until_ms = _span_of(source, period)
    files = _files_of(lake, request, QUEUES, source.level, (from_ms, until_ms))
    peak_files: tuple[FileEntry, ...] = ()
    if has_lag and source.level:
        peak_files = _files_of(lake, request, PEAKS, source.level, (from_ms, until_ms))
    epoch_files = _epoch_files(lake, request, period)
    groups = sorted(set(request.groups))
    clusters = {file.cluster for file in epoch_files}
    if has_lag:  # queues have one without an epoch, too
        clusters |= {file.cluster for file in files}
    buckets = plan_buckets(
        lake,
        files,
        sorted(clusters),
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
        pattern=matching(request.group_pattern) if request.group_pattern else "",
        from_ms=from_ms,
        until_ms=until_ms,
        period=period,
        candidates=candidates,
        wanted=wanted,
        has_lag=has_lag,
        peak_files=peak_files,
        rule=request.rule,
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
    lake: Storage, request: JobRequest, family: str, level: int, span: tuple[int, int]
) -> tuple[FileEntry, ...]:
    (from_ms, until_ms), clusters = span, request.clusters or None
    if not level:
        listed = load_manifest(lake, c.SAMPLES).select(from_ms, until_ms, clusters)
        return tuple(listed)
    view = view_from(
        lake, family, level, since_ms=from_ms, until_ms=until_ms, clusters=clusters
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


def matching(pattern: str) -> str:
    """Return a regular expression for a pattern of names with `*` and `?`.

    No name takes long to compare: what stood for a `*` is never tried again.
    """
    first, *others = (
        "".join("." if sign == "?" else re.escape(sign) for sign in part)
        for part in re.split(r"\*+", pattern)
    )
    if not others:
        return rf"(?s)\A{first}\Z"
    *between, last = others
    return rf"(?s)\A{first}{''.join(f'(?>.*?{part})' for part in between)}.*{last}\Z"


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
