"""Lag per queue, group and consumer, in steps of equal length.

Every queue has a row in every step in which an epoch names it (`presence`), sampled or
not. `seconds` of it are known, as claimed by samples; `unknown_seconds` are the rest,
so that the two add up to the time that the queue was present. Where a committed offset
is not known the lag is not known either, never 0.

Rates come from the offsets at the end of a step and of the one before it, so that
nothing between two samples is missed; where a step has no sample of its own, the
samples around it are used.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812  the usual name

from analytics import contracts as c
from analytics.presence import Period

from .parts import AT, STEP, moment_step, with_lag, with_mean
from .presence import LENGTH, steps_there, whole_step

LONGEST_GAP_MS: Final = 180_000
"""Offsets further apart than this (and two steps) give no rate: the gap is too long."""

CLAIMED: Final = "claimed"
"""Seconds that samples claim under an epoch's number, within its time or not: the first
sample of a new epoch may claim time of the one before."""

_WHOLE: Final = "whole"
"""Seconds of the step that are within the period."""

_GROUP_KEY: Final[tuple[str, ...]] = (c.CLUSTER, c.GROUP)


def steps_of_parts(
    parts: DataFrame,
    there: DataFrame,
    period: Period,
    *,
    pieces: int = 1,
) -> DataFrame:
    """Return one row per queue, epoch and step of a period: lag, age and rates.

    `parts` has one row per queue, epoch and step, `there` is the result of
    `queues_there`. All rows of a group are in one of the `pieces`, so that the later
    work, which is all by group, needs no further shuffle.

    A queue of an epoch without a row is taken to be present in the steps that its
    samples claim time of.
    """
    measured = with_mean(parts)
    queue = tuple[str, ...](c.QUEUE_KEY)
    key = (*queue, c.EPOCH, STEP)
    values = [name for name in measured.columns if name not in key]
    both = (
        measured.unionByName(steps_there(there, period), allowMissingColumns=True)
        .repartition(pieces, *_GROUP_KEY)
        .groupBy(*key)
        .agg(*(F.max(name).alias(name) for name in (*values, LENGTH)))
    )
    counted = _counted(_with_rates(both, period.step_ms, queue), queue, period)
    return counted.where(F.col(_WHOLE) > 0).select(
        *queue,
        c.EPOCH,
        F.timestamp_millis(STEP).alias(c.SINCE),
        CLAIMED,
        _WHOLE,
        c.SECONDS,
        c.UNKNOWN_SECONDS,
        c.LAG_MEAN,
        c.LAG_PEAK,
        c.LAG_LAST,
        c.LAG_LAST_AT,
        c.LAG_MS_PEAK,
        c.OVER_SECONDS,
        c.IN_RATE,
        c.OUT_RATE,
    )


def of_epochs(steps: DataFrame) -> DataFrame:
    """Keep the rows of queues while their epoch lasted, for results by epoch."""
    return steps.where(_length() > 0)


def owners_seen(samples: DataFrame, step_ms: int) -> DataFrame:
    """Return who last reported a queue in each step, if anyone did.

    This is separate from `steps_of_parts`, whose numbers are summed in a hash table: a
    single text column among them would make Spark sort all samples.
    """
    since = F.timestamp_millis(moment_step(step_ms)).alias(c.SINCE)
    return (
        with_lag(samples)
        .where(F.col(c.OWNER).isNotNull())
        .groupBy(*c.QUEUE_KEY, c.EPOCH, since)
        .agg(F.max_by(c.OWNER, AT).alias(c.OWNER))
    )


def lag_by_queue(steps: DataFrame) -> DataFrame:
    """Merge the epochs that share a step: one row per queue and step.

    Time that a sample claims is known for its queue, whatever epoch it was in.
    """
    length = F.least(F.sum(_length()), F.max(_WHOLE))
    merged = steps.groupBy(*c.QUEUE_KEY, c.SINCE).agg(
        F.least(F.sum(CLAIMED), length).alias(c.SECONDS),
        length.alias(LENGTH),
        _mean(c.LAG_MEAN, F.col(CLAIMED)).alias(c.LAG_MEAN),
        F.max(c.LAG_PEAK).alias(c.LAG_PEAK),
        F.max_by(c.LAG_LAST, c.LAG_LAST_AT).alias(c.LAG_LAST),
        F.max(c.LAG_MS_PEAK).alias(c.LAG_MS_PEAK),
        F.sum(c.OVER_SECONDS).alias(c.OVER_SECONDS),
        _mean(c.IN_RATE, _length()).alias(c.IN_RATE),
        _mean(c.OUT_RATE, _length()).alias(c.OUT_RATE),
    )
    return merged.where(F.col(LENGTH) > 0).select(
        *c.QUEUE_KEY,
        c.SINCE,
        c.SECONDS,
        _unknown(),
        c.LAG_MEAN,
        c.LAG_PEAK,
        c.LAG_LAST,
        c.LAG_MS_PEAK,
        _at_most(c.OVER_SECONDS, F.col(c.SECONDS)).alias(c.OVER_SECONDS),
        c.IN_RATE,
        c.OUT_RATE,
    )


def lag_by_group(peaks: DataFrame, steps: DataFrame, queues: DataFrame) -> DataFrame:
    """Return one row per group and step, from `peaks_of`, steps and `lag_by_queue`.

    `lag_peak` is the highest sum over the group at one sampled moment, which is less
    than the sum of the queues' peaks. Sums are over the queues that are known:
    `known_queues` below `queue_count` says that they are partial. `seconds` is a mean
    over the queues.
    """
    of_groups = peaks.where(F.col(c.TOPIC).isNull()).drop(c.TOPIC)
    return _lag_by(_GROUP_KEY, of_groups, steps, queues)


def lag_by_topic(peaks: DataFrame, steps: DataFrame, queues: DataFrame) -> DataFrame:
    """Return one row per group, topic and step, as `lag_by_group` does for groups."""
    of_topics = peaks.where(F.col(c.TOPIC).isNotNull())
    return _lag_by((*_GROUP_KEY, c.TOPIC), of_topics, steps, queues)


def _lag_by(
    key: tuple[str, ...], peaks: DataFrame, steps: DataFrame, queues: DataFrame
) -> DataFrame:
    at_once = peaks.select(*key, F.timestamp_millis(STEP).alias(c.SINCE), c.LAG_PEAK)
    lengths = (
        steps.groupBy(*key, c.SINCE, c.EPOCH)
        .agg(F.max(_length()).alias(LENGTH), F.max(_WHOLE).alias(_WHOLE))
        .groupBy(*key, c.SINCE)
        .agg(F.least(F.sum(LENGTH), F.max(_WHOLE)).alias(LENGTH))
    )
    summed = queues.groupBy(*key, c.SINCE).agg(
        F.count(F.lit(1)).alias(c.QUEUE_COUNT),
        F.count_if(F.col(c.SECONDS) > 0).alias(c.KNOWN_QUEUES),
        _known_share().alias(_SHARE),
        F.sum(c.LAG_MEAN).alias(c.LAG_MEAN),
        F.sum(c.LAG_LAST).alias(c.LAG_LAST),
        F.max(c.LAG_MS_PEAK).alias(c.LAG_MS_PEAK),
        F.sum(c.IN_RATE).alias(c.IN_RATE),
        F.sum(c.OUT_RATE).alias(c.OUT_RATE),
    )
    return (
        summed.join(lengths, on=[*key, c.SINCE], how="inner")
        .join(at_once, on=[*key, c.SINCE], how="left")
        .withColumn(c.SECONDS, F.col(LENGTH) * F.col(_SHARE))
        .select(
            *key,
            c.SINCE,
            c.SECONDS,
            _unknown(),
            c.QUEUE_COUNT,
            c.KNOWN_QUEUES,
            c.LAG_MEAN,
            c.LAG_PEAK,
            c.LAG_LAST,
            c.LAG_MS_PEAK,
            c.IN_RATE,
            c.OUT_RATE,
        )
    )


def lag_by_consumer(steps: DataFrame, owners: DataFrame, seen: DataFrame) -> DataFrame:
    """Return one row per consumer and step.

    `owners` has the queue key, epoch and `client_id` of the strategy in use; an owner
    that the client itself reported (`owners_seen`) takes precedence. Queues without
    either are left out. Where epochs share a step, each counts by its length, and
    `queue_count` is the most that the consumer had in one of them.
    """
    keys = [*c.QUEUE_KEY, c.EPOCH]
    owner = F.coalesce(F.col(c.OWNER), F.col(c.CLIENT_ID))
    is_known = F.col(c.SECONDS) > 0
    in_epochs = (
        of_epochs(steps)
        .join(owners.select(*keys, c.CLIENT_ID), on=keys, how="left")
        .join(seen, on=[*keys, c.SINCE], how="left")
        .withColumn(c.CLIENT_ID, owner)
        .where(F.col(c.CLIENT_ID).isNotNull())
        .groupBy(*_GROUP_KEY, c.CLIENT_ID, c.SINCE, c.EPOCH)
        .agg(
            F.count(F.lit(1)).alias(c.QUEUE_COUNT),
            F.count_if(~is_known).alias(_MISSING),
            _known_share().alias(_SHARE),
            F.max(_length()).alias(LENGTH),
            F.max(_WHOLE).alias(_WHOLE),
            F.sum(c.LAG_MEAN).alias(c.LAG_MEAN),
            F.sum(c.LAG_LAST).alias(c.LAG_LAST),
            F.max(c.LAG_MS_PEAK).alias(c.LAG_MS_PEAK),
            F.sum(c.IN_RATE).alias(c.IN_RATE),
            F.sum(c.OUT_RATE).alias(c.OUT_RATE),
        )
    )
    length = F.col(LENGTH)
    most = F.max(c.QUEUE_COUNT)
    merged = in_epochs.groupBy(*_GROUP_KEY, c.CLIENT_ID, c.SINCE).agg(
        most.alias(c.QUEUE_COUNT),
        F.greatest(most - F.max(_MISSING), F.lit(0)).alias(c.KNOWN_QUEUES),
        F.least(F.sum(LENGTH), F.max(_WHOLE)).alias(LENGTH),
        (F.sum(length * F.col(_SHARE)) / F.sum(LENGTH)).alias(_SHARE),
        _mean(c.LAG_MEAN, length).alias(c.LAG_MEAN),
        F.max_by(c.LAG_LAST, c.EPOCH).alias(c.LAG_LAST),
        F.max(c.LAG_MS_PEAK).alias(c.LAG_MS_PEAK),
        _mean(c.IN_RATE, length).alias(c.IN_RATE),
        _mean(c.OUT_RATE, length).alias(c.OUT_RATE),
    )
    return merged.withColumn(c.SECONDS, F.col(LENGTH) * F.col(_SHARE)).select(
        *_GROUP_KEY,
        c.CLIENT_ID,
        c.SINCE,
        c.SECONDS,
        _unknown(),
        c.QUEUE_COUNT,
        c.KNOWN_QUEUES,
        c.LAG_MEAN,
        c.LAG_LAST,
        c.LAG_MS_PEAK,
        c.IN_RATE,
        c.OUT_RATE,
    )


_SHARE: Final = "share"
_MISSING: Final = "missing"


def _counted(rows: DataFrame, queue: tuple[str, ...], period: Period) -> DataFrame:
    """Add how much of each step is known, and how much is not."""
    in_epoch = Window.partitionBy(*queue, c.EPOCH)
    is_told = F.max(LENGTH).over(in_epoch).isNotNull()
    length = F.coalesce(LENGTH, F.when(is_told, 0.0).otherwise(F.col(_WHOLE)))
    claimed = F.col(CLAIMED)
    return (
        rows.withColumn(_WHOLE, whole_step(period))
        .withColumn(CLAIMED, F.coalesce(c.SECONDS, F.lit(0.0)))
        .withColumn(LENGTH, length)
        .withColumn(c.SECONDS, F.least(claimed, F.col(LENGTH)))
        .withColumn(c.UNKNOWN_SECONDS, F.col(LENGTH) - F.col(c.SECONDS))
    )


def _length() -> Column:
    """Return how long a row's queue was present in its step."""
    return F.col(c.SECONDS) + F.col(c.UNKNOWN_SECONDS)


