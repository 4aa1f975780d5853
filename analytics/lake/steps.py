"""Lag of one group (or all) in steps over a span, from samples and roll-ups; no Spark.

For a page that is zoomed in. The rules are those of `analytics.transforms`, and a test
holds both to the same numbers: means are weighed by what a sample stands for, unknown
is null, a group's peak is the highest sum at one sampled moment.

Parts of the coarsest rung that fits the step are merged, which is least to read; where
the rung has not come yet, or for shorter steps, samples are. `finest_step` says which
step can be had: old samples go first, then minutes, then ten minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c
from analytics.requests import STEP_LADDER

from .ladder import PEAKS, QUEUES, dataset_of, view_from
from .manifest import FileEntry, load_manifest
from .pruned import Budget, Wanted, read_wanted
from .storage import Storage

MOST_ROWS: Final = 20_000_000
"""Rows that one question may read."""

REACH_MS: Final = 600_000
"""A source that begins this much later than another still reaches back as far."""

_QUEUE: Final = (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID)
_OF_SAMPLES: Final = (*_QUEUE, c.TIME, c.WEIGHT, c.MAX, c.COMMITTED, c.LAG_MS)
_PART: Final = (c.SECONDS, c.UNKNOWN_SECONDS, c.LAG_SECONDS, c.LAG_PEAK, c.LAG_MS_PEAK)
_OF_PARTS: Final = (*_QUEUE, c.TIME, *_PART)
_OF_PEAKS: Final = (c.GROUP, c.TOPIC, c.TIME, c.LAG_PEAK)
_AT: Final = "at"
_LAG: Final = "lag"
_KNOWN: Final = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)


@dataclass(frozen=True, slots=True)
class Steps:
    """Arrow tables in the columns of the data sets of the same names, without rates.

    `source` is the data set that the beginning of the span was read from, `rows_read`
    how many rows had to be, wanted or not.
    """

    by_queue: Any
    by_group: Any
    source: str
    rows_read: int


@dataclass(frozen=True, slots=True)
class _Source:
    """Samples (level 0) or what is seen from a rung, over a span."""

    level: int
    files: tuple[FileEntry, ...]
    whole_from_ms: int

    @property
    def first_ms(self) -> int:
        first_ms = min(file.first_ms for file in self.files)
        return max(first_ms, self.whole_from_ms)

    def reaches(self, earliest_ms: int) -> bool:
        return bool(self.files) and self.first_ms <= earliest_ms + REACH_MS


def finest_step(
    storage: Storage, *, cluster: str, since_ms: int, until_ms: int, at_least: int
) -> int:
    """Return the shortest step that reaches back as far as any, in seconds.

    It is one of `STEP_LADDER`, and no shorter than `at_least`.
    """
    steps = [step for step in STEP_LADDER if step >= at_least] or [STEP_LADDER[-1]]
    levels = {step: _level(step) for step in steps}
    sources = {
        level: _source(storage, level, cluster, since_ms, until_ms)
        for level in sorted({0, *c.ROLLUP_LEVELS, *levels.values()})
    }
    known = [each for each in sources.values() if each.files]
    # A step tells when its source begins only to its own length.
    starts = [each.first_ms + each.level * 1000 for each in known]
    earliest = max(min(starts, default=since_ms), since_ms)
    for step in steps:
        if any(sources[level].reaches(earliest) for level in {0, levels[step]}):
            return step
    return steps[-1]


def read_steps(
    storage: Storage,
    *,
    cluster: str,
    group: str = "",
    topic: str = "",
    since_ms: int,
    until_ms: int,
    step_seconds: int,
    most_rows: int = MOST_ROWS,
) -> Steps:
    """Return the steps in [since, until) of a cluster; a group or topic narrows them.

    `since_ms` is to lie on a whole step. Tables are empty where nothing is kept.
    Raises `LakeError` naming the limit when more than `most_rows` must be read.
    """
    step_ms = step_seconds * 1000
    samples = _source(storage, 0, cluster, since_ms, until_ms)
    rung = _source(storage, _level(step_seconds), cluster, since_ms, until_ms)
    budget = Budget(most_rows)
    turn_ms = since_ms
    parts, peaks = [], []
    if rung.level and rung.files and _goes_back(rung, samples, since_ms):
        # The newest steps of the rung may lack samples that it has not been given yet.
        last_ms = max(file.last_ms for file in rung.files)
        turn_ms = max(since_ms, min(until_ms, last_ms - last_ms % step_ms))
        wanted = Wanted(max(since_ms, rung.whole_from_ms), turn_ms, group, topic)
        reading = _Reading(storage, cluster, wanted, budget)
        parts.append(_rung_parts(reading, rung, step_ms))
        peaks.append(_rung_peaks(reading, rung.level, step_ms))
    wanted = Wanted(turn_ms, until_ms, group, topic)
    reading = _Reading(storage, cluster, wanted, budget)
    rows = _with_lag(reading.rows(c.SAMPLES, samples.files, _OF_SAMPLES), step_ms)
    parts.append(rows.select([*_QUEUE, c.SINCE, *_PART]))
    peaks.append(_peaks(rows))
    by_queue = _by_queue(pa.concat_tables(parts))
    is_rung = len(parts) > 1 and turn_ms > since_ms
    return Steps(
        by_queue,
        _by_group(pa.concat_tables(peaks), by_queue),
        dataset_of(QUEUES, rung.level) if is_rung else c.SAMPLES,
        budget.spent,
    )


def _level(step_seconds: int) -> int:
    """Return the coarsest rung whose steps are no longer than that; 0 for samples."""
    return max((each for each in c.ROLLUP_LEVELS if each <= step_seconds), default=0)


def _source(
    storage: Storage, level: int, cluster: str, since_ms: int, until_ms: int
) -> _Source:
    if not level:
        manifest = load_manifest(storage, c.SAMPLES)
        files = manifest.select(since_ms, until_ms, {cluster})
        return _Source(0, tuple(files), manifest.whole_from_ms)
    view = view_from(
        storage,
        QUEUES,
        level,
        since_ms=since_ms,
        until_ms=until_ms,
        clusters={cluster},
    )
    return _Source(level, view.files, view.whole_from_ms)


def _goes_back(rung: _Source, samples: _Source, since_ms: int) -> bool:
    """Say whether a rung reaches back as far as the samples do."""
    if not samples.files:
        return True
    return rung.reaches(max(samples.first_ms, since_ms))


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is read of a rung, and how much may be."""

    storage: Storage
    cluster: str
    wanted: Wanted
    budget: Budget

    def rows(
        self, dataset: str, files: Sequence[FileEntry], columns: Sequence[str]
    ) -> Any:
        return read_wanted(
            self.storage,
            dataset,
            files,
            columns,
            wanted=self.wanted,
            budget=self.budget,
        )


