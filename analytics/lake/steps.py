"""Lag of one group (or all) in steps over a span, from samples and roll-ups; no Spark.

For a page that is zoomed in. The rules are those of `analytics.transforms`, and a test
checks that both give the same numbers: means are weighted by the time that samples
claim, all other time in which a queue was present is unknown, unknown is null, and a
group's peak is the highest sum at one sampled moment.

Parts of the coarsest rung that fits the step are merged, as this reads the least;
beyond the rung's progress, or for shorter steps, samples are used. `finest_step` tells
which step is available: old samples are deleted first, then minutes, then ten minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c
from analytics.presence import EpochSpan, Period, ended_by_the_next
from analytics.requests import STEP_LADDER

from .ladder import PEAKS, QUEUES, dataset_of, view_from
from .manifest import FileEntry, load_manifest
from .pieces import (
    AT,
    CLAIM_MS,
    IN_EPOCH,
    LAG,
    LENGTH,
    QUEUE,
    floored,
    pieces_of,
    queues_of,
    steps_there,
    whole_steps,
)
from .pruned import Budget, Wanted, read_wanted
from .storage import Storage

MOST_ROWS: Final = 20_000_000
"""Rows that one call may read."""

REACH_MS: Final = 600_000
"""A source that begins this much later than another still reaches back as far."""

_OF_SAMPLES: Final = (*IN_EPOCH, c.TIME, c.WEIGHT, c.MAX, c.COMMITTED, c.LAG_MS)
_PART: Final = (c.SECONDS, c.LAG_SECONDS, c.LAG_PEAK, c.LAG_MS_PEAK)
_OF_PARTS: Final = (*IN_EPOCH, c.TIME, *_PART)
_OF_PEAKS: Final = (c.GROUP, c.TOPIC, c.TIME, c.LAG_PEAK)
_IS_NAMED: Final = "is_named"
_KNOWN: Final = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)


@dataclass(frozen=True, slots=True)
class Steps:
    """Arrow tables in the columns of the data sets of the same names, without rates.

    `source` is the data set that the beginning of the span was read from, `rows_read`
    how many rows had to be read, wanted or not, including those added for time without
    data.
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
    # The start of a source is known only to within the length of its step.
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
    there: Sequence[EpochSpan] = (),
    most_rows: int = MOST_ROWS,
) -> Steps:
    """Return the steps in [since, until) of a cluster; a group or topic narrows them.

    `since_ms` must lie on a whole step. The queues that the epochs of `there` name have
    a row in each of their steps, sampled or not; a queue that no epoch names has rows
    in the steps that its samples claim time of. Tables are empty where nothing is kept.
    Raises `LakeError` naming the limit when more than `most_rows` must be read.
    """
    period = Period(since_ms, until_ms, step_seconds * 1000)
    samples = _source(storage, 0, cluster, since_ms, until_ms + CLAIM_MS)
    rung = _source(storage, _level(step_seconds), cluster, since_ms, until_ms)
    budget = Budget(most_rows)
    turn_ms = since_ms
    parts, peaks = [], []
    if rung.level and rung.files and _goes_back(rung, samples, since_ms):
        turn_ms = _turn(rung, samples, period)
        wanted = Wanted(max(since_ms, rung.whole_from_ms), turn_ms, group, topic)
        reading = _Reading(storage, cluster, wanted, budget)
        parts.append(_rung_parts(reading, rung, period.step_ms))
        peaks.append(_rung_peaks(reading, rung.level, period.step_ms))
    rest = Period(turn_ms, until_ms, period.step_ms)
    wanted = Wanted(turn_ms, until_ms + CLAIM_MS, group, topic)
    reading = _Reading(storage, cluster, wanted, budget)
    pieces = pieces_of(reading.rows(c.SAMPLES, samples.files, _OF_SAMPLES), rest)
    parts.append(pieces.select([*IN_EPOCH, c.SINCE, *_PART]))
    peaks.append(_peaks(pieces))
    measured = pa.concat_tables(parts)
    spans = [span for span in ended_by_the_next(there) if group in ("", span.group)]
    queues = queues_of(spans if measured.num_rows else (), topic)
    in_epochs = _with_lengths(measured, queues, period)
    budget.spend(in_epochs.num_rows - measured.num_rows)
    by_queue = _by_queue(in_epochs, period)
    is_rung = len(parts) > 1 and turn_ms > since_ms
    return Steps(
        by_queue,
        _by_group(pa.concat_tables(peaks), in_epochs, by_queue, period),
        dataset_of(QUEUES, rung.level) if is_rung else c.SAMPLES,
        budget.spent,
    )


def _turn(rung: _Source, samples: _Source, period: Period) -> int:
    """Return the time from which samples are read, as long as they exist.

    Samples not yet on the rung may claim time of its last steps.
    """
    told_ms = max(file.last_ms for file in rung.files) - CLAIM_MS
    turn_ms = told_ms - told_ms % period.step_ms
    if not samples.files or samples.first_ms > turn_ms:
        return period.until_ms
    return max(period.since_ms, min(period.until_ms, turn_ms))


