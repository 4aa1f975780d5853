"""Summaries of samples by step, in a form that adds up: the rows of the roll-ups.

A sample is cut into *pieces*, one for each step that it claims time of. A *part* is a
row per queue, epoch and step. Two parts of one step, made of different samples, merge
into the part of all of them, in any order; a longer step is merged from shorter ones
the same way. Means and rates are not kept: they follow from the sums and from the
offsets at both ends.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  the usual name

from analytics import contracts as c

AT: Final = "at"
LAG: Final = "lag"
STEP: Final = "step"
OFFSETS: Final = (c.MAX, c.COMMITTED)

REACH_MS: Final = int(c.MOST_WEIGHT * 1000)
"""How far back from its moment a sample may claim time."""

_CLAIM: Final = "claim"
_PIECE: Final = "piece"
"""Seconds of a step that a sample claims."""

_KEY: Final = (*c.QUEUE_KEY, c.EPOCH)


def with_lag(samples: DataFrame) -> DataFrame:
    """Add `lag`, `at` and the claim (ms); lag is null where no offset is known.

    An offset committed after the maximum was read can be ahead of it: the lag is then
    0.
    """
    behind = F.col(c.MAX) - F.col(c.COMMITTED)
    return samples.select(
        *_KEY,
        F.unix_millis(c.TIME).alias(AT),
        F.least(F.round(F.col(c.WEIGHT) * 1000).cast("long"), F.lit(REACH_MS)).alias(
            _CLAIM
        ),
        c.MAX,
        c.COMMITTED,
        # `greatest` skips nulls, which would turn an unknown lag into 0.
        F.when(behind.isNotNull(), F.greatest(behind, F.lit(0))).alias(LAG),
        c.LAG_MS,
        c.OWNER,
    )


def pieces_of(
    samples: DataFrame, step_ms: int, until_ms: int | None = None
) -> DataFrame:
    """Cut samples into pieces: a row for each `step` (ms) that one claims time of.

    A moment belongs to the step that ends with it. A sample that claims nothing has a
    piece of 0 seconds there. Time from `until_ms` on does not count.
    """
    at = F.col(AT)
    begin = at - F.col(_CLAIM)
    last = moment_step(step_ms)
    steps = F.sequence(F.least(floor(begin, step_ms), last), last, F.lit(step_ms))
    end = F.least(at, F.col(STEP) + step_ms)
    rows = with_lag(samples)
    if until_ms is not None:
        rows = rows.where(begin < until_ms)
        end = F.least(end, F.lit(until_ms))
    piece = F.greatest(end - F.greatest(begin, F.col(STEP)), F.lit(0)) / 1000
    return rows.withColumn(STEP, F.explode(steps)).withColumn(_PIECE, piece)


def moment_step(step_ms: int) -> Column:
    """Return the step of a sample's moment, which is the last of its pieces."""
    return floor(F.col(AT) - 1, step_ms)


def parts_of(
    samples: DataFrame, step_ms: int, until_ms: int | None = None
) -> DataFrame:
    """Sum samples by queue, epoch and `step` (ms), up to a time."""
    rows = pieces_of(samples, step_ms, until_ms)
    is_known = F.col(LAG).isNotNull()
    piece, nothing = F.col(_PIECE), F.lit(0.0)
    is_aged = is_known & F.col(c.LAG_MS).isNotNull()
    is_over = is_aged & (F.col(c.LAG_MS) > c.OVER_MS)
    moment = F.when(F.col(STEP) == moment_step(step_ms), F.col(AT))
    return rows.groupBy(*_KEY, STEP).agg(
        F.sum(F.when(is_known, piece).otherwise(nothing)).alias(c.SECONDS),
        F.sum(F.when(is_known, nothing).otherwise(piece)).alias(c.UNKNOWN_SECONDS),
        F.sum(F.col(LAG) * piece).alias(c.LAG_SECONDS),
        F.max(LAG).alias(c.LAG_PEAK),
        F.max_by(LAG, F.when(is_known, F.col(AT))).alias(c.LAG_LAST),
        F.max(F.when(is_known, F.col(AT))).alias(c.LAG_LAST_AT),
        F.max(c.LAG_MS).alias(c.LAG_MS_PEAK),
        F.sum(F.when(is_over, piece).when(is_aged, nothing)).alias(c.OVER_SECONDS),
        *(each for offset in OFFSETS for each in _ends(offset, moment)),
    )


