"""What samples say about a step, in a form that adds up: the rows of the roll-ups.

A *part* is a row per queue, epoch and step. Two parts of one step, made of different
samples, merge into the part of all of them, in any order; a longer step is merged from
shorter ones the same way. Means and rates are not kept: they follow from the sums and
from the offsets at both ends.
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

_KEY: Final = (*c.QUEUE_KEY, c.EPOCH)


def with_lag(samples: DataFrame) -> DataFrame:
    """Add `lag` and `at` (ms); lag is null where an offset is not known.

    An offset committed after the maximum was read can be ahead of it: that is 0.
    """
    behind = F.col(c.MAX) - F.col(c.COMMITTED)
    return samples.select(
        *_KEY,
        F.unix_millis(c.TIME).alias(AT),
        c.WEIGHT,
        c.MAX,
        c.COMMITTED,
        # `greatest` skips nulls, which would make unknown a lag of 0.
        F.when(behind.isNotNull(), F.greatest(behind, F.lit(0))).alias(LAG),
        c.LAG_MS,
        c.OWNER,
    )


def parts_of(samples: DataFrame, step_ms: int) -> DataFrame:
    """Sum samples by queue, epoch and `step` (ms)."""
    rows = with_lag(samples).withColumn(STEP, floor(F.col(AT), step_ms))
    is_known = F.col(LAG).isNotNull()
    weight, nothing = F.col(c.WEIGHT), F.lit(0.0)
    is_over = F.col(c.LAG_MS) > c.OVER_MS
    return rows.groupBy(*_KEY, STEP).agg(
        F.sum(F.when(is_known, weight).otherwise(nothing)).alias(c.SECONDS),
        F.sum(F.when(is_known, nothing).otherwise(weight)).alias(c.UNKNOWN_SECONDS),
        F.sum(F.col(LAG) * weight).alias(c.LAG_SECONDS),
        F.max(LAG).alias(c.LAG_PEAK),
        F.max_by(LAG, F.when(is_known, F.col(AT))).alias(c.LAG_LAST),
        F.max(F.when(is_known, F.col(AT))).alias(c.LAG_LAST_AT),
        F.max(c.LAG_MS).alias(c.LAG_MS_PEAK),
        F.sum(F.when(is_over, weight).when(F.col(c.LAG_MS).isNotNull(), nothing)).alias(
            c.OVER_SECONDS
        ),
        *(each for offset in OFFSETS for each in _ends(offset)),
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


def peaks_of(samples: DataFrame, step_ms: int) -> DataFrame:
    """Return the highest lag that each group, and each topic of it, had at one moment.

    This does not add up from queues, whose peaks fall on different moments. The rows
    of whole groups have no topic.
    """
    at_once = (
        with_lag(samples)
        .groupBy(c.CLUSTER, c.GROUP, c.TOPIC, AT)
        .agg(F.sum(LAG).alias(LAG))
    )
    of_groups = at_once.groupBy(
        c.CLUSTER, c.GROUP, F.lit(None).cast("string").alias(c.TOPIC), AT
    ).agg(F.sum(LAG).alias(LAG))
    return (
        at_once.unionByName(of_groups)
        .withColumn(STEP, floor(F.col(AT), step_ms))
        .groupBy(c.CLUSTER, c.GROUP, c.TOPIC, STEP)
        .agg(F.max(LAG).alias(c.LAG_PEAK))
    )


def merged_peaks(peaks: DataFrame, step_ms: int) -> DataFrame:
    """Merge peaks of steps into those of longer ones."""
    rows = peaks.withColumn(STEP, floor(F.unix_millis(c.TIME), step_ms))
    return rows.groupBy(c.CLUSTER, c.GROUP, c.TOPIC, STEP).agg(
        F.max(c.LAG_PEAK).alias(c.LAG_PEAK)
    )


def with_mean(parts: DataFrame) -> DataFrame:
    """Add the mean lag; null where no sample knew it."""
    return parts.withColumn(
        c.LAG_MEAN, F.col(c.LAG_SECONDS) / F.nullif(F.col(c.SECONDS), F.lit(0.0))
    )


def floor(at: Column, step_ms: int) -> Column:
    """Return the step that a moment is in; both in ms."""
    return at - F.pmod(at, F.lit(step_ms))


def _ends(offset: str) -> list[Column]:
    """Return the first and last known value of an offset in a step, and their times."""
    at = F.when(F.col(offset).isNotNull(), F.col(AT))
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
