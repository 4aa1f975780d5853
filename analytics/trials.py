"""The job that tries a rule for alerts on the past; its result is its summary.

Everything is bounded: the groups that fired most are listed, with their openings and
the time that was not measured, and the first of them has a series for a chart. The
rest is in the counts.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  the usual name

from analytics import contracts as c
from analytics.errors import JobError
from analytics.requests import JobRequest, Progress
from analytics.sources import Chosen, Input
from analytics.transforms.divisions import owners_in_use
from analytics.transforms.lag import lag_by_consumer, steps_of_parts
from analytics.transforms.trial import (
    DETAIL,
    FIRED,
    OPEN_MS,
    OTHERS,
    SERIES,
    STILL_OPEN,
    UNKNOWN_MS,
    Measured,
    tried,
    values_by_time,
)
from analytics.trial import OF_RATES, SKEW, Rule

MOST_GROUPS: Final = 50
"""Groups that are listed, those that fired most first."""
MOST_OPENINGS: Final = 200

_SHORTEST_STEP: Final = 10
_SHORTEST_OF_RATES: Final = 60
"""Offsets of a quiet queue are a minute apart, and shorter steps have no rate."""


def with_step(request: JobRequest, chosen: Chosen) -> JobRequest:
    """Return the request with the shortest step that the source has."""
    shortest = _SHORTEST_STEP
    if Rule.of(request.rule).kind in OF_RATES:
        shortest = _SHORTEST_OF_RATES
    return replace(request, step_seconds=max(shortest, chosen.level))


def run_trial(
    source: Input, request: JobRequest, pieces: int, progress: Progress
) -> dict[str, Any]:
    """Return the part of the summary that tells what the rule would have done."""
    rule = Rule.of(request.rule)
    values = values_by_time(rule.kind, _measured(source, rule, pieces))
    results = tried(values, rule, source.period).persist()
    try:
        progress(0.2, "samples")
        return _told(results, rule, request, progress)
    finally:
        results.unpersist()


def _measured(source: Input, rule: Rule, pieces: int) -> Measured:
    steps = steps_of_parts(source.parts, source.there, source.period, pieces=pieces)
    consumers = None
    if rule.kind == SKEW:
        since_ms = source.period.since_ms
        owners = owners_in_use(source.epochs, since_ms, pieces=pieces)
        consumers = lag_by_consumer(steps, owners, source.seen)
    return Measured(steps, source.peaks, source.epochs, source.period, consumers)


def _told(
    results: DataFrame, rule: Rule, request: JobRequest, progress: Progress
) -> dict[str, Any]:
    others = list(rule.alternatives())
    sums = [
        F.count(F.lit(1)).alias("group_count"),
        F.count_if(F.col(FIRED) > 0).alias("fired_groups"),
        *(F.sum(name).alias(name) for name in (FIRED, OPEN_MS, STILL_OPEN)),
        F.sum(UNKNOWN_MS).alias(UNKNOWN_MS),
        F.count_if(F.col(UNKNOWN_MS) > 0).alias("unknown_groups"),
        *(
            F.sum(F.get(OTHERS, F.lit(place))).alias(f"other_{place}")
            for place in range(len(others))
        ),
    ]
    totals = results.agg(*sums).first()
    if totals is None or not totals["group_count"]:
        raise JobError(f"the lake has nothing of {_wanted(request)} in this time")
    progress(0.8, "openings")
    in_order = results.orderBy(
        F.desc(FIRED), F.desc(OPEN_MS), F.desc(UNKNOWN_MS), c.GROUP
    )
    listed = in_order.drop(SERIES).limit(MOST_GROUPS).collect()
    details = [json.loads(row[DETAIL]) for row in listed]
    openings = [each for detail in details for each in detail["openings"]]
    openings.sort(key=lambda each: (each["opened_ms"], each["group"]))
    first = in_order.select(SERIES).first()
    chart = json.loads(first[SERIES]) if first else {}
    named = totals.asDict()
    return {
        "rule": asdict(rule),
        **{name: named[name] for name in named if not name.startswith("other_")},
        "others": [
            {"limit": limit, "fired": named[f"other_{place}"]}
            for place, limit in enumerate(others)
        ],
        "listed": [
            {
                "group": row[c.GROUP],
                **{name: row[name] for name in (FIRED, OPEN_MS, UNKNOWN_MS)},
                "unknown": detail["unknown"],
                "unknown_count": detail["unknown_count"],
            }
            for row, detail in zip(listed, details, strict=True)
        ],
        "openings": openings[:MOST_OPENINGS],
        "series": {"group": listed[0][c.GROUP], **chart},
    }


def _wanted(request: JobRequest) -> str:
    if request.group_pattern:
        return f"groups named {request.group_pattern!r}"
    return ", ".join(request.groups) or "any group"
