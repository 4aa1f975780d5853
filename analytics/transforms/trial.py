"""The values that a rule for alerts looks at, and what it would have done with them.

Spark sums the queues of each group by step; `analytics.trial` then plays the rule over
the steps of one group after another, in Python. Both are partitioned by group, so that
nothing is shuffled in between.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  the usual name
from pyspark.sql.types import (
    ArrayType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from analytics import contracts as c
from analytics.holding import GAP_MS
from analytics.presence import Period
from analytics.trial import (
    DRAIN,
    IN_STOPS,
    LAG,
    MEMBERS,
    OLDEST,
    OUT_STOPS,
    SKEW,
    Rule,
    Values,
    opening_document,
    play,
    series,
)

from .epochs import EPOCH_KEY, told_epochs
from .lag import lag_by_queue

AT_MS: Final = "at_ms"
VALUE: Final = "value"
PARTIAL: Final = "partial"

FIRED: Final = "fired"
OPEN_MS: Final = "open_ms"
UNKNOWN_MS: Final = "unknown_ms"
STILL_OPEN: Final = "still_open"
OTHERS: Final = "others"
DETAIL: Final = "detail"
SERIES: Final = "series"

_GROUP: Final = (c.CLUSTER, c.GROUP)
_STEP: Final = (c.CLUSTER, c.GROUP, c.SINCE)
_KNOWN_SHARE: Final = 0.9
"""Of a queue's step, this much has to be measured, unless a minute at most is not."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What values are made of: the frames of `sources.Input`, summed into steps.

    `consumers` is the result of `lag_by_consumer`; only skew needs it.
    """

    steps: DataFrame
    peaks: DataFrame
    epochs: DataFrame
    period: Period
    consumers: DataFrame | None = None


def values_by_time(kind: str, measured: Measured) -> DataFrame:
    """Return one row per group and step, with what a rule of that kind looks at.

    The value is the worst of the step as far as it is known: the true one may be worse
    where `partial` says so, and nothing is known where it is null.
    """
    found = _OF_KIND[kind](measured)
    ended = F.unix_millis(c.SINCE) + measured.period.step_ms
    at_ms = F.least(ended, F.lit(measured.period.until_ms)).alias(AT_MS)
    return found.select(*_GROUP, at_ms, F.col(VALUE).cast("double"), PARTIAL)


def _lag(measured: Measured) -> DataFrame:
    """Sum the queues; in a long step the group's peak at one moment may be more."""
    peaks = measured.peaks.where(F.col(c.TOPIC).isNull()).select(
        *_GROUP, F.timestamp_millis("step").alias(c.SINCE), c.LAG_PEAK
    )
    summed = _groups(measured)
    worst = F.greatest(_LAG, c.LAG_PEAK)  # nulls are skipped
    value = F.when(F.col(_LAG).isNotNull(), worst)
    return summed.join(peaks, on=list(_STEP), how="left").select(
        *_STEP, value.alias(VALUE), _some(_LAG_KNOWN).alias(PARTIAL)
    )


def _oldest(measured: Measured) -> DataFrame:
    value = F.col(_AGE).cast("double")
    return _groups(measured).select(
        *_STEP, value.alias(VALUE), _some(_AGE_KNOWN).alias(PARTIAL)
    )


def _drain(measured: Measured) -> DataFrame:
    """Divide the lag by how fast it shrinks: never done where it does not."""
    shrinks = F.col(c.OUT_RATE) - F.col(c.IN_RATE)
    lag = F.col(_LAG)
    takes = (
        F.when(lag == 0, 0.0)
        .when(shrinks > 0, lag / F.nullif(shrinks, F.lit(0.0)) * 1000)
        .otherwise(F.lit(float("inf")))
    )
    rates = ~(_some(_IN_KNOWN) | _some(_OUT_KNOWN))
    value = F.when(rates & lag.isNotNull(), takes)
    return _groups(measured).select(
        *_STEP, value.alias(VALUE), _some(_LAG_KNOWN).alias(PARTIAL)
    )


