"""Epochs as the back-test needs them: the newest row of each, members, loads."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  the usual name

from analytics import contracts as c
from analytics.division import MEMBER_IDS, WEIGHTS
from rmqcore.allocation import DEFAULT_STRATEGY

MEMBER: Final = "member"
"""A member's place in its epoch's list of ids."""

OVER: Final = "over"
"""When an epoch was seen to have ended: its group had changed or was gone."""

EPOCH_KEY: Final = (c.CLUSTER, c.GROUP, c.EPOCH)
_CLUSTERING: Final = "CLUSTERING"


def told_epochs(epochs: DataFrame) -> DataFrame:
    """Keep the newest row of each epoch, and add `OVER`; null while one runs."""
    newest_first = Window.partitionBy(*EPOCH_KEY).orderBy(F.col(c.TIME).desc())
    in_order = Window.partitionBy(c.CLUSTER, c.GROUP).orderBy(c.EPOCH)
    # An epoch that a killed collector left open ended where the next one began.
    following = F.lead(c.BEGAN).over(in_order)
    return (
        epochs.withColumn("newest", F.row_number().over(newest_first))
        .where(F.col("newest") == 1)
        .withColumn(OVER, F.least(F.col(c.ENDED_BEFORE), following))
    )


def newest_epochs(epochs: DataFrame, since_ms: int) -> DataFrame:
    """Return the epochs of CLUSTERING groups that were not over by then, once each.

    `member_ids` lists a client id once for each process that has it. In BROADCASTING
    nothing is divided; where the strategy is not known it is assumed to be AVG, and
    `strategy_source` says so.
    """
    since = F.timestamp_millis(F.lit(since_ms))
    divides = F.coalesce(F.col(c.MODE), F.lit(_CLUSTERING)) == _CLUSTERING
    return (
        told_epochs(epochs)
        .where(F.col(OVER).isNull() | (F.col(OVER) > since))
        .where(divides & (F.size(c.MEMBERS) > 0))
        .select(
            *EPOCH_KEY,
            c.BEGAN,
            F.coalesce(c.STRATEGY, F.lit(DEFAULT_STRATEGY)).alias(c.STRATEGY),
            F.when(F.col(c.STRATEGY).isNull(), F.lit("assumed"))
            .otherwise(F.col(c.STRATEGY_SOURCE))
            .alias(c.STRATEGY_SOURCE),
            c.OPTIONS,
            F.transform(c.MEMBERS, lambda member: member[c.CLIENT_ID]).alias(
                MEMBER_IDS
            ),
            c.QUEUES,
        )
    )


def numbers(epochs: DataFrame) -> DataFrame:
    """Return the queues of all epochs, numbered; few enough to be sent to every task.

    The two windows run in one partition on purpose: there are only as many rows as
    queues.
    """
    queue = "queue"
    by_name = Window.orderBy(*c.QUEUE_KEY)
    by_group = Window.orderBy(c.CLUSTER, c.GROUP)
    return (
        epochs.select(c.CLUSTER, c.GROUP, F.explode(c.QUEUES).alias(queue))
        .select(c.CLUSTER, c.GROUP, f"{queue}.*")
        .distinct()
        .withColumn(c.QUEUE_NO, F.row_number().over(by_name))
        .withColumn(c.GROUP_NO, F.dense_rank().over(by_group))
    )


def group_names(numbered: DataFrame) -> DataFrame:
    """Return the names of each group number."""
    return numbered.select(c.GROUP_NO, c.CLUSTER, c.GROUP).distinct()


def with_weights(
    epochs: DataFrame, steps: DataFrame | None, numbered: DataFrame
) -> DataFrame:
    """Add what came into each queue over the epoch, in messages a second, as a list.

    `steps` have numbers instead of names. Without steps, for divisions that use no
    weights, the list is null.
    """
    if steps is None:
        return epochs.withColumn(WEIGHTS, F.lit(None).cast("string"))
    length = F.col(c.SECONDS) + F.col(c.UNKNOWN_SECONDS)
    known = F.when(F.col(c.IN_RATE).isNotNull(), length)
    weight = F.sum(F.col(c.IN_RATE) * known) / F.when(F.sum(known) > 0, F.sum(known))
    weights = (
        steps.groupBy(c.GROUP_NO, c.QUEUE_NO, c.EPOCH)
        .agg(weight.alias(c.LOAD))
        .join(F.broadcast(numbered), on=[c.GROUP_NO, c.QUEUE_NO], how="inner")
        .groupBy(*EPOCH_KEY)
        .agg(
            F.collect_list(F.struct(c.TOPIC, c.BROKER, c.QUEUE_ID, c.LOAD)).alias(
                WEIGHTS
            )
        )
    )
    return epochs.join(weights, on=list(EPOCH_KEY), how="left")


def members(epochs: DataFrame) -> DataFrame:
    """Return one row per epoch and member, with the position used by divisions."""
    return epochs.select(
        *EPOCH_KEY, F.posexplode(MEMBER_IDS).alias(MEMBER, c.CLIENT_ID)
    )


def strategies_in_use(epochs: DataFrame) -> DataFrame:
    """Return the strategies that the epochs of each group name, and who said so."""
    return (
        epochs.groupBy(c.CLUSTER, c.GROUP, c.STRATEGY)
        .agg(F.max(c.STRATEGY_SOURCE).alias(c.STRATEGY_SOURCE))
        .withColumn(c.IN_USE, F.lit(True))
    )
