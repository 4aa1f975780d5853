"""Seven live groups on a cluster of two brokers, and traffic for them.

Java members in two processes, so that one of these may be killed. Two groups are wrong
on purpose: the members of `g_shared` have one client id, and those of `g_tags`
subscribe to different tags. Who is connected and who holds which queue is known here
from the members themselves, with times: it is the truth against which pages can be
checked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from rmqcore.admin import Admin
from rmqcore.client import InstanceRegistry, Producer
from rmqcore.errors import RmqError
from rmqcore.model import Message, MessageQueue
from tests.support.java_driver import JavaDriver
from tests.support.json_lines import Event

HOME: Final = "home"
GUEST: Final = "guest"
"""The two processes; the guest is the one to kill."""

QUEUES_PER_BROKER: Final = 8
TAGS: Final = ("red", "blue")
BATCH: Final = 5
_PAUSE_S: Final = 0.25

QueueKey = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Part:
    """One member: the process that it runs in, and what its consumer is told."""

    process: str
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of its own topic, and the finding that it must have."""

    name: str
    parts: Sequence[Part]
    finding: str | None = None

    @property
    def topic(self) -> str:
        """The topic, of which nobody else reads."""
        return f"t_{self.name}"


_SLOW: Final = {"delay_ms": "400", "threads": "1"}
_ORDERLY: Final = {"orderly": "true"}
_BROADCASTING: Final = {"mode": "BROADCASTING"}
_SHARED: Final = {"instance": "g_shared"}
OFFLINE: Final = Group("g_offline", (Part(HOME),))
GROUPS: Final = (
    Group("g_healthy", (Part(HOME), Part(HOME), Part(GUEST))),
    Group("g_slow", (Part(HOME, _SLOW), Part(HOME, _SLOW))),
    Group("g_orderly", (Part(HOME, _ORDERLY), Part(GUEST, _ORDERLY))),
    Group("g_bcast", (Part(HOME, _BROADCASTING),) * 2, "broadcasting"),
    Group("g_shared", (Part(HOME, _SHARED), Part(GUEST, _SHARED)), "shared_client_id"),
    Group(
        "g_tags",
        tuple(Part(HOME, {"tag": tag}) for tag in TAGS),
        "inconsistent_subscriptions",
    ),
    OFFLINE,
)
BY_NAME: Final[Mapping[str, Group]] = {group.name: group for group in GROUPS}


@dataclass(frozen=True, slots=True)
class Hold:
    """The queues that one member held from a moment on, by its own word."""

    group: str
    member: str
    client_id: str
    at_ms: int
    queues: frozenset[QueueKey]


