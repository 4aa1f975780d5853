"""Messages that came to a topic, in steps over a span, from the roll-ups; no Spark.

The lake records the queues of groups, so it knows of a topic what some group has
offsets on. The maximum offset belongs to the queue and not to the group: the roll-ups
of all groups that read a queue mark one and the same line, and nothing counts twice.

Between two marks that lie less than a step apart, the messages are spread evenly over
the time. Time between marks that lie further apart is unknown. A queue is known in a
step of which at least half is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c

from .ladder import QUEUES, dataset_of, view_from
from .pruned import Budget, Wanted, read_wanted
from .storage import Storage

MOST_ROWS: Final = 4_000_000
"""Rows that one call may read, most of them of other topics."""

_ENDS: Final = tuple(
    (f"{c.MAX}_{end}_at", f"{c.MAX}_{end}") for end in ("first", "last")
)
_COLUMNS: Final = (
    *(c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID, c.TIME),
    *(name for pair in _ENDS for name in pair),
)


@dataclass(frozen=True, slots=True)
class TopicTraffic:
    """Messages a second in each step from `since_ms` on; None where not known.

    A rate is `partial` where a queue that was there is not known. No step from
    `rolled_ms` on is whole in the roll-ups; it is None where they have nothing.
    `groups` are those from which the traffic is known, `queues` counts the queues.
    """

    since_ms: int
    step_ms: int
    rolled_ms: int | None
    rates: Sequence[float | None]
    partial: Sequence[bool]
    groups: Sequence[str]
    queues: int
    rows_read: int


def read_traffic(
    storage: Storage,
    *,
    cluster: str,
    topic: str,
    since_ms: int,
    until_ms: int,
    step_seconds: int,
    most_rows: int = MOST_ROWS,
) -> TopicTraffic:
    """Return a topic's traffic in [since, until), in steps of a rung of the ladder.

    Both times must lie on whole steps. Raises `LakeError` naming the limit when more
    than `most_rows` must be read.
    """
    step_ms = step_seconds * 1000
    view = view_from(
        storage,
        QUEUES,
        step_seconds,
        since_ms=since_ms - step_ms,
        until_ms=until_ms,
        clusters={cluster},
    )
    budget = Budget(most_rows)
    begin_ms = max(since_ms - step_ms, view.whole_from_ms)
    rows = read_wanted(
        storage,
        dataset_of(QUEUES, step_seconds),
        view.files,
        _COLUMNS,
        wanted=Wanted(begin_ms, until_ms, topic=topic),
        budget=budget,
    )
    groups = sorted(rows[c.GROUP].unique().to_pylist())
    queues, at, top = _marks(rows)
    rolled_ms = int(at.max()) // step_ms * step_ms if at.size else None
    steps = (until_ms - since_ms) // step_ms
    came, known = _steps(queues, at - since_ms, top, step_ms, steps)
    if rolled_ms is not None:  # else a queue looks missing that is only a sample late
        known[:, max(0, rolled_ms - since_ms) // step_ms :] = 0
    return TopicTraffic(
        since_ms,
        step_ms,
        rolled_ms,
        *_summed(came, known, _were_there(queues, top), step_ms),
        groups,
        len(came),
        budget.spent,
    )


def _marks(rows: Any) -> tuple[Any, Any, Any]:
    """Return queue number, time and maximum offset of each mark, in that order."""
    names = pc.binary_join_element_wise(
        rows[c.BROKER], rows[c.QUEUE_ID].cast(pa.string()), "\n"
    )
    numbers = names.combine_chunks().dictionary_encode().indices
    found = []
    for at_name, top_name in _ENDS:
        is_known = pc.is_valid(rows[at_name])
        found.append(
            [
                each.filter(is_known).to_numpy()
                for each in (
                    pa.chunked_array([numbers]),
                    rows[at_name],
                    rows[top_name],
                )
            ]
        )
    queues, at, top = (
        np.concatenate(each).astype(np.int64) for each in zip(*found, strict=True)
    )
    order = np.lexsort((top, at, queues))
    return queues[order], at[order], top[order]


def _steps(queues: Any, at: Any, top: Any, step_ms: int, steps: int) -> tuple[Any, Any]:
    """Return the messages and the known ms of each queue in each step.

    Times count from the beginning of the first step.
    """
    shape = (int(queues.max()) + 1 if queues.size else 0, steps)
    came, known = np.zeros(shape), np.zeros(shape)
    span, more = np.diff(at), np.diff(top)
    # An offset that falls belongs to a topic that was created again.
    fits = (np.diff(queues) == 0) & (span > 0) & (span < step_ms) & (more >= 0)
    queue, begin, end = queues[1:][fits], at[:-1][fits], at[1:][fits]
    rate = more[fits] / span[fits]
    first, last = begin // step_ms, (end - 1) // step_ms
    turn = last * step_ms
    for step, length in (
        (first, np.where(first < last, turn, end) - begin),
        (last, np.where(first < last, end - turn, 0)),
    ):
        inside = (step >= 0) & (step < steps)
        place = queue[inside], step[inside]
        np.add.at(came, place, (rate * length)[inside])
        np.add.at(known, place, length[inside])
    return came, known


def _were_there(queues: Any, top: Any) -> Any:
    """Tell of each queue whether it had messages before it was first recorded."""
    _numbers, first = np.unique(queues, return_index=True)
    return top[first] > 0


def _summed(
    came: Any, known: Any, were_there: Any, step_ms: int
) -> tuple[list[float | None], list[bool]]:
    """Return the rate of all queues in each step, and whether one is missing."""
    enough = known >= step_ms / 2
    rate = np.where(enough, came / np.where(enough, known, 1), 0) * 1000
    counted = enough.sum(axis=0)
    recorded = np.maximum.accumulate(enough, axis=1)
    there = (recorded | were_there[:, None]).sum(axis=0)
    rates = [
        round(float(total), 2) if count else None
        for total, count in zip(rate.sum(axis=0), counted, strict=True)
    ]
    return rates, [0 < count < all_ for count, all_ in zip(counted, there, strict=True)]