def _in_stops(measured: Measured) -> DataFrame:
    return _groups(measured).select(
        *_STEP, F.col(c.IN_RATE).alias(VALUE), _some(_IN_KNOWN).alias(PARTIAL)
    )


def _out_stops(measured: Measured) -> DataFrame:
    """Return the rate out; without end while nothing waits, which is no standstill."""
    lag = F.col(_LAG)
    nothing = (lag == 0) & ~_some(_LAG_KNOWN)
    value = F.when(nothing, F.lit(float("inf"))).when(lag > 0, F.col(c.OUT_RATE))
    return _groups(measured).select(
        *_STEP, value.alias(VALUE), (_some(_OUT_KNOWN) & ~nothing).alias(PARTIAL)
    )


def _skew(measured: Measured) -> DataFrame:
    """Return the largest lag of a member over the mean; 1 while nothing waits.

    Members without queues count. Nothing is known unless the lag and the owner of every
    queue are.
    """
    assert measured.consumers is not None  # noqa: S101  given for this kind
    queues = "owned"
    by_member = measured.consumers.groupBy(*_STEP).agg(
        F.max(c.LAG_MEAN).alias(c.LAG_PEAK),
        F.sum(c.LAG_MEAN).alias(c.LAG_MEAN),
        F.sum(c.QUEUE_COUNT).alias(queues),
    )
    total = F.col(c.LAG_MEAN)
    uneven = F.col(c.LAG_PEAK) * F.col(c.MEMBER_COUNT) / F.nullif(total, F.lit(0.0))
    is_whole = ~_some(_LAG_KNOWN) & (F.col(queues) >= F.col(c.QUEUE_COUNT))
    value = F.when(is_whole, F.when(total == 0, 1.0).otherwise(uneven))
    return (
        _groups(measured)
        .join(by_member, on=list(_STEP), how="left")
        .join(_member_counts(measured), on=list(_STEP), how="left")
        .select(*_STEP, value.alias(VALUE), F.lit(False).alias(PARTIAL))
    )


def _members(measured: Measured) -> DataFrame:
    """Return the fewest members of a step; not known where nothing was measured."""
    value = F.when(F.col(c.SECONDS) > 0, F.col(c.MEMBER_COUNT))
    return _member_counts(measured).select(
        *_STEP, value.alias(VALUE), F.lit(False).alias(PARTIAL)
    )


_OF_KIND: Final[Mapping[str, Callable[[Measured], DataFrame]]] = {
    LAG: _lag,
    OLDEST: _oldest,
    DRAIN: _drain,
    IN_STOPS: _in_stops,
    OUT_STOPS: _out_stops,
    SKEW: _skew,
    MEMBERS: _members,
}

_LAG: Final = "lag"
_AGE: Final = "age"
_LAG_KNOWN: Final = "lag_known"
_AGE_KNOWN: Final = "age_known"
_IN_KNOWN: Final = "in_known"
_OUT_KNOWN: Final = "out_known"


def _groups(measured: Measured) -> DataFrame:
    """Sum the queues of each group, and count those of which a value is known."""
    is_measured = _is_measured(measured.period)

    def known(column: str, unless: Column | None = None) -> Column:
        is_known = F.col(column).isNotNull()
        return F.count_if(is_known if unless is None else is_known & unless)

    return (
        lag_by_queue(measured.steps)
        .groupBy(*_STEP)
        .agg(
            F.count(F.lit(1)).alias(c.QUEUE_COUNT),
            F.sum(c.LAG_MEAN).alias(_LAG),
            known(c.LAG_MEAN, is_measured).alias(_LAG_KNOWN),
            F.max(c.LAG_MS_PEAK).alias(_AGE),
            known(c.LAG_MS_PEAK, is_measured).alias(_AGE_KNOWN),
            F.sum(c.IN_RATE).alias(c.IN_RATE),
            known(c.IN_RATE).alias(_IN_KNOWN),
            F.sum(c.OUT_RATE).alias(c.OUT_RATE),
            known(c.OUT_RATE).alias(_OUT_KNOWN),
        )
    )


