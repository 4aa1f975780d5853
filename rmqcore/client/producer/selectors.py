"""Choosing a queue for a message: in turn, by key, at random, by machine room (C11).

Order is per queue: messages of one key keep their order because a key always goes to
the same queue, as long as the topic's queues stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import attrgetter
from random import Random

from rmqcore.errors import RouteError
from rmqcore.model import MessageQueue
from rmqcore.protocol.tags import java_string_hash

Selector = Callable[[Sequence[MessageQueue]], MessageQueue]
"""Chooses among a topic's writable queues, in the order of the route."""


class RoundRobin:
    """Takes queues in turn, from a random one on; avoids brokers that just failed."""

    __slots__ = ("_next",)

    def __init__(self, rng: Random) -> None:
        self._next = rng.randrange(1 << 16)

    def choose(
        self,
        queues: Sequence[MessageQueue],
        avoid: Collection[str] = (),
        broker_name: Callable[[MessageQueue], str] = attrgetter("broker_name"),
    ) -> MessageQueue:
        """Return the next queue whose broker is not in `avoid`, else just the next one.

        `broker_name` tells the broker of a queue, which for a logical one changes.
        Raises `RouteError` when there is no queue at all.
        """
        if not queues:
            raise RouteError("the topic has no writable queue")
        for _ in queues:
            self._next += 1
            queue = queues[self._next % len(queues)]
            if not avoid or broker_name(queue) not in avoid:
                return queue
        self._next += 1
        return queues[self._next % len(queues)]


def by_hash(key: str) -> Selector:
    """Choose by the key's Java hash, as Java's own selector does."""

    def select(queues: Sequence[MessageQueue]) -> MessageQueue:
        # Java's remainder keeps the sign; its selector takes the absolute value.
        value = abs(java_string_hash(key)) % len(queues)
        return queues[value]

    return select


def by_random(rng: Random) -> Selector:
    """Choose at random."""
    return rng.choice


def by_machine_room(rooms: Collection[str]) -> Selector:
    """Choose the first queue on a broker named `room@…` of one of the rooms."""

    def select(queues: Sequence[MessageQueue]) -> MessageQueue:
        for queue in queues:
            room, separator, _ = queue.broker_name.partition("@")
            if separator and room in rooms:
                return queue
        raise RouteError(f"no queue is in the machine rooms {sorted(rooms)}")

    return select
