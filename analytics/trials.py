"""The job that tries a rule for alerts on the past; its result is its summary.

Everything is bounded: the groups that fired most are listed, with their openings and
the time that was not measured, and the first of them has a series for a chart. The
rest is in the counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any, Final

from analytics import contracts as c
from analytics.errors import JobError
from analytics.requests import JobRequest, Progress
from analytics.sources import Chosen
from analytics.transforms.trial import (
    FIRED,
    OPEN_MS,
    OPENINGS,
    SERIES,
    UNKNOWN,
    UNKNOWN_COUNT,
    UNKNOWN_MS,
    Tried,
)
from analytics.trial import OF_RATES, Rule

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


def told_of(
    tried: Iterable[Tried], request: JobRequest, progress: Progress
) -> dict[str, Any]:
    """Return the part of the summary that tells what the rule would have done."""
    rule = Rule.of(request.rule)
    progress(0.8, "openings")
    found = Tried()
    for each in tried:
        found.merge(each)
    if not found.group_count:
        raise JobError(f"the lake has nothing of {_wanted(request)} in this time")
    openings = [each for row in found.listed for each in row[OPENINGS]]
    openings.sort(key=lambda each: (each["opened_ms"], each["group"]))
    first = found.listed[0]
    limits = list(rule.alternatives())
    return {
        "rule": asdict(rule),
        "group_count": found.group_count,
        "fired_groups": found.fired_groups,
        **found.totals,
        "unknown_groups": found.unknown_groups,
        "others": [
            {"limit": limit, "fired": fired}
            for limit, fired in zip(limits, found.others, strict=True)
        ],
        "listed": [
            {
                "group": row[c.GROUP],
                **{name: row[name] for name in _LISTED},
            }
            for row in found.listed
        ],
        "openings": openings[:MOST_OPENINGS],
        "series": {"group": first[c.GROUP], **first[SERIES]},
    }


_LISTED: Final = (FIRED, OPEN_MS, UNKNOWN_MS, UNKNOWN, UNKNOWN_COUNT)


def _wanted(request: JobRequest) -> str:
    if request.group_pattern:
        return f"groups named {request.group_pattern!r}"
    return ", ".join(request.groups) or "any group"
