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

from .parts import AT, STEP, floor, parts_of, with_lag, with_mean

LONGEST_GAP_MS: Final = 180_000
"""Offsets further apart than this (and two steps) give no rate: too much is unseen."""

_GROUP_KEY: Final[tuple[str, ...]] = (c.CLUSTER, c.GROUP)


def queue_steps(
    samples: DataFrame,
    step_seconds: int,
    *,
    pieces: int = 1,
    numbered: DataFrame | None = None,
) -> DataFrame:
    """Return one row per queue, epoch and step: lag, age and rates.

    The rows of a group are in one of so many pieces, so that what follows, which is
    all by group, is not shuffled again. With `numbered` queues, their numbers stand for
    their names, and all other queues are left out.
    """
    parts = parts_of(samples, step_seconds * 1000)
    return steps_of_parts(parts, step_seconds, pieces=pieces, numbered=numbered)


def steps_of_parts(
    parts: DataFrame,
    step_seconds: int,
    *,
    pieces: int = 1,
    numbered: DataFrame | None = None,
) -> DataFrame:
    """Return `queue_steps` from parts, one of each queue, epoch and step."""
    step_ms = step_seconds * 1000
    summed = with_mean(parts)
    group, queue = _GROUP_KEY, tuple[str, ...](c.QUEUE_KEY)
    if numbered is not None:
        summed = with_numbers(summed, numbered)
        group, queue = (c.GROUP_NO,), (c.GROUP_NO, c.QUEUE_NO)
    return _with_rates(summed.repartition(pieces, *group), step_ms, queue).select(
        *queue,
        c.EPOCH,
        F.timestamp_millis(STEP).alias(c.SINCE),
        c.SECONDS,
        c.UNKNOWN_SECONDS,
        c.LAG_MEAN,
        c.LAG_PEAK,
        c.LAG_LAST,
        c.LAG_MS_PEAK,
        c.OVER_SECONDS,
        c.IN_RATE,
        c.OUT_RATE,
    )


def with_numbers(steps: DataFrame, numbered: DataFrame) -> DataFrame:
    """Put numbers in the place of names; queues without a number are left out."""
    joined = steps.join(F.broadcast(numbered), on=list(c.QUEUE_KEY), how="inner")
    return joined.drop(*c.QUEUE_KEY)


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
            F.timestamp_millis(floor(F.col(AT), step_seconds * 1000)).alias(c.SINCE),
        )
        .agg(F.max_by(c.OWNER, AT).alias(c.OWNER))
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
            F.sum(c.OVER_SECONDS).alias(c.OVER_SECONDS),
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
            c.OVER_SECONDS,
            c.IN_RATE,
            c.OUT_RATE,
        )
    )


def lag_by_group(peaks: DataFrame, queues: DataFrame) -> DataFrame:
    """Return one row per group and step, from `peaks_of` and `lag_by_queue`.

    `lag_peak` is the highest sum over the group at one sampled moment, which is less
    than the sum of the queues' peaks. Sums are over the queues that are known:
    `known_queues` below `queue_count` says that they are partial.
    """
    of_groups = peaks.where(F.col(c.TOPIC).isNull()).drop(c.TOPIC)
    return _lag_by(_GROUP_KEY, of_groups, queues)


def lag_by_topic(peaks: DataFrame, queues: DataFrame) -> DataFrame:
    """Return one row per group, topic and step, as `lag_by_group` does for groups."""
    of_topics = peaks.where(F.col(c.TOPIC).isNotNull())
    return _lag_by((*_GROUP_KEY, c.TOPIC), of_topics, queues)


def _lag_by(key: tuple[str, ...], peaks: DataFrame, queues: DataFrame) -> DataFrame:
    at_once = peaks.select(*key, F.timestamp_millis(STEP).alias(c.SINCE), c.LAG_PEAK)
    known = F.col(c.SECONDS) > 0
    summed = queues.groupBy(*key, c.SINCE).agg(
        F.count(F.lit(1)).alias(c.QUEUE_COUNT),
        F.count_if(known).alias(c.KNOWN_QUEUES),
        F.max(c.SECONDS).alias(c.SECONDS),
        F.sum(c.LAG_MEAN).alias(c.LAG_MEAN),
        F.sum(c.LAG_LAST).alias(c.LAG_LAST),
        F.max(c.LAG_MS_PEAK).alias(c.LAG_MS_PEAK),
        F.sum(c.IN_RATE).alias(c.IN_RATE),
        F.sum(c.OUT_RATE).alias(c.OUT_RATE),
    )
    return summed.join(at_once, on=[*key, c.SINCE], how="inner").select(
        *key,
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


def _with_rates(summed: DataFrame, step_ms: int, queue: tuple[str, ...]) -> DataFrame:
    before = (
        Window.partitionBy(*queue)
        # Both rise together; in this order a join by epoch needs no second sort.
        .orderBy(c.EPOCH, STEP)
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
