"""How evenly each candidate would have spread what was measured.

The load and lag of every queue are taken as they were; only the owner changes with
the candidate. Scores are those of `rmqcore.allocation.scores`, members without queues
included. Rates or lags that are not known are left out of a member's sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  the usual name

from analytics import contracts as c
from analytics.division import IN_USE, MEMBER_IDS, Candidate

from .epochs import EPOCH_KEY, MEMBER

LAG: Final = "lag"
LAG_SCORES: Final = (
    f"{LAG}_{c.MAX_TO_MEAN}",
    f"{LAG}_{c.VARIATION}",
    f"{LAG}_{c.GINI}",
)
LOAD_SCORES: Final = (
    f"{c.LOAD}_{c.MAX_TO_MEAN}",
    f"{c.LOAD}_{c.VARIATION}",
    f"{c.LOAD}_{c.GINI}",
)
_CHOICE: Final = "choice"
_BUSY: Final = "busy"
_KEY: Final = (c.CLUSTER, c.GROUP, c.STRATEGY)


def member_steps(
    steps: DataFrame, divided: DataFrame, candidates: Sequence[Candidate]
) -> DataFrame:
    """Return one row per candidate, member and step: queues, lag and load.

    `divided` is joined once; the candidates unfold only after that.
    """
    return (
        steps.join(divided, on=[*c.QUEUE_KEY, c.EPOCH], how="inner")
        .select(
            *EPOCH_KEY,
            c.SINCE,
            c.SECONDS,
            c.LAG_MEAN,
            c.IN_RATE,
            c.OUT_RATE,
            F.explode(_choices(candidates)).alias(_CHOICE),
        )
        .select("*", f"{_CHOICE}.*")
        .where(F.col(MEMBER).isNotNull())
        .groupBy(*EPOCH_KEY, c.STRATEGY, c.SINCE, MEMBER)
        .agg(
            F.count(F.lit(1)).alias(c.QUEUE_COUNT),
            F.max(c.SECONDS).alias(c.SECONDS),
            F.sum(c.LAG_MEAN).alias(LAG),
            F.sum(c.IN_RATE).alias(c.LOAD),
            F.sum(c.OUT_RATE).alias(c.OUT_RATE),
        )
    )


def skew_by_time(
    by_member: DataFrame, epochs: DataFrame, candidates: Sequence[Candidate]
) -> DataFrame:
    """Return the scores of lag and load per group, candidate and step.

    A step that spans two epochs has a row for each, weighed by `seconds`. `overload`
    says that the busiest member would have had more load than any member of the group
    was ever seen to take; null while nobody was.
    """
    sizes = epochs.select(*EPOCH_KEY, F.size(MEMBER_IDS).alias(c.MEMBER_COUNT))
    gathered = (
        by_member.groupBy(*EPOCH_KEY, c.STRATEGY, c.SINCE)
        .agg(
            F.max(c.SECONDS).alias(c.SECONDS),
            F.count(F.lit(1)).alias(_BUSY),
            F.array_sort(F.collect_list(LAG)).alias(LAG),
            F.array_sort(F.collect_list(c.LOAD)).alias(c.LOAD),
        )
        .join(F.broadcast(sizes), on=list(EPOCH_KEY), how="inner")
        .join(F.broadcast(_capacity(by_member)), on=[c.CLUSTER, c.GROUP], how="left")
    )
    busiest = F.array_max(c.LOAD)
    return (
        gathered.withColumn(c.MEMBER_COUNT, _size_with(candidates))
        .withColumn(c.IDLE_COUNT, F.col(c.MEMBER_COUNT) - F.col(_BUSY))
        .withColumn(c.OVERLOAD, busiest > F.col(c.CAPACITY))
        .select(
            *EPOCH_KEY,
            c.STRATEGY,
            c.SINCE,
            c.SECONDS,
            c.MEMBER_COUNT,
            c.IDLE_COUNT,
            *_scores(LAG),
            *_scores(c.LOAD),
            busiest.alias(c.LOAD_PEAK),
            c.OVERLOAD,
        )
    )


def load_by_member(by_member: DataFrame, members: DataFrame) -> DataFrame:
    """Return what each member of each epoch had under each candidate, over the period.

    Members that had nothing have a row of zeros; those only imagined have none.
    """
    everyone = members.crossJoin(by_member.select(c.STRATEGY).distinct())
    summed = by_member.groupBy(*EPOCH_KEY, c.STRATEGY, MEMBER).agg(
        F.max(c.QUEUE_COUNT).alias(c.QUEUE_COUNT),
        F.sum(c.SECONDS).alias(c.SECONDS),
        _weighted(LAG).alias(c.LAG_MEAN),
        F.max(LAG).alias(c.LAG_PEAK),
        _weighted(c.LOAD).alias(c.LOAD),
    )
    had_none = F.col(c.QUEUE_COUNT).isNull()
    nothing = F.lit(0)
    joined = everyone.join(summed, on=[*EPOCH_KEY, c.STRATEGY, MEMBER], how="left")
    return joined.where(F.col(c.STRATEGY) != IN_USE).select(
        *EPOCH_KEY,
        c.STRATEGY,
        c.CLIENT_ID,
        F.coalesce(c.QUEUE_COUNT, nothing).alias(c.QUEUE_COUNT),
        c.SECONDS,
        *(
            F.when(had_none, nothing).otherwise(F.col(name)).alias(name)
            for name in (c.LAG_MEAN, c.LAG_PEAK, c.LOAD)
        ),
    )


def strategy_totals(by_time: DataFrame) -> DataFrame:
    """Return one row per group and candidate: mean scores over the period."""
    overload = F.sum(F.when(F.col(c.OVERLOAD), F.col(c.SECONDS)).otherwise(0.0))
    is_known = F.count(c.OVERLOAD) > 0
    return by_time.groupBy(*_KEY).agg(
        F.sum(c.SECONDS).alias(c.SECONDS),
        F.countDistinct(c.EPOCH).alias(c.EPOCH_COUNT),
        (_weighted(c.IDLE_COUNT) / _weighted(c.MEMBER_COUNT)).alias(c.IDLE_SHARE),
        *(_weighted(score).alias(score) for score in (*LAG_SCORES, *LOAD_SCORES)),
        F.when(is_known, overload).alias(c.OVERLOAD_SECONDS),
    )


def moves_between_epochs(
    divided: DataFrame, members: DataFrame, candidates: Sequence[Candidate]
) -> DataFrame:
    """Count per group and candidate the queues that change owner at epoch changes.

    Owners are compared by client id: the same place is another member after a join.
    A queue that had no owner, or has none now, is not moved.
    """
    before = F.lag(c.CLIENT_ID).over(
        Window.partitionBy(*c.QUEUE_KEY, c.STRATEGY).orderBy(c.EPOCH)
    )
    owned = (
        divided.select(
            *c.QUEUE_KEY, c.EPOCH, F.explode(_choices(candidates)).alias(_CHOICE)
        )
        .select(*c.QUEUE_KEY, c.EPOCH, f"{_CHOICE}.*")
        .join(members, on=[*EPOCH_KEY, MEMBER], how="left")
    )
    has_moved = before != F.col(c.CLIENT_ID)
    return (
        owned.withColumn(c.MOVES, has_moved)
        .groupBy(*_KEY)
        .agg(F.count_if(c.MOVES).alias(c.MOVES))
    )


def _choices(candidates: Sequence[Candidate]) -> Column:
    return F.array(
        *(
            F.struct(
                F.lit(each.name).alias(c.STRATEGY), F.col(each.column).alias(MEMBER)
            )
            for each in candidates
        )
    )


def _capacity(by_member: DataFrame) -> DataFrame:
    """Return the most that a member of each group was seen to consume."""
    return (
        by_member.where(F.col(c.STRATEGY) == IN_USE)
        .groupBy(c.CLUSTER, c.GROUP)
        .agg(F.max(c.OUT_RATE).alias(c.CAPACITY))
    )


def _size_with(candidates: Sequence[Candidate]) -> Column:
    """Return the number of members that a candidate divides among."""
    size = F.col(c.MEMBER_COUNT)
    for each in candidates:
        if each.added:
            is_this = F.col(c.STRATEGY) == each.name
            size = F.when(is_this, F.col(c.MEMBER_COUNT) + each.added).otherwise(size)
    return size


def _scores(column: str) -> list[Column]:
    """Return the three scores of a sorted array of loads.

    Idle members stand before the others, with 0; members whose load is not known
    take no part.
    """
    loads = F.col(column)
    idle = F.col(c.IDLE_COUNT)
    count = F.size(loads) + idle
    total = F.aggregate(loads, F.lit(0.0), _plus)
    mean = total / count
    squares = F.transform(loads, lambda load: F.pow(load / mean - 1, F.lit(2.0)))
    deviation = F.sqrt((F.aggregate(squares, F.lit(0.0), _plus) + idle) / count)
    ranks = F.transform(loads, lambda load, place: load * (place + idle + 1))
    ranked = F.aggregate(ranks, F.lit(0.0), _plus)
    gini = F.greatest(2 * ranked / total / count - (count + 1) / count, F.lit(0.0))
    is_known = F.size(loads) > 0
    is_loaded = is_known & (total > 0)
    return [
        F.when(is_loaded, score).when(is_known, F.lit(even)).alias(f"{column}_{name}")
        for name, score, even in (
            (c.MAX_TO_MEAN, F.array_max(loads) / mean, 1.0),
            (c.VARIATION, deviation, 0.0),
            (c.GINI, gini, 0.0),
        )
    ]


def _plus(total: Column, value: Column) -> Column:
    return total + value


def _weighted(column: str) -> Column:
    weight = F.when(F.col(column).isNotNull(), F.col(c.SECONDS))
    total = F.sum(weight)
    return F.sum(F.col(column) * weight) / F.when(total > 0, total)