def _rung_parts(reading: _Reading, rung: _Source, step_ms: int) -> Any:
    rows = reading.rows(dataset_of(QUEUES, rung.level), rung.files, _OF_PARTS)
    since = _floored(rows[c.TIME], step_ms)
    names = {name: rows[name] for name in _QUEUE}
    return pa.table({**names, c.SINCE: since, **{name: rows[name] for name in _PART}})


def _rung_peaks(reading: _Reading, level: int, step_ms: int) -> Any:
    """Return the peaks of groups, or of the topic that is wanted, from a rung."""
    wanted = reading.wanted
    view = view_from(
        reading.storage,
        PEAKS,
        level,
        since_ms=wanted.since_ms,
        until_ms=wanted.until_ms,
        clusters={reading.cluster},
    )
    rows = reading.rows(dataset_of(PEAKS, level), view.files, _OF_PEAKS)
    if not wanted.topic:
        rows = rows.filter(pc.is_null(rows[c.TOPIC]))
    since = _floored(rows[c.TIME], step_ms)
    return pa.table(
        {c.GROUP: rows[c.GROUP], c.SINCE: since, c.LAG_PEAK: rows[c.LAG_PEAK]}
    )


def _peaks(rows: Any) -> Any:
    """Return the sums over a group's queues at each sampled moment."""
    summed = rows.group_by([c.GROUP, c.SINCE, _AT]).aggregate([(_LAG, "sum", _KNOWN)])
    return pa.table(
        {
            c.GROUP: summed[c.GROUP],
            c.SINCE: summed[c.SINCE],
            c.LAG_PEAK: summed[f"{_LAG}_sum"],
        }
    )