def _is_measured(period: Period) -> Column:
    """Tell whether enough of a queue's step was measured to speak for all of it.

    As readings of a running group may be a minute apart, a minute may be missing.
    """
    missing = F.col(c.UNKNOWN_SECONDS)
    length = F.col(c.SECONDS) + missing
    allowed = F.greatest(F.lit(GAP_MS / 1000), length * (1 - _KNOWN_SHARE))
    return (F.col(c.SECONDS) > 0) & (missing <= allowed)


def _some(known: str) -> Column:
    """Tell whether a value is known for some of the queues at most."""
    return F.col(known) < F.col(c.QUEUE_COUNT)


def _member_counts(measured: Measured) -> DataFrame:
    """Return the fewest members of each group's step, and its measured seconds."""
    counts = told_epochs(measured.epochs).select(
        *EPOCH_KEY, F.size(c.MEMBERS).alias(c.MEMBER_COUNT)
    )
    length = F.col(c.SECONDS) + F.col(c.UNKNOWN_SECONDS)
    return (
        measured.steps.where(length > 0)
        .groupBy(*_STEP, c.EPOCH)
        .agg(F.max(c.SECONDS).alias(c.SECONDS))
        .join(F.broadcast(counts), on=list(EPOCH_KEY), how="left")
        .groupBy(*_STEP)
        .agg(
            F.min(c.MEMBER_COUNT).alias(c.MEMBER_COUNT),
            F.sum(c.SECONDS).alias(c.SECONDS),
        )
    )


_SCHEMA: Final = StructType(
    [
        *(StructField(name, StringType()) for name in _GROUP),
        *(
            StructField(name, LongType())
            for name in (FIRED, OPEN_MS, UNKNOWN_MS, STILL_OPEN)
        ),
        StructField(OTHERS, ArrayType(LongType())),
        StructField(DETAIL, StringType()),
        StructField(SERIES, StringType()),
    ]
)
_ARROW: Final = pa.schema(
    [
        *((name, pa.string()) for name in _GROUP),
        *((name, pa.int64()) for name in (FIRED, OPEN_MS, UNKNOWN_MS, STILL_OPEN)),
        (OTHERS, pa.list_(pa.int64())),
        (DETAIL, pa.string()),
        (SERIES, pa.string()),
    ]
)


def tried(values: DataFrame, rule: Rule, period: Period) -> DataFrame:
    """Return one row per group: what a rule, and others like it, would have done.

    `others` are the numbers for `Rule.alternatives`, in their order; openings, unknown
    spans and the series for a chart are JSON.
    """

    def of_group(key: tuple[Any, ...], table: pa.Table) -> pa.Table:
        row = try_group(table, rule, period, key[1].as_py())
        row |= dict(zip(_GROUP, (each.as_py() for each in key), strict=True))
        return pa.Table.from_pylist([row], schema=_ARROW)

    return values.groupBy(*_GROUP).applyInArrow(of_group, _SCHEMA)


def try_group(
    table: pa.Table, rule: Rule, period: Period, group: str
) -> dict[str, Any]:
    """Play a rule over the steps of one group, which may come in any order."""
    table = table.sort_by(AT_MS)
    given = Values(
        table[AT_MS].to_pylist(),
        table[VALUE].to_pylist(),
        table[PARTIAL].to_pylist(),
        period.step_ms,
    )
    played = play(given, rule)
    others = [play(given, rule, each).count for each in rule.alternatives().values()]
    detail = {
        "openings": [opening_document(group, each) for each in played.openings],
        "unknown": played.unknown,
        "unknown_count": played.unknown_count,
    }
    return {
        FIRED: played.count,
        OPEN_MS: played.open_ms,
        UNKNOWN_MS: played.unknown_ms,
        STILL_OPEN: int(played.still_open),
        OTHERS: others,
        DETAIL: json.dumps(detail),
        SERIES: json.dumps(series(given, rule, period.since_ms, period.until_ms)),
    }
