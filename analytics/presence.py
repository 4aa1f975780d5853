"""When queues were present: while an epoch names them. Plain values, no Spark.

Measurements are compared with this: of the time that a queue was present, the part that
its samples claim is known, and the rest is not (see `analytics.contracts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import attrgetter

QueueKey = tuple[str, str, int]
"""Topic, broker name, queue id."""


@dataclass(frozen=True, slots=True)
class Period:
    """The steps in [since, until), in ms; `since_ms` lies on a whole step."""

    since_ms: int
    until_ms: int
    step_ms: int


@dataclass(frozen=True, slots=True)
class EpochSpan:
    """The span in which an epoch named its queues; `over_ms` is None while it runs."""

    group: str
    number: int
    began_ms: int
    over_ms: int | None
    queues: Sequence[QueueKey]


def ended_by_the_next(spans: Iterable[EpochSpan]) -> list[EpochSpan]:
    """End each epoch of a group where the next one begins, if not before.

    A killed collector leaves an epoch open.
    """
    found: list[EpochSpan] = []
    in_order = sorted(spans, key=attrgetter("group", "number"))
    for _group, each in groupby(in_order, key=attrgetter("group")):
        of_group = list(each)
        for span, following in pairwise(of_group):
            over_ms = following.began_ms
            if span.over_ms is not None:
                over_ms = min(over_ms, span.over_ms)
            found.append(replace(span, over_ms=over_ms))
        found.append(of_group[-1])
    return found