def _level(step_seconds: int) -> int:
    """Return the coarsest rung whose steps are no longer than this; 0 for samples."""
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
    """What to read of a rung, and how much of it may be read."""

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
    since = floored(rows[c.TIME], step_ms)
    names = {name: rows[name] for name in IN_EPOCH}
    return pa.table({**names, c.SINCE: since, **{name: rows[name] for name in _PART}})


def _rung_peaks(reading: _Reading, level: int, step_ms: int) -> Any:
    """Return the peaks of groups, or of the wanted topic, from a rung."""
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
    since = floored(rows[c.TIME], step_ms)
    return pa.table(
        {c.GROUP: rows[c.GROUP], c.SINCE: since, c.LAG_PEAK: rows[c.LAG_PEAK]}
    )


def _peaks(pieces: Any) -> Any:
    """Return the sums over a group's queues at each sampled moment."""
    summed = pieces.group_by([c.GROUP, c.SINCE, AT]).aggregate([(LAG, "sum", _KNOWN)])
    return pa.table(
        {
            c.GROUP: summed[c.GROUP],
            c.SINCE: summed[c.SINCE],
            c.LAG_PEAK: summed[f"{LAG}_sum"],
        }
    )


def _with_lengths(measured: Any, queues: Any, period: Period) -> Any:
    """Add how long each queue was present, and the steps that have no part.

    Samples of an epoch may claim time of the epoch before it, about which it says
    nothing. A queue that no epoch names is present in the steps that its samples claim.
    """
    named = queues.group_by([*IN_EPOCH]).aggregate([])
    named = named.append_column(_IS_NAMED, pa.repeat(True, named.num_rows))
    joined = measured.join(named, [*IN_EPOCH], join_type="left outer")
    length = pc.if_else(
        pc.is_valid(joined[_IS_NAMED]),
        pa.scalar(0.0),
        whole_steps(joined[c.SINCE], period),
    )
    told = joined.drop_columns(_IS_NAMED).append_column(LENGTH, length)
    # Columns that one of them lacks are null there.
    return pa.concat_tables(
        [told, steps_there(queues, period)], promote_options="default"
    )


def _by_queue(in_epochs: Any, period: Period) -> Any:
    summed = in_epochs.group_by([*QUEUE, c.SINCE]).aggregate(
        [
            (c.LAG_SECONDS, "sum", _KNOWN),
            (c.SECONDS, "sum"),
            (LENGTH, "sum"),
            (c.LAG_PEAK, "max"),
            (c.LAG_MS_PEAK, "max"),
        ]
    )
    length = pc.min_element_wise(
        summed[f"{LENGTH}_sum"], whole_steps(summed[c.SINCE], period)
    )
    claimed = pc.coalesce(summed[f"{c.SECONDS}_sum"], pa.scalar(0.0))
    known = pc.min_element_wise(claimed, length)
    mean = pc.divide(
        summed[f"{c.LAG_SECONDS}_sum"],
        pc.if_else(pc.greater(claimed, 0.0), claimed, pa.scalar(None, pa.float64())),
    )
    table = pa.table(
        {
            **{name: summed[name] for name in (*QUEUE, c.SINCE)},
            c.SECONDS: known,
            c.UNKNOWN_SECONDS: pc.subtract(length, known),
            c.LAG_MEAN: mean,
            c.LAG_PEAK: summed[f"{c.LAG_PEAK}_max"],
            c.LAG_MS_PEAK: summed[f"{c.LAG_MS_PEAK}_max"],
        }
    )
    return table.filter(pc.greater(length, 0.0))


def _by_group(peaks: Any, in_epochs: Any, by_queue: Any, period: Period) -> Any:
    highest = peaks.group_by([c.GROUP, c.SINCE]).aggregate([(c.LAG_PEAK, "max")])
    lengths = (
        in_epochs.group_by([c.GROUP, c.SINCE, c.EPOCH])
        .aggregate([(LENGTH, "max")])
        .group_by([c.GROUP, c.SINCE])
        .aggregate([(f"{LENGTH}_max", "sum")])
    )
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
                (c.SECONDS, "sum"),
                (c.UNKNOWN_SECONDS, "sum"),
            ]
        )
        .join(highest, [c.GROUP, c.SINCE], join_type="left outer")
        .join(lengths, [c.GROUP, c.SINCE], join_type="left outer")
    )
    length = pc.min_element_wise(
        summed[f"{LENGTH}_max_sum"], whole_steps(summed[c.SINCE], period)
    )
    known = summed[f"{c.SECONDS}_sum"]
    share = pc.divide(known, pc.add(known, summed[f"{c.UNKNOWN_SECONDS}_sum"]))
    seconds = pc.multiply(length, share)
    return pa.table(
        {
            c.GROUP: summed[c.GROUP],
            c.SINCE: summed[c.SINCE],
            c.SECONDS: seconds,
            c.UNKNOWN_SECONDS: pc.subtract(length, seconds),
            c.QUEUE_COUNT: summed[f"{c.QUEUE_ID}_count"],
            c.KNOWN_QUEUES: summed[f"{c.KNOWN_QUEUES}_sum"],
            c.LAG_MEAN: summed[f"{c.LAG_MEAN}_sum"],
            c.LAG_PEAK: summed[f"{c.LAG_PEAK}_max"],
            c.LAG_MS_PEAK: summed[f"{c.LAG_MS_PEAK}_max"],
        }
    )