def merged_parts(parts: DataFrame, step_ms: int) -> DataFrame:
    """Merge parts whose `time` is their step into those of a step at least as long."""
    rows = parts.withColumn(STEP, floor(F.unix_millis(c.TIME), step_ms))
    return rows.groupBy(*_KEY, STEP).agg(
        *(F.sum(name).alias(name) for name in (c.SECONDS, c.UNKNOWN_SECONDS)),
        F.sum(c.LAG_SECONDS).alias(c.LAG_SECONDS),
        F.max(c.LAG_PEAK).alias(c.LAG_PEAK),
        F.max_by(c.LAG_LAST, c.LAG_LAST_AT).alias(c.LAG_LAST),
        F.max(c.LAG_LAST_AT).alias(c.LAG_LAST_AT),
        F.max(c.LAG_MS_PEAK).alias(c.LAG_MS_PEAK),
        F.sum(c.OVER_SECONDS).alias(c.OVER_SECONDS),
        *(each for offset in OFFSETS for each in _merged_ends(offset)),
    )


def peaks_of(
    samples: DataFrame, step_ms: int, until_ms: int | None = None
) -> DataFrame:
    """Return the highest lag that each group, and each topic of it, had at one moment.

    This cannot be summed from queues, whose peaks fall on different moments. The rows
    of whole groups have no topic. A moment counts in each step that its samples claim
    time of; queues that claim none of a step add nothing there, but in the step before
    the moment this happens only where nothing nearer was seen.
    """
    at_once = (
        pieces_of(samples, step_ms, until_ms)
        .groupBy(c.CLUSTER, c.GROUP, c.TOPIC, AT, STEP)
        .agg(F.sum(LAG).alias(LAG))
    )
    of_groups = at_once.groupBy(
        c.CLUSTER, c.GROUP, F.lit(None).cast("string").alias(c.TOPIC), AT, STEP
    ).agg(F.sum(LAG).alias(LAG))
    return (
        at_once.unionByName(of_groups)
        .groupBy(c.CLUSTER, c.GROUP, c.TOPIC, STEP)
        .agg(F.max(LAG).alias(c.LAG_PEAK))
    )


def merged_peaks(peaks: DataFrame, step_ms: int) -> DataFrame:
    """Merge peaks of steps into those of longer ones."""
    rows = peaks.withColumn(STEP, floor(F.unix_millis(c.TIME), step_ms))
    return rows.groupBy(c.CLUSTER, c.GROUP, c.TOPIC, STEP).agg(
        F.max(c.LAG_PEAK).alias(c.LAG_PEAK)
    )


def floor(at: Column, step_ms: int) -> Column:
    """Return the step that a moment is in; both in ms."""
    return at - F.pmod(at, F.lit(step_ms))


def _ends(offset: str, moment: Column) -> list[Column]:
    """Return the first and last known value of an offset in a step, and their times."""
    at = F.when(F.col(offset).isNotNull(), moment)
    return [
        F.min(at).alias(f"{offset}_first_at"),
        F.min_by(offset, at).alias(f"{offset}_first"),
        F.max(at).alias(f"{offset}_last_at"),
        F.max_by(offset, at).alias(f"{offset}_last"),
    ]


def _merged_ends(offset: str) -> list[Column]:
    first, first_at = f"{offset}_first", f"{offset}_first_at"
    last, last_at = f"{offset}_last", f"{offset}_last_at"
    return [
        F.min(first_at).alias(first_at),
        F.min_by(first, first_at).alias(first),
        F.max(last_at).alias(last_at),
        F.max_by(last, last_at).alias(last),
    ]
