"""How evenly each candidate would have spread what was measured.

The load and lag of every queue are taken as they were; only the owner changes with
the candidate. Scores and drain times are those of `rmqcore.allocation`, members
without queues included. A member whose load (or lag) is not known at all takes no part
in that score; a queue whose rate is not known adds nothing to its member's load, where
the what-if page would put in the mean of the topic.

Samples reach this module as steps, with numbers for names. Each is joined once to the
division of its epoch, in which the candidates are columns; they unfold only then, into
sums of few numbers. Where `steps` and `divided` are partitioned by group, nothing is
shuffled again. Names come back at the very end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  the usual name

from analytics import contracts as c
from analytics.division import IN_USE, MEMBER_IDS, Candidate
from rmqcore.allocation import BALANCED
from rmqcore.allocation.drain import ROUNDING

from .epochs import EPOCH_KEY, GROUP_NO, MEMBER, QUEUE_NO, group_names

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
CHOICE: Final = "choice"
"""A candidate's place in the list of candidates."""

_KEY: Final = (c.CLUSTER, c.GROUP, c.STRATEGY)
_EPOCH: Final = (GROUP_NO, c.EPOCH)
_LAGS: Final = "known_lags"
_LOADS: Final = "known_loads"
_DRAIN: Final = "drain"
_NEVER: Final = float("inf")


def member_steps(
    steps: DataFrame, divided: DataFrame, candidates: Sequence[Candidate]
) -> DataFrame:
    """Return one row per candidate, member and step: queues, lag and load.

    The queues that a candidate gives to nobody are summed under `NOBODY`.
    """
    places = F.array(*(F.col(each.column) for each in candidates))
    key = [*_EPOCH, QUEUE_NO]
    owners = divided.select(*key, *(each.column for each in candidates))
    return (
        steps.join(owners, on=key, how="inner")
        .select(
            *_EPOCH,
            c.SINCE,
            c.SECONDS,
            c.LAG_MEAN,
            c.IN_RATE,
            c.OUT_RATE,
            F.posexplode(places).alias(CHOICE, MEMBER),
        )
        .where(F.col(MEMBER).isNotNull())
        .groupBy(*_EPOCH, CHOICE, c.SINCE, MEMBER)
        .agg(
            F.count(F.lit(1)).alias(c.QUEUE_COUNT),
            F.max(c.SECONDS).alias(c.SECONDS),
            F.sum(c.LAG_MEAN).alias(LAG),
            F.count(c.LAG_MEAN).alias(_LAGS),
            F.sum(c.IN_RATE).alias(c.LOAD),
            F.count(c.IN_RATE).alias(_LOADS),
            F.sum(c.OUT_RATE).alias(c.OUT_RATE),
        )
    )


def with_group_no(frame: DataFrame, numbered: DataFrame) -> DataFrame:
    """Put a number in the place of the names of a group."""
    names = F.broadcast(group_names(numbered))
    joined = frame.join(names, on=[c.CLUSTER, c.GROUP], how="inner")
    return joined.drop(c.CLUSTER, c.GROUP)


def member_by_time(
    by_member: DataFrame,
    members: DataFrame,
    numbered: DataFrame,
    candidates: Sequence[Candidate],
) -> DataFrame:
    """Return what each member would have had in each step, under each candidate.

    Members that are only imagined have no `client_id`.
    """
    told = by_member.where(_is_told(candidates) & (F.col(MEMBER) >= 0))
    named = told.join(members, on=[*_EPOCH, MEMBER], how="left")
    return _with_names(named, numbered).select(
        *EPOCH_KEY,
        _name(candidates).alias(c.STRATEGY),
        c.CLIENT_ID,
        c.SINCE,
        c.SECONDS,
        c.QUEUE_COUNT,
        F.col(LAG).alias(c.LAG_MEAN),
        c.LOAD,
    )


