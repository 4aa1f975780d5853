"""Queues and members for the tests of this room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rmqcore.allocation import Plan, allocate_group
from rmqcore.model import MessageQueue

MEMBERS = ("A", "B", "C", "D", "E")


def queues(
    count: int, broker: str = "broker-a", topic: str = "T"
) -> list[MessageQueue]:
    return [MessageQueue(topic, broker, queue_id) for queue_id in range(count)]


def divided(strategy: str, queue_count: int, members: str, **options: object) -> Plan:
    """Divide queues 0 to n - 1 of one broker among members named by one letter."""
    return allocate_group(
        strategy,
        group="G",
        queues=queues(queue_count),
        client_ids=list(members),
        **options,
    )


def ids(share: Sequence[MessageQueue]) -> list[int]:
    return [queue.queue_id for queue in share]


def ids_of(plan: Plan) -> Mapping[str, list[int]]:
    return {client_id: ids(share) for client_id, share in plan.by_client.items()}
