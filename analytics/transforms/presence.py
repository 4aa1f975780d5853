"""Which queues were present, step by step: `analytics.presence` for Spark."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  the usual name

from analytics import contracts as c
from analytics.presence import Period

from .epochs import OVER
from .parts import REACH_MS, STEP, floor

LENGTH: Final = "length"
"""Seconds of a step in which an epoch named a queue."""

_BEGAN_AT: Final = "began_at"
_OVER_AT: Final = "over_at"


def queues_there(told: DataFrame) -> DataFrame:
    """Return one row per queue and epoch of `told_epochs`, with its start and end."""
    queue = "queue"
    return told.select(
        c.CLUSTER,
        c.GROUP,
        c.EPOCH,
        F.unix_millis(c.BEGAN).alias(_BEGAN_AT),
        F.unix_millis(OVER).alias(_OVER_AT),
        F.explode(c.QUEUES).alias(queue),
    ).select(c.CLUSTER, c.GROUP, f"{queue}.*", c.EPOCH, _BEGAN_AT, _OVER_AT)


def steps_there(queues: DataFrame, period: Period) -> DataFrame:
    """Return one row per queue, epoch and step in which it was present, with `LENGTH`.

    An epoch that begins soon after the period has rows without length: its first
    samples may claim time in the period, which belonged to another epoch.
    """
    ahead = F.lit(period.until_ms + REACH_MS)
    begin = F.greatest(F.col(_BEGAN_AT), F.lit(period.since_ms))
    end = F.least(F.col(_OVER_AT), ahead)  # nulls, of epochs that run, are skipped
    steps = F.sequence(
        floor(begin, period.step_ms),
        floor(end - 1, period.step_ms),
        F.lit(period.step_ms),
    )
    return (
        queues.where(begin < end)
        .withColumn(STEP, F.explode(steps))
        .withColumn(
            LENGTH, _overlap(period, begin, F.least(end, F.lit(period.until_ms)))
        )
        .drop(_BEGAN_AT, _OVER_AT)
    )


def whole_step(period: Period) -> Column:
    """Return the seconds of a row's step that are within the period."""
    return _overlap(period, F.lit(period.since_ms), F.lit(period.until_ms))


def _overlap(period: Period, begin: Column, end: Column) -> Column:
    step = F.col(STEP)
    last = F.least(end, step + period.step_ms)
    return F.greatest(last - F.greatest(begin, step), F.lit(0)) / 1000