def skew_by_time(
    by_member: DataFrame,
    sizes: DataFrame,
    numbered: DataFrame,
    candidates: Sequence[Candidate],
) -> DataFrame:
    """Return the scores of lag and load per group, candidate and step.

    A step that spans two epochs has a row for each, weighed by `seconds`. `overload`
    says that the busiest member would have had more load than any member of the group
    was ever seen to take; null while nobody was. `sizes` are the members of each epoch.
    """
    is_owned = F.col(MEMBER) >= 0
    step = (*_EPOCH, CHOICE, c.SINCE)
    ranked = (
        by_member.join(_capacity(by_member, candidates), on=GROUP_NO, how="left")
        .where(_is_told(candidates))
        .withColumn(_DRAIN, _member_drain())
        .withColumns(
            {
                name: F.when(is_owned, F.col(name)).cast("double")
                for name in (LAG, c.LOAD)
            }
        )
        .withColumns({_rank(name): _place_of(name, step) for name in (LAG, c.LOAD)})
    )
    summed = ranked.groupBy(*step).agg(
        F.max(c.SECONDS).alias(c.SECONDS),
        F.max(c.CAPACITY).alias(c.CAPACITY),
        F.count_if(is_owned).alias("busy"),
        F.coalesce(F.sum(F.when(~is_owned, F.col(c.QUEUE_COUNT))), F.lit(0)).alias(
            c.UNOWNED_COUNT
        ),
        F.max(_DRAIN).alias(_DRAIN),
        (F.count(_DRAIN) < F.count(F.lit(1))).alias("drain_partial"),
        *_moments(LAG),
        *_moments(c.LOAD),
    )
    busiest = F.col(f"{c.LOAD}_top")
    never = F.col(_DRAIN) == _NEVER
    is_unknown = F.col("drain_partial") & ~F.coalesce(never, F.lit(False))
    return (
        _with_names(summed.join(sizes, on=list(_EPOCH), how="inner"), numbered)
        .withColumn(c.MEMBER_COUNT, _size_with(candidates))
        .withColumn(c.IDLE_COUNT, F.col(c.MEMBER_COUNT) - F.col("busy"))
        .select(
            *EPOCH_KEY,
            _name(candidates).alias(c.STRATEGY),
            c.SINCE,
            c.SECONDS,
            c.MEMBER_COUNT,
            c.IDLE_COUNT,
            c.UNOWNED_COUNT,
            *_scores(LAG),
            *_scores(c.LOAD),
            busiest.alias(c.LOAD_PEAK),
            (busiest > F.col(c.CAPACITY) * (1 + ROUNDING)).alias(c.OVERLOAD),
            F.when(~is_unknown & ~never, F.col(_DRAIN)).alias(c.DRAIN_SECONDS),
            F.when(~is_unknown, never).alias(c.NEVER_DRAINS),
        )
    )


def epoch_sizes(epochs: DataFrame) -> DataFrame:
    """Return the number of members of each epoch."""
    return epochs.select(*EPOCH_KEY, F.size(MEMBER_IDS).alias(c.MEMBER_COUNT))


def load_by_member(
    by_member: DataFrame,
    members: DataFrame,
    numbered: DataFrame,
    candidates: Sequence[Candidate],
) -> DataFrame:
    """Return what each member of each epoch had under each candidate, over the period.

    Members that had nothing have a row of zeros; those only imagined have none. There
    is no row where a candidate could not be computed.
    """
    told = by_member.where(_is_told(candidates))
    summed = told.groupBy(*_EPOCH, CHOICE, MEMBER).agg(
        F.max(c.QUEUE_COUNT).alias(c.QUEUE_COUNT),
        F.sum(c.SECONDS).alias(c.SECONDS),
        _weighted(LAG).alias(c.LAG_MEAN),
        F.max(LAG).alias(c.LAG_PEAK),
        _weighted(c.LOAD).alias(c.LOAD),
    )
    computed = summed.select(*_EPOCH, CHOICE).distinct()
    everyone = computed.join(members, on=list(_EPOCH), how="inner")
    had_none = F.col(c.QUEUE_COUNT).isNull()
    nothing = F.lit(0)
    joined = everyone.join(summed, on=[*_EPOCH, CHOICE, MEMBER], how="left")
    return _with_names(joined, numbered).select(
        *EPOCH_KEY,
        _name(candidates).alias(c.STRATEGY),
        c.CLIENT_ID,
        F.coalesce(c.QUEUE_COUNT, nothing).alias(c.QUEUE_COUNT),
        c.SECONDS,
        *(
            F.when(had_none, nothing).otherwise(F.col(name)).alias(name)
            for name in (c.LAG_MEAN, c.LAG_PEAK, c.LOAD)
        ),
    )


def strategy_totals(by_time: DataFrame, moved: DataFrame) -> DataFrame:
    """Return one row per group and candidate: mean scores over the period, ranked."""
    totals = by_time.groupBy(*_KEY).agg(
        F.sum(c.SECONDS).alias(c.SECONDS),
        F.countDistinct(c.EPOCH).alias(c.EPOCH_COUNT),
        (_weighted(c.IDLE_COUNT) / _weighted(c.MEMBER_COUNT)).alias(c.IDLE_SHARE),
        *(_weighted(score).alias(score) for score in (*LAG_SCORES, *LOAD_SCORES)),
        _seconds_while(c.OVERLOAD).alias(c.OVERLOAD_SECONDS),
        F.max(c.DRAIN_SECONDS).alias(c.DRAIN_PEAK),
        _seconds_while(c.NEVER_DRAINS).alias(c.NEVER_SECONDS),
        F.max(c.UNOWNED_COUNT).alias(c.UNOWNED_COUNT),
    )
    is_ranked = F.col(f"{c.LOAD}_{c.MAX_TO_MEAN}").isNotNull() & _is_strategy()
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


def _is_strategy() -> Column:
    """Say which rows are strategies of RocketMQ's, with the members that there were."""
    is_variant = F.col(c.STRATEGY).startswith(IN_USE)
    return ~is_variant & (F.col(c.STRATEGY) != BALANCED)


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


def _with_names(frame: DataFrame, numbered: DataFrame) -> DataFrame:
    return frame.join(F.broadcast(group_names(numbered)), on=GROUP_NO, how="inner")


