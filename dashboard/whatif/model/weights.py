"""The weights of queues, and the queues of a comparison as columns.

Loads are expected messages per second. A queue whose rate is unknown is assumed to get
the mean of its topic's queues, or of all queues; if no rate is known at all, queues are
counted instead.

All rows of a comparison use the same queues, so the values of queues are in lists, and
a plan's queues are turned into positions once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from rmqcore.model import MessageQueue

from .situation import QueueState


@dataclass(frozen=True, slots=True)
class Weights:
    """The load of each queue: a rate, or 1 for all; those in `assumed` are means."""

    loads: tuple[float, ...]
    is_rate: bool
    assumed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class QueueColumns:
    """The queues of a situation by position.

    `present` are the owners before the edits, None for a queue that is new; `unheard`
    are the positions of those whose owners before the edits are not known.
    """

    queues: tuple[MessageQueue, ...]
    positions: Mapping[MessageQueue, int]
    topics: tuple[str, ...]
    lags: tuple[float | None, ...]
    rates: tuple[float | None, ...]
    present: tuple[tuple[str, ...] | None, ...]
    unheard: frozenset[int]
    weights: Weights

    @property
    def scored(self) -> tuple[float | None, ...]:
        """The loads as far as they are known: rates, or 1 where queues are counted."""
        return self.rates if self.weights.is_rate else self.weights.loads


def weigh(states: Sequence[QueueState]) -> Weights:
    """Return the load of each queue, with unknown rates replaced by a mean."""
    by_topic: dict[str, list[float]] = {}
    for state in states:
        if state.rate_in is not None:
            by_topic.setdefault(state.queue.topic, []).append(state.rate_in)
    if not by_topic:
        return Weights((1.0,) * len(states), is_rate=False)
    assumed = tuple(at for at, state in enumerate(states) if state.rate_in is None)
    known = len(states) - len(assumed)
    overall = fsum(rate for rates in by_topic.values() for rate in rates) / known
    means = {topic: fsum(rates) / len(rates) for topic, rates in by_topic.items()}
    loads = tuple(
        means.get(state.queue.topic, overall)
        if state.rate_in is None
        else state.rate_in
        for state in states
    )
    return Weights(loads, is_rate=True, assumed=assumed)


def columns_of(
    states: Sequence[QueueState], present: Mapping[MessageQueue, tuple[str, ...]]
) -> QueueColumns:
    """Return the columns of queues, with the owners they had before the edits."""
    queues = tuple(state.queue for state in states)
    return QueueColumns(
        queues=queues,
        positions={queue: at for at, queue in enumerate(queues)},
        topics=tuple(queue.topic for queue in queues),
        lags=tuple(state.lag for state in states),
        rates=tuple(state.rate_in for state in states),
        present=tuple(present.get(queue) for queue in queues),
        unheard=frozenset(at for at, state in enumerate(states) if not state.heard),
        weights=weigh(states),
    )
