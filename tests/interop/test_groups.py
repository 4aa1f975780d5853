"""Groups of Java and our members, by each strategy, on Apache and on our cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rmqcore.allocation import allocate_group
from rmqcore.model import MessageQueue
from tests.support.apache import BRIEF, start_cluster
from tests.support.java_driver import JavaDriver
from tests.support.our_clients import OurCommand

from .sides import OUR_IP, Ours, Side, our_member, until

pytestmark = pytest.mark.interop

ROOMS = {"broker-a": "a", "broker-b": "b"}


def queues_of(topic: str, each: int) -> list[MessageQueue]:
    return [
        MessageQueue(topic, broker, number)
        for broker in ROOMS
        for number in range(each)
    ]


class Group:
    """A group of one Java member and one or two of ours, and what each must hold."""

    def __init__(self, side: Side, name: str, strategy: str) -> None:
        self.side, self.name, self.strategy = side, name, strategy
        self.java_name = f"{name}-java-a"
        self.java_id = ""
        self.options: dict[str, Any] = {}
        self.queues = queues_of(name, 4)

    async def start_java(self) -> None:
        options: dict[str, object] = {"strategy": self.strategy}
        if self.strategy == "CONFIG":
            options["config"] = ",".join(
                f"{q.broker_name}:{q.queue_id}" for q in self.queues[:3]
            )
        self.java_id = await self.side.start_java(
            self.java_name, group=self.name, topic=self.name, **options
        )
        ids = [self.java_id, self.our_id(1), self.our_id(2)]
        if self.strategy == "CONFIG":
            parts = self.queues[:3], self.queues[3:], []
            self.options = {"config": dict(zip(ids, map(list, parts), strict=True))}
        if self.strategy == "MACHINE_ROOM_NEARBY":
            rooms = dict(zip(ids, "aba", strict=True))
            self.options = {"inner": "AVG", "queue_room": ROOMS, "client_room": rooms}

    def our_id(self, number: int) -> str:
        return f"{OUR_IP}@{self.our_name(number)}"

    def our_name(self, number: int) -> str:
        return f"{self.name}-ours{number}-{'ab'[number % 2]}"

    def ours(self, number: int) -> Any:
        options = dict(self.options)
        if self.strategy == "CONFIG":
            # A member is configured with its own list alone.
            options = {"config": options["config"][self.our_id(number)]}
        return our_member(
            self.side,
            self.our_name(number),
            group=self.name,
            topic=self.name,
            strategy=self.strategy,
            strategy_options=options,
        )

    async def divided(self, *members: Ours, java: bool = True) -> None:
        """Wait until each member holds its part, and all queues have one owner."""
        ids = [member.consumer.client_id for member in members]
        plan = allocate_group(
            self.strategy,
            group=self.name,
            queues=self.queues,
            client_ids=[*ids, *([self.java_id] if java else [])],
            **self.options,
        )

        def held() -> dict[str, set[MessageQueue]]:
            parts = {m.consumer.client_id: m.queues for m in members}
            if java:
                parts[self.java_id] = self.side.java_queues(self.java_name)
            return parts

        wanted = {client_id: set(part) for client_id, part in plan.by_client.items()}
        await until(
            lambda: held() == wanted,
            lambda: (held(), wanted),
            explain=partial(self.side.member_lists, self.name),
        )
        if self.strategy != "CONFIG" or java:
            assert not plan.unassigned
            assert sum(map(len, wanted.values())) == len(self.queues)


@pytest.mark.parametrize(
    "strategy",
    ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "MACHINE_ROOM_NEARBY", "CONFIG"],
)
async def test_a_mixed_group_divides_every_queue_once(
    side: Side, name: str, strategy: str
) -> None:
    await side.create_topic(name, 4)
    group = Group(side, name, strategy)
    await group.start_java()
    async with group.ours(1) as first:
        await group.divided(first)
        async with group.ours(2) as second:
            await group.divided(first, second)
        await group.divided(first)
        await side.stop_java(group.java_name)
        await group.divided(first, java=False)


IN_ROOMS = ("east@broker-a", "west@broker-b")


@contextmanager
def our_rooms(directory: Path) -> Iterator[str]:
    """Run our cluster with a broker in each of two machine rooms."""
    with OurCommand(directory, "nameserver", "--listen", "127.0.0.1:0") as server:
        address = server.wait_for(lambda line: "nameserver" in line)["nameserver"]
        options = ("--nameserver", address, "--listen", "127.0.0.1:0")
        brokers = [
            OurCommand(
                directory / name,
                *("broker", "--name", name, "--store", str(directory / name)),
                *options,
            )
            for name in IN_ROOMS
        ]
        try:
            for broker in brokers:
                broker.wait_for(lambda line: "broker" in line)
            yield address
        finally:
            for broker in brokers:
                broker.kill()


@contextmanager
def apache_rooms(directory: Path) -> Iterator[str]:
    """Run an Apache cluster of the same two brokers."""
    with start_cluster(directory, brokers=IN_ROOMS, jvm_options=BRIEF) as cluster:
        yield cluster.nameserver


@pytest.fixture(params=[our_rooms, apache_rooms])
def rooms(
    request: pytest.FixtureRequest, java: JavaDriver, tmp_path: Path
) -> Iterator[Side]:
    """Each kind of cluster, with a broker in each of two machine rooms."""
    with request.param(tmp_path) as nameserver:
        yield Side(nameserver, java)


async def test_members_of_a_machine_room_divide_its_queues(
    rooms: Side, name: str
) -> None:
    await rooms.create_topic(name, 5)
    options = {"group": name, "topic": name, "strategy": "MACHINE_ROOM"}
    java_id = await rooms.start_java(name, rooms="east", **options)
    theirs = {"strategy_options": {"rooms": ["east"]}}
    async with our_member(rooms, f"{name}-ours", **options, **theirs) as ours:
        east = [MessageQueue(name, "east@broker-a", number) for number in range(5)]
        plan = allocate_group(
            "MACHINE_ROOM",
            group=name,
            queues=[*east, MessageQueue(name, "west@broker-b", 0)],
            client_ids=[java_id, ours.consumer.client_id],
            rooms=["east"],
        )
        wanted = [
            set(plan.by_client[each]) for each in (java_id, ours.consumer.client_id)
        ]
        held = lambda: [rooms.java_queues(name), ours.queues]  # noqa: E731
        await until(
            lambda: held() == wanted,
            lambda: (held(), wanted),
            explain=partial(rooms.member_lists, name),
        )
        await rooms.stop_java(name)
        await until(lambda: ours.queues == set(east), lambda: ours.queues)