def _name(candidates: Sequence[Candidate]) -> Column:
    names = F.array(*(F.lit(each.name) for each in candidates))
    return F.element_at(names, F.col(CHOICE) + 1)


def _is_told(candidates: Sequence[Candidate]) -> Column:
    """The strategy in use has its own name, too; without one it only gives capacity."""
    return F.col(CHOICE) != _in_use(candidates)


def _in_use(candidates: Sequence[Candidate]) -> int:
    return [each.name for each in candidates].index(IN_USE)


def _capacity(by_member: DataFrame, candidates: Sequence[Candidate]) -> DataFrame:
    """Return the most that a member of each group was seen to consume."""
    is_in_use = (F.col(CHOICE) == _in_use(candidates)) & (F.col(MEMBER) >= 0)
    highest = F.max(c.OUT_RATE).alias(c.CAPACITY)
    return by_member.where(is_in_use).groupBy(GROUP_NO).agg(highest)


def _member_drain() -> Column:
    """Return the seconds until a member is done, as `member_drain_time` has it.

    Never is infinite here; null is unknown. What nobody owns never drains, nor does
    what is drained by no more than sums of floats differ in their order.
    """
    lag, load, capacity = F.col(LAG), F.col(c.LOAD), F.col(c.CAPACITY)
    is_known = (F.col(_LAGS) == F.col(c.QUEUE_COUNT)) & (
        F.col(_LOADS) == F.col(c.QUEUE_COUNT)
    )
    never, done = F.lit(_NEVER), F.lit(0.0)
    spare = capacity - F.least(load, capacity)
    owned = (
        F.when(load > capacity * (1 + ROUNDING), never)
        .when(~is_known, F.lit(None))
        .when(lag == 0, done)
        .when(capacity.isNull(), F.lit(None))
        .when(spare <= capacity * ROUNDING, never)
        .otherwise(_over(lag, spare))
    )
    left_over = F.when((lag > 0) | (load > 0), never).when(is_known, done)
    return F.when(F.col(MEMBER) >= 0, owned).otherwise(left_over)


def _size_with(candidates: Sequence[Candidate]) -> Column:
    """Return the number of members that a candidate divides among."""
    added = F.array(*(F.lit(each.added) for each in candidates))
    return F.col(c.MEMBER_COUNT) + F.element_at(added, F.col(CHOICE) + 1)


def _rank(column: str) -> str:
    return f"{column}_place"


def _place_of(column: str, step: Sequence[str]) -> Column:
    """Return a member's place among those whose value is known, the least first."""
    by_value = Window.partitionBy(*step).orderBy(F.col(column).asc_nulls_last())
    return F.row_number().over(by_value)


def _moments(column: str) -> list[Column]:
    value = F.col(column)
    return [
        F.count(value).alias(f"{column}_count"),
        F.sum(value).alias(f"{column}_sum"),
        F.max(value).alias(f"{column}_top"),
        F.var_pop(value).alias(f"{column}_spread"),
        F.sum(value * F.col(_rank(column))).alias(f"{column}_ranked"),
    ]


def _scores(column: str) -> list[Column]:
    """Return the three scores, from the moments of the members that had something.

    Idle members stand before the others, with 0; members whose value is not known
    take no part. The variance of all is that of the busy ones and, since the idle ones
    are all 0, the distance of the two means.
    """
    busy, idle = F.col(f"{column}_count"), F.col(c.IDLE_COUNT)
    total = F.coalesce(F.col(f"{column}_sum"), F.lit(0.0))
    count = busy + idle
    mean = _over(total, count)
    busy_mean = _over(total, busy)
    squares = F.col(f"{column}_spread") * busy
    squares += busy_mean * busy_mean * _over(busy * idle, count)
    ranked = F.col(f"{column}_ranked") + idle * total
    gini = 2 * _over(_over(ranked, total), count) - _over(count + 1, count)
    is_known = count > 0
    is_loaded = is_known & (total > 0)
    return [
        F.when(is_loaded, score).when(is_known, F.lit(even)).alias(f"{column}_{name}")
        for name, score, even in (
            (c.MAX_TO_MEAN, _over(F.col(f"{column}_top"), mean), 1.0),
            (c.VARIATION, _over(F.sqrt(_over(squares, count)), mean), 0.0),
            (c.GINI, F.greatest(gini, F.lit(0.0)), 0.0),
        )
    ]


def _over(value: Column, divisor: Column) -> Column:
    """Return a quotient; null, which is not used then, where the divisor is 0."""
    return value / F.nullif(divisor, F.lit(0))


def _seconds_while(flag: str) -> Column:
    """Return the time in which a flag held; null where it was never known."""
    held = F.sum(F.when(F.col(flag), F.col(c.SECONDS)).otherwise(0.0))
    return F.when(F.count(flag) > 0, held)


def _weighted(column: str) -> Column:
    weight = F.when(F.col(column).isNotNull(), F.col(c.SECONDS))
    total = F.sum(weight)
    return F.sum(F.col(column) * weight) / F.when(total > 0, total)
