"""Messages that a broker acknowledged, and what became of each."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

from benchmarks.fleet_log import FleetLog, QueueName
from rmqcore.client import LitePullConsumer, Producer
from rmqcore.errors import RmqError
from rmqcore.model import Message, MessageQueue

PAUSE_S: Final = 0.2
POLL_S: Final = 3.0

Place = tuple[QueueName, int]
"""Queue, offset."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """One message: its number, where the broker put it, after which kill it was sent.

    Only what a broker acknowledged is known here; what failed may be there or not.
    """

    number: int
    place: Place
    after: int


@dataclass(slots=True)
class Sent:
    """What was acknowledged, and how many sends failed."""

    known: list[Acknowledged] = field(default_factory=list)
    failed: int = 0


async def send(
    nameserver: str,
    topic: str,
    per_second: float,
    sent: Sent,
    kills: Callable[[], int],
) -> None:
    """Send numbered messages one after another, for ever; none is sent again."""
    async with Producer(nameserver, group="kills-producer", retries=0) as producer:
        for number in count():
            after = kills()
            try:
                told = await producer.send(Message.of(topic, b"%d" % number))
            except (RmqError, OSError):
                sent.failed += 1
                await asyncio.sleep(PAUSE_S)
                continue
            name = told.queue.broker_name, told.queue.queue_id
            sent.known.append(Acknowledged(number, (name, told.queue_offset), after))
            await asyncio.sleep(1 / per_second)


async def read_log(nameserver: str, topic: str) -> dict[Place, int]:
    """Return the numbers of all messages that the broker has, by their places."""
    found: dict[Place, int] = {}
    consumer = LitePullConsumer(nameserver, group="kills-reader", auto_commit=False)
    await consumer.start()
    try:
        queues = await consumer.fetch_message_queues(topic)
        await consumer.assign(queues)
        for queue in queues:
            await consumer.seek_to_begin(queue)
        while messages := await consumer.poll(POLL_S, 1000):
            for each in messages:
                name = each.broker_name, each.queue_id
                found[name, each.queue_offset] = int(each.body)
    finally:
        await consumer.shutdown()
    return found


class Consumed:
    """What the group's listeners were given, by the logs of the fleet."""

    def __init__(self, logs: Iterable[Path], topic: str) -> None:
        self._logs = [FleetLog(each, topic) for each in logs]
        self.offsets: dict[QueueName, set[int]] = defaultdict(set)
        self._reached: dict[QueueName, int] = defaultdict(int)

    def read(self) -> None:
        """Read on."""
        for log in self._logs:
            for each in log.read():
                self.offsets[each.queue].add(each.offset)

    def has(self, place: Place) -> bool:
        """Tell whether a message was given to a listener at least once."""
        queue, offset = place
        return offset in self.offsets[queue]

    def ahead(self, committed: Mapping[MessageQueue, int]) -> list[str]:
        """Return where a committed offset says more than was consumed.

        The offsets must have been read before the logs.
        """
        wrong = []
        for queue, offset in sorted(committed.items()):
            name = queue.broker_name, queue.queue_id
            known, reached = self.offsets[name], self._reached[name]
            while reached in known:
                reached += 1
            self._reached[name] = reached
            if offset > reached:
                wrong.append(f"{name}: {offset} is committed, consumed to {reached}")
        return wrong


def missing_in_log(
    sent: Iterable[Acknowledged], log: Mapping[Place, int]
) -> list[Acknowledged]:
    """Return the acknowledged messages that are not where the broker put them."""
    return [each for each in sent if log.get(each.place) != each.number]


def never_consumed(
    sent: Iterable[Acknowledged], consumed: Consumed
) -> list[Acknowledged]:
    """Return the acknowledged messages that no listener was given."""
    return [each for each in sent if not consumed.has(each.place)]