def _unknown() -> Column:
    return (F.col(LENGTH) - F.col(c.SECONDS)).alias(c.UNKNOWN_SECONDS)


def _known_share() -> Column:
    """Return how much is known of the time that several queues were present."""
    length = F.sum(_length())
    return F.sum(c.SECONDS) / F.when(length > 0, length)


def _at_most(column: str, limit: Column) -> Column:
    """Limit a column; `least` alone skips nulls, which would make them known."""
    value = F.col(column)
    return F.when(value.isNotNull(), F.least(value, limit))


def _with_rates(summed: DataFrame, step_ms: int, queue: tuple[str, ...]) -> DataFrame:
    # Both rise together; in this order a join by epoch needs no second sort.
    in_order = Window.partitionBy(*queue).orderBy(c.EPOCH, STEP)
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    # A sample that claims time of a step comes at most this many steps later.
    after = in_order.rowsBetween(1, max(2, LONGEST_GAP_MS // step_ms))
    return summed.withColumns(
        {
            c.IN_RATE: _rate(c.MAX, before, after, step_ms),
            c.OUT_RATE: _rate(c.COMMITTED, before, after, step_ms),
        }
    )


def _rate(offset: str, before: WindowSpec, after: WindowSpec, step_ms: int) -> Column:
    """Return an offset's growth a second since the step before, else within the step.

    Null where it shrank: the topic was recreated, or the group was reset.
    """
    own, own_at = F.col(f"{offset}_last"), F.col(f"{offset}_last_at")
    last = F.coalesce(own, F.first(f"{offset}_first", ignorenulls=True).over(after))
    last_at = F.coalesce(
        own_at, F.first(f"{offset}_first_at", ignorenulls=True).over(after)
    )
    prior = F.last(own, ignorenulls=True).over(before)
    prior_at = F.last(own_at, ignorenulls=True).over(before)
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
