"""Java clients, and Apache's admin tool, on our embedded cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from rmqcore.admin import Admin
from rmqcore.model.snapshot import GroupSnapshot, OwnerSource
from tests.interop.sides import until_at_rest
from tests.support.apache import mqadmin
from tests.support.java_driver import JavaDriver
from tests.support.java_members import member_lists
from tests.support.our_clients import OurCluster

from .sides import PATIENT

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def guests(
    embedded: OurCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JavaDriver]:
    """Java clients connected to the embedded cluster."""
    directory = tmp_path_factory.mktemp("guests")
    with JavaDriver(embedded.nameserver, directory) as driver:
        yield driver


@pytest.fixture
async def host(embedded: OurCluster) -> AsyncIterator[Admin]:
    async with Admin(embedded.nameserver, patience=PATIENT) as client:
        yield client


async def test_java_sends_and_receives(
    host: Admin, guests: JavaDriver, name: str
) -> None:
    await host.create_topic(name, 2)
    sent = guests.produce(name, 40, tag="red", key="k")
    guests.start_consumer(name, group=name, topic=name)
    guests.wait_until(lambda: len(guests.messages(name)) >= 40)
    received = guests.messages(name)
    assert {(m["broker"], m["queue_id"], m["offset"]) for m in received} == {
        tuple(place) for place in sent
    }
    assert {message["body"] for message in received} == {f"m{n}" for n in range(40)}

    async def look() -> GroupSnapshot:
        return (await host.snapshot(groups=[name])).groups[name]

    seen = await until_at_rest(
        look,
        lambda seen: seen.queues.lag.complete and seen.queues.lag.total() == 0,
    )
    assert list(seen.queues.committed) == [10] * 4


async def test_java_consumers_divide_our_queues(
    embedded: OurCluster, host: Admin, guests: JavaDriver, name: str
) -> None:
    await host.create_topic(name, 8)
    clients = {
        guests.start_consumer(f"{name}-{n}", group=name, topic=name): f"{name}-{n}"
        for n in "abc"
    }

    async def equal(owners: dict[str, str]) -> None:
        async def look() -> GroupSnapshot:
            snapshot = await host.snapshot(groups=[name], running_info=True)
            return snapshot.groups[name]

        def as_java_says(seen: GroupSnapshot) -> bool:
            rows = zip(seen.queues.keys, seen.owners.by_row, strict=True)
            return (
                set(seen.owners.sources) == {OwnerSource.REPORTED}
                and len(seen.members) == len(owners)
                and seen.owners.by_row == seen.inferred.by_row
                and all(
                    len(holders) == 1 and key in guests.queues(owners[holders[0]])
                    for key, holders in rows
                )
            )

        lists = partial(member_lists, embedded.nameserver, name)
        await until_at_rest(look, as_java_says, explain=lists)

    await equal(clients)
    guests.stop_consumer(f"{name}-b")
    await equal({client: n for client, n in clients.items() if n != f"{name}-b"})


async def test_apaches_admin_tool_reads_our_cluster(
    embedded: OurCluster, host: Admin, name: str, tmp_path: Path
) -> None:
    await host.create_topic(name, 3)

    async def listed() -> list[tuple[str, str]]:
        status = await asyncio.to_thread(
            mqadmin, embedded.nameserver, tmp_path, "topicStatus", "-t", name
        )
        rows = [line.split() for line in status.splitlines() if "broker-" in line]
        return [(row[0], row[1]) for row in rows]

    brokers = ("broker-a", "broker-b")
    expected = [(broker, str(queue)) for broker in brokers for queue in range(3)]
    # The tool gives up by itself, and says nothing, when its JVM starts too slowly.
    await until_at_rest(listed, lambda rows: rows == expected)
