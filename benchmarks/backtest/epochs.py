"""Epochs as frames, for the contender on Spark: the newest row of each."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  the usual name

from analytics import contracts as c
from analytics.division import MEMBER_IDS
from rmqcore.allocation import DEFAULT_STRATEGY

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
