"""Situations for the tests of this room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dashboard.whatif.model import QueueState, Situation
from rmqcore.allocation import allocate_topics
from rmqcore.model import MessageQueue


def queue(number: int, topic: str = "orders", broker: str = "broker-a") -> MessageQueue:
    return MessageQueue(topic, broker, number)


def queues(
    count: int, topic: str = "orders", broker: str = "broker-a"
) -> list[MessageQueue]:
    return [queue(number, topic, broker) for number in range(count)]


def situation(
    members: Iterable[str],
    of: Sequence[MessageQueue],
    *,
    strategy: str = "AVG",
    lags: Sequence[float | None] | None = None,
    rates: Sequence[float | None] | None = None,
    member_rate: float | None = None,
) -> Situation:
    """Return a group that is divided by its strategy; lag 0 and 10/s unless given."""
    names = list(members)
    owners = {}
    if names and of:
        owners = dict(
            allocate_topics(strategy, group="G", queues=of, client_ids=names).by_queue
        )
    lags = [0.0] * len(of) if lags is None else lags
    rates = [10.0] * len(of) if rates is None else rates
    return Situation(
        cluster="test",
        group="G",
        members=tuple(names),
        queues=tuple(
            QueueState(each, owners.get(each, ()), lag, rate, rate)
            for each, lag, rate in zip(of, lags, rates, strict=True)
        ),
        strategy=strategy,
        member_rate=member_rate,
    )


def group_document(**changes: Any) -> dict[str, Any]:
    """Return a small `GroupState` document: three queues, two members."""
    return {
        "cluster": "test",
        "group": "G",
        "taken_at": 1_780_000_000_000,
        "mode": "CLUSTERING",
        "kind": "owned",
        "strategy": {"name": "AVG", "source": "reported"},
        "members": [
            {"client_id": "A", "rate_out": 25.0},
            {"client_id": "B", "rate_out": None},
        ],
        "queues": [
            queue_row(2, ["B"], lag=7),
            queue_row(0, ["A"]),
            queue_row(1, ["A"], rate_in=None),
        ],
        **changes,
    }


def queue_row(queue_id: int, owners: list[str], **changes: Any) -> dict[str, Any]:
    return {
        "topic": "orders",
        "broker": "broker-a",
        "queue_id": queue_id,
        "owners": owners,
        "lag": 0,
        "rate_in": 10.0,
        "rate_out": 10.0,
        **changes,
    }