def _by_queue(parts: Any) -> Any:
    summed = parts.group_by([*_QUEUE, c.SINCE]).aggregate(
        [
            (c.LAG_SECONDS, "sum", _KNOWN),
            (c.SECONDS, "sum"),
            (c.UNKNOWN_SECONDS, "sum"),
            (c.LAG_PEAK, "max"),
            (c.LAG_MS_PEAK, "max"),
        ]
    )
    known = summed[f"{c.SECONDS}_sum"]
    mean = pc.divide(
        summed[f"{c.LAG_SECONDS}_sum"],
        pc.if_else(pc.greater(known, 0.0), known, pa.scalar(None, pa.float64())),
    )
    return pa.table(
        {
            **{name: summed[name] for name in (*_QUEUE, c.SINCE)},
            c.SECONDS: known,
            c.UNKNOWN_SECONDS: summed[f"{c.UNKNOWN_SECONDS}_sum"],
            c.LAG_MEAN: mean,
            c.LAG_PEAK: summed[f"{c.LAG_PEAK}_max"],
            c.LAG_MS_PEAK: summed[f"{c.LAG_MS_PEAK}_max"],
        }
    )


def _by_group(peaks: Any, by_queue: Any) -> Any:
    highest = peaks.group_by([c.GROUP, c.SINCE]).aggregate([(c.LAG_PEAK, "max")])
    has_known = pc.greater(by_queue[c.SECONDS], 0.0).cast(pa.int64())
    summed = (
        by_queue.append_column(c.KNOWN_QUEUES, has_known)
        .group_by([c.GROUP, c.SINCE])
        .aggregate(
            [
                (c.QUEUE_ID, "count"),
                (c.KNOWN_QUEUES, "sum"),
                (c.LAG_MEAN, "sum", _KNOWN),
                (c.LAG_MS_PEAK, "max"),
                (c.SECONDS, "max"),
            ]
        )
        .join(highest, [c.GROUP, c.SINCE], join_type="left outer")
    )
    return pa.table(
        {
            c.GROUP: summed[c.GROUP],
            c.SINCE: summed[c.SINCE],
            c.SECONDS: summed[f"{c.SECONDS}_max"],
            c.QUEUE_COUNT: summed[f"{c.QUEUE_ID}_count"],
            c.KNOWN_QUEUES: summed[f"{c.KNOWN_QUEUES}_sum"],
            c.LAG_MEAN: summed[f"{c.LAG_MEAN}_sum"],
            c.LAG_PEAK: summed[f"{c.LAG_PEAK}_max"],
            c.LAG_MS_PEAK: summed[f"{c.LAG_MS_PEAK}_max"],
        }
    )


def _with_lag(samples: Any, step_ms: int) -> Any:
    """Return samples as parts, each of one, with the lag and moment that each had.

    Lag is null where an offset is not known. An offset committed after the maximum was
    read can be ahead of it: that is 0.
    """
    behind = pc.subtract(samples[c.MAX], samples[c.COMMITTED])
    lag = pc.max_element_wise(behind, pa.scalar(0, pa.int64()), skip_nulls=False)
    is_known, weight = pc.is_valid(lag), samples[c.WEIGHT]
    nothing = pa.scalar(0.0)
    return pa.table(
        {
            **{name: samples[name] for name in _QUEUE},
            c.SINCE: _floored(samples[c.TIME], step_ms),
            _AT: samples[c.TIME].cast(pa.int64()),
            _LAG: lag,
            c.SECONDS: pc.if_else(is_known, weight, nothing),
            c.UNKNOWN_SECONDS: pc.if_else(is_known, nothing, weight),
            c.LAG_SECONDS: pc.multiply(lag.cast(pa.float64()), weight),
            c.LAG_PEAK: lag,
            c.LAG_MS_PEAK: samples[c.LAG_MS],
        }
    )


def _floored(time: Any, step_ms: int) -> Any:
    at = time.cast(pa.int64())
    step = pc.multiply(pc.divide(at, step_ms), step_ms)
    return step.cast(pa.timestamp("ms", tz="UTC"))
