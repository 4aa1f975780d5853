"""Lag per queue, group and consumer, in steps of equal length.

A step sums what the samples in it stand for, by their weight. Where a committed
offset is not known the lag is not known either: such samples count into
`unknown_seconds`, never as a lag of 0. Rates come from the offsets at the end of a
step and of the one before it, so that nothing between two samples is missed.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812  the usual name

from analytics import contracts as c

LONGEST_GAP_MS: Final = 180_000
"""Offsets further apart than this (and two steps) give no rate: too much is unseen."""

_AT: Final = "at"
_LAG: Final = "lag"
_STEP: Final = "step"
_GROUP_KEY: Final = (c.CLUSTER, c.GROUP)


def with_lag(samples: DataFrame) -> DataFrame:
    """Add `lag` and `at` (ms); lag is null where an offset is not known.

    An offset committed after the maximum was read can be ahead of it: that is 0.
    """
    behind = F.col(c.MAX) - F.col(c.COMMITTED)
    return samples.select(
        *c.QUEUE_KEY,
        c.EPOCH,
        F.unix_millis(c.TIME).alias(_AT),
        c.WEIGHT,
        c.MAX,
        c.COMMITTED,
        # `greatest` skips nulls, which would make unknown a lag of 0.
        F.when(behind.isNotNull(), F.greatest(behind, F.lit(0))).alias(_LAG),
        c.LAG_MS,
        c.OWNER,
    )


def queue_steps(samples: DataFrame, step_seconds: int) -> DataFrame:
    """Return one row per queue, epoch and step: lag, age and rates."""
    step_ms = step_seconds * 1000
    rows = with_lag(samples).withColumn(_STEP, _floor(F.col(_AT), step_ms))
    return _with_rates(_summed(rows), step_ms).select(
        *c.QUEUE_KEY,
        c.EPOCH,
        F.timestamp_millis(_STEP).alias(c.SINCE),
        c.SECONDS,
        c.UNKNOWN_SECONDS,
        c.LAG_MEAN,
        c.LAG_PEAK,
        c.LAG_LAST,
        c.LAG_MS_PEAK,
        c.IN_RATE,
        c.OUT_RATE,
    )


def owners_seen(samples: DataFrame, step_seconds: int) -> DataFrame:
    """Return who last reported a queue in each step, where somebody did.

    Apart from `queue_steps`, whose numbers are summed in a hash table: one text among
    them would make Spark sort all samples.
    """
    return (
        with_lag(samples)
        .where(F.col(c.OWNER).isNotNull())
        .groupBy(
            *c.QUEUE_KEY,
            c.EPOCH,
            F.timestamp_millis(_floor(F.col(_AT), step_seconds * 1000)).alias(c.SINCE),
        )
        .agg(F.max_by(c.OWNER, _AT).alias(c.OWNER))
    )


def lag_by_queue(steps: DataFrame) -> DataFrame:
    """Merge the epochs that share a step: one row per queue and step."""
    observed = F.col(c.SECONDS) + F.col(c.UNKNOWN_SECONDS)
    return (
        steps.groupBy(*c.QUEUE_KEY, c.SINCE)
        .agg(
            F.sum(c.SECONDS).alias(c.SECONDS),
            F.sum(c.UNKNOWN_SECONDS).alias(c.UNKNOWN_SECONDS),
            _mean(c.LAG_MEAN, F.col(c.SECONDS)).alias(c.LAG_MEAN),
            F.max(c.LAG_PEAK).alias(c.LAG_PEAK),
            F.max_by(c.LAG_LAST, c.EPOCH).alias(c.LAG_LAST),
            F.max(c.LAG_MS_PEAK).alias(c.LAG_MS_PEAK),
            _mean(c.IN_RATE, observed).alias(c.IN_RATE),
            _mean(c.OUT_RATE, observed).alias(c.OUT_RATE),
        )
        .select(
            *c.QUEUE_KEY,
            c.SINCE,
            c.SECONDS,
            c.UNKNOWN_SECONDS,
            c.LAG_MEAN,
            c.LAG_PEAK,
            c.LAG_LAST,
            c.LAG_MS_PEAK,
            c.IN_RATE,
            c.OUT_RATE,
        )
    )


def lag_by_group(samples: DataFrame, queues: DataFrame, step_seconds: int) -> DataFrame:
    """Return one row per group and step, from the samples and `lag_by_queue`.

    `lag_peak` is the highest sum over the group at one sampled moment, which is less
    than the sum of the queues' peaks. Sums are over the queues that are known:
    `known_queues` below `queue_count` says that they are partial.
    """
    at_once = (
        with_lag(samples)
        .groupBy(*_GROUP_KEY, _AT)
        .agg(F.sum(_LAG).alias(_LAG))
        .withColumn(_STEP, _floor(F.col(_AT), step_seconds * 1000))
        .groupBy(*_GROUP_KEY, F.timestamp_millis(_STEP).alias(c.SINCE))
        .agg(F.max(_LAG).alias(c.LAG_PEAK))
    )
    known = F.col(c.SECONDS) > 0
    summed = queues.groupBy(*_GROUP_KEY, c.SINCE).agg(
        F.count(F.lit(1)).alias(c.QUEUE_COUNT),
        F.count_if(known).alias(c.KNOWN_QUEUES),
        F.max(c.SECONDS).alias(c.SECONDS),
        F.sum(c.LAG_MEAN).alias(c.LAG_MEAN),
        F.sum(c.LAG_LAST).alias(c.LAG_LAST),
        F.max(c.LAG_MS_PEAK).alias(c.LAG_MS_PEAK),
        F.sum(c.IN_RATE).alias(c.IN_RATE),
        F.sum(c.OUT_RATE).alias(c.OUT_RATE),
    )
    return summed.join(at_once, on=[*_GROUP_KEY, c.SINCE], how="inner").select(
        *_GROUP_KEY,
        c.SINCE,
        c.SECONDS,
        c.QUEUE_COUNT,
        c.KNOWN_QUEUES,
        c.LAG_MEAN,
        c.LAG_PEAK,
        c.LAG_LAST,
        c.LAG_MS_PEAK,
        c.IN_RATE,
        c.OUT_RATE,
    )


def lag_by_consumer(steps: DataFrame, owners: DataFrame, seen: DataFrame) -> DataFrame:
    """Return one row per consumer and step.

    `owners` has the queue key, epoch and `client_id` of the strategy in use; an owner
    that the client itself reported, by `owners_seen`, goes before it. Queues without
    either are left out.
    """
    keys = [*c.QUEUE_KEY, c.EPOCH]
    owner = F.coalesce(F.col(c.OWNER), F.col(c.CLIENT_ID))
    return (
        steps.join(owners.select(*keys, c.CLIENT_ID), on=keys, how="left")
        .join(seen, on=[*keys, c.SINCE], how="left")
        .withColumn(c.CLIENT_ID, owner)
        .where(F.col(c.CLIENT_ID).isNotNull())
        .groupBy(*_GROUP_KEY, c.CLIENT_ID, c.SINCE)
        .agg(
            F.count(F.lit(1)).alias(c.QUEUE_COUNT),
            F.count_if(F.col(c.SECONDS) > 0).alias(c.KNOWN_QUEUES),
            F.max(c.SECONDS).alias(c.SECONDS),
            F.sum(c.LAG_MEAN).alias(c.LAG_MEAN),
            F.sum(c.LAG_LAST).alias(c.LAG_LAST),
            F.max(c.LAG_MS_PEAK).alias(c.LAG_MS_PEAK),
            F.sum(c.IN_RATE).alias(c.IN_RATE),
            F.sum(c.OUT_RATE).alias(c.OUT_RATE),
        )
        .select(
            *_GROUP_KEY,
            c.CLIENT_ID,
            c.SINCE,
            c.SECONDS,
            c.QUEUE_COUNT,
            c.KNOWN_QUEUES,
            c.LAG_MEAN,
            c.LAG_LAST,
            c.LAG_MS_PEAK,
            c.IN_RATE,
            c.OUT_RATE,
        )
    )


def _summed(rows: DataFrame) -> DataFrame:
    is_known = F.col(_LAG).isNotNull()
    weight = F.col(c.WEIGHT)
    nothing = F.lit(0.0)
    known = F.sum(F.when(is_known, weight).otherwise(nothing))
    unknown = F.sum(F.when(is_known, nothing).otherwise(weight))
    return rows.groupBy(*c.QUEUE_KEY, c.EPOCH, _STEP).agg(
        known.alias(c.SECONDS),
        unknown.alias(c.UNKNOWN_SECONDS),
        (F.sum(F.col(_LAG) * weight) / F.when(known > 0, known)).alias(c.LAG_MEAN),
        F.max(_LAG).alias(c.LAG_PEAK),
        F.max_by(_LAG, F.when(is_known, F.col(_AT))).alias(c.LAG_LAST),
        F.max(c.LAG_MS).alias(c.LAG_MS_PEAK),
        *_ends(c.MAX),
        *_ends(c.COMMITTED),
    )


def _ends(offset: str) -> list[Column]:
    """Return the first and last known value of an offset in a step, and their times."""
    at = _when_known(offset)
    return [
        F.min(at).alias(f"{offset}_first_at"),
        F.min_by(offset, at).alias(f"{offset}_first"),
        F.max(at).alias(f"{offset}_last_at"),
        F.max_by(offset, at).alias(f"{offset}_last"),
    ]


def _when_known(column: str) -> Column:
    return F.when(F.col(column).isNotNull(), F.col(_AT))


def _with_rates(summed: DataFrame, step_ms: int) -> DataFrame:
    before = (
        Window.partitionBy(*c.QUEUE_KEY)
        .orderBy(_STEP, c.EPOCH)
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    return summed.withColumns(
        {
            c.IN_RATE: _rate(c.MAX, before, step_ms),
            c.OUT_RATE: _rate(c.COMMITTED, before, step_ms),
        }
    )


def _rate(offset: str, before: WindowSpec, step_ms: int) -> Column:
    """Return an offset's growth a second since the step before, else within the step.

    Null where it shrank: the topic was made anew, or the group was set back.
    """
    last, last_at = F.col(f"{offset}_last"), F.col(f"{offset}_last_at")
    prior = F.last(last, ignorenulls=True).over(before)
    prior_at = F.last(last_at, ignorenulls=True).over(before)
    is_near = last_at - prior_at <= max(2 * step_ms, LONGEST_GAP_MS)
    start = F.when(is_near, prior).otherwise(F.col(f"{offset}_first"))
    start_at = F.when(is_near, prior_at).otherwise(F.col(f"{offset}_first_at"))
    has_grown = (last >= start) & (last_at > start_at)
    return F.when(has_grown, (last - start) * 1000 / (last_at - start_at))


def _mean(column: str, weight: Column) -> Column:
    """Return a mean over the rows where the column is known."""
    counted = F.when(F.col(column).isNotNull(), weight)
    total = F.sum(counted)
    return F.sum(F.col(column) * counted) / F.when(total > 0, total)


def _floor(at: Column, step_ms: int) -> Column:
    return at - F.pmod(at, F.lit(step_ms))