class SevenGroups:
    """The members, and a record of who was there. Belongs to the main thread.

    `groups` may be fewer than the seven, to save time.
    """

    def __init__(
        self, nameserver: str, folder: Path, groups: Sequence[Group] = GROUPS
    ) -> None:
        self.connections: list[tuple[int, str, int]] = []
        """(ms, group, members connected from then on), in order of time."""
        self._nameserver = nameserver
        self._folder = folder
        self._groups = groups
        self._drivers: dict[str, JavaDriver] = {}
        self._ended: list[list[Event]] = []
        self._ends: list[Hold] = []
        self._running: dict[str, int] = {}
        self._starts = count(1)

    def start(self) -> None:
        """Create the topics, start all members, and let those of one group leave."""
        asyncio.run(self._create_topics())
        used = (part.process for group in self._groups for part in group.parts)
        for process in sorted(set(used), reverse=True):
            self.start_process(process)
        if OFFLINE in self._groups:
            self._leave(OFFLINE)

    def stop(self) -> None:
        """End both processes."""
        for driver in self._drivers.values():
            driver.kill()

    def start_process(self, process: str) -> None:
        """Start a process with its members."""
        folder = self._folder / f"{process}-{next(self._starts)}"
        driver = self._drivers[process] = JavaDriver(self._nameserver, folder)
        for group in self._groups:
            for name, part in _members(group):
                if part.process == process:
                    quiet = {} if group is OFFLINE else {"quiet": "1"}
                    options = {"instance": name, **quiet, **part.options}
                    driver.start_consumer(
                        name, group=group.name, topic=group.topic, **options
                    )
                    self._note(group)

    def kill_process(self, process: str) -> None:
        """End a process as a crash would."""
        driver = self._drivers.pop(process)
        driver.kill()
        now = _now_ms()
        events = driver.events("allocation")
        self._ended.append(events)
        for group in self._groups:
            for name, part in _members(group):
                if part.process == process:
                    self._end(group, name, events, now)
            self._note(group)

    def holds(self) -> list[Hold]:
        """Return what members told that they hold, in order of time."""
        told = (
            event
            for events in (
                *self._ended,
                *(driver.events("allocation") for driver in self._drivers.values()),
            )
            for event in events
        )
        found = [*map(_hold, told), *self._ends]
        return sorted(found, key=lambda each: each.at_ms)

    def _leave(self, group: Group) -> None:
        """Let a group's members leave once they have read of every broker.

        A member may never receive messages sent before its first pull.
        """
        driver = self._drivers[HOME]
        for name, _part in _members(group):
            driver.wait_until(partial(driver.queues, name))
            read: set[str] = set()
            sent = {""}
            while not sent <= read:
                produced = driver.produce(group.topic, 2 * QUEUES_PER_BROKER)
                sent = {broker for broker, *_ in produced}
                time.sleep(_PAUSE_S)
                read = {str(told["broker"]) for told in driver.messages(name)}
            driver.stop_consumer(name)
            self._end(group, name, driver.events("allocation"), _now_ms())

    def _note(self, group: Group) -> None:
        running = sum(
            group is not OFFLINE and part.process in self._drivers
            for part in group.parts
        )
        if self._running.get(group.name) != running:
            self._running[group.name] = running
            self.connections.append((_now_ms(), group.name, running))

    def _end(self, group: Group, name: str, told: Sequence[Event], at_ms: int) -> None:
        ids = {event["client_id"] for event in told if event["name"] == name}
        self._ends += [
            Hold(group.name, name, client_id, at_ms, frozenset()) for client_id in ids
        ]

    async def _create_topics(self) -> None:
        async with Admin(self._nameserver, timeout=30) as admin:
            for group in self._groups:
                await admin.create_topic(group.topic, QUEUES_PER_BROKER)


async def send_traffic(
    nameserver: str,
    brokers: Sequence[str],
    per_second: float,
    groups: Sequence[Group] = GROUPS,
) -> None:
    """Send to every topic on every broker, for ever; a broker that hangs holds up none.

    `per_second` are messages to each topic. A message that a broker does not take is
    not sent again: the brokers are asked how many there are.
    """
    pause_s = BATCH * len(brokers) / per_second
    producer = Producer(nameserver, group="traffic", registry=InstanceRegistry())
    async with producer, asyncio.TaskGroup() as sending:
        for broker in brokers:
            for group in groups:
                sending.create_task(_send(producer, group, broker, pause_s))


async def _send(producer: Producer, group: Group, broker: str, pause_s: float) -> None:
    numbers = count()
    while True:
        queue = MessageQueue(group.topic, broker, next(numbers) % QUEUES_PER_BROKER)
        batch = [
            Message.of(group.topic, b"x" * 100, tags=TAGS[number % len(TAGS)])
            for number in range(BATCH)
        ]
        with suppress(RmqError, OSError):
            await producer.send_batch(batch, queue=queue)
        await asyncio.sleep(pause_s)


def _members(group: Group) -> Iterator[tuple[str, Part]]:
    for number, part in enumerate(group.parts):
        yield f"{group.name}-{number}", part


def _hold(event: Event) -> Hold:
    name = str(event["name"])
    group = BY_NAME[name.rpartition("-")[0]]
    queues = frozenset((t, b, int(q)) for t, b, q in event["queues"])
    own = frozenset(queue for queue in queues if queue[0] == group.topic)
    return Hold(group.name, name, str(event["client_id"]), int(event["at"]), own)


def _now_ms() -> int:
    return round(time.time() * 1000)
