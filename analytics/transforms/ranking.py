"""The candidates of each group over the whole period: mean scores, moves, rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  the usual name

from analytics import contracts as c
from analytics.division import IN_USE, Candidate
from analytics.spread import LAG, score_names
from rmqcore.allocation import BALANCED

_KEY: Final = (c.CLUSTER, c.GROUP, c.STRATEGY)
_SCORES: Final = (*score_names(LAG), *score_names(c.LOAD))


def strategy_totals(by_time: DataFrame, moved: DataFrame) -> DataFrame:
    """Return one row per group and candidate: mean scores over the period, ranked."""
    totals = by_time.groupBy(*_KEY).agg(
        F.sum(c.SECONDS).alias(c.SECONDS),
        F.sum(c.UNKNOWN_SECONDS).alias(c.UNKNOWN_SECONDS),
        F.countDistinct(c.EPOCH).alias(c.EPOCH_COUNT),
        (_weighted(c.IDLE_COUNT) / _weighted(c.MEMBER_COUNT)).alias(c.IDLE_SHARE),
        *(_weighted(score).alias(score) for score in _SCORES),
        _seconds_while(c.OVERLOAD).alias(c.OVERLOAD_SECONDS),
        F.max(c.DRAIN_SECONDS).alias(c.DRAIN_PEAK),
        _seconds_while(c.NEVER_DRAINS).alias(c.NEVER_SECONDS),
        F.max(c.UNOWNED_COUNT).alias(c.UNOWNED_COUNT),
    )
    is_even = F.col(f"{c.LOAD}_{c.MAX_TO_MEAN}").isNotNull()
    is_ranked = is_even & (F.col(c.UNOWNED_COUNT) == 0) & _is_strategy()
    evenest = Window.partitionBy(c.CLUSTER, c.GROUP, is_ranked).orderBy(
        # Rounded, since equal loads summed in another order differ in the last digits.
        F.round(f"{c.LOAD}_{c.MAX_TO_MEAN}", 9),
        c.MOVES,
        c.STRATEGY,
    )
    changes = F.col(c.EPOCH_COUNT) - 1
    return (
        totals.join(moved, on=list(_KEY), how="left")
        .withColumn(c.MOVES_PER_CHANGE, _over(F.col(c.MOVES), changes))
        .withColumn(c.RANK, F.when(is_ranked, F.row_number().over(evenest)))
    )


def moves_between_epochs(
    divided: DataFrame, candidates: Sequence[Candidate]
) -> DataFrame:
    """Count per group and candidate the queues that change owner at epoch changes."""
    told = [each for each in candidates if each.name != IN_USE]
    counted = divided.groupBy(c.CLUSTER, c.GROUP).agg(
        *(
            F.when(F.count(each.moved_column) > 0, F.count_if(each.moved_column)).alias(
                each.moved_column
            )
            for each in told
        )
    )
    pairs = (
        F.struct(
            F.lit(each.name).alias(c.STRATEGY), F.col(each.moved_column).alias(c.MOVES)
        )
        for each in told
    )
    return counted.select(c.CLUSTER, c.GROUP, F.inline(F.array(*pairs)))


def _is_strategy() -> Column:
    """Tell which rows are RocketMQ's strategies, with the actual members."""
    is_variant = F.col(c.STRATEGY).startswith(IN_USE)
    return ~is_variant & (F.col(c.STRATEGY) != BALANCED)


def _over(value: Column, divisor: Column) -> Column:
    """Return a quotient; null, which is then not used, where the divisor is 0."""
    return value / F.nullif(divisor, F.lit(0))


def _seconds_while(flag: str) -> Column:
    """Return the time in which a flag held; null where it was never known."""
    held = F.sum(F.when(F.col(flag), F.col(c.SECONDS)).otherwise(0.0))
    return F.when(F.count(flag) > 0, held)


def _weighted(column: str) -> Column:
    weight = F.when(F.col(column).isNotNull(), F.col(c.SECONDS))
    total = F.sum(weight)
    return F.sum(F.col(column) * weight) / F.when(total > 0, total)
