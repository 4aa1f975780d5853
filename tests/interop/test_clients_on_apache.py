"""Our clients on a real Apache RocketMQ, alone and beside Java's."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from rmqcore.admin import Admin
from rmqcore.model.snapshot import GroupSnapshot, OwnerSource
from tests.interop.sides import until_at_rest
from tests.support.apache import ApacheCluster
from tests.support.java_driver import AdminTool, JavaDriver, Queue
from tests.support.java_members import member_lists
from tests.support.our_clients import OurConsumer, produce

from .sides import Side, our_member, until
from .versions import OLDER_TOO

pytestmark = [pytest.mark.interop, OLDER_TOO]


async def test_what_we_send_java_receives(
    admin: Admin, apache: ApacheCluster, java: JavaDriver, name: str, tmp_path: Path
) -> None:
    await admin.create_topic(name, 2)
    java.start_consumer(name, group=name, topic=name)
    options = {"tag": "red", "key_pattern": "key{n}"}
    produce(tmp_path, apache.nameserver, topic=name, count=20, **options)
    java.wait_until(lambda: len(java.messages(name)) >= 20)
    received = java.messages(name)
    assert {message["tags"] for message in received} == {"red"}
    assert {message["keys"] for message in received} == {f"key{n}" for n in range(20)}


async def test_what_java_sends_we_receive(
    admin: Admin, apache: ApacheCluster, java: JavaDriver, name: str, tmp_path: Path
) -> None:
    await admin.create_topic(name, 2)
    sent = java.produce(name, 20, tag="blue", key="k")
    where = {"group": name, "topic": name}
    with OurConsumer(tmp_path, apache.nameserver, **where) as consumer:
        consumer.wait_until(lambda: len(consumer.messages()) >= 20)
        received = consumer.messages()
    assert {(m["broker"], m["queue_id"], m["offset"]) for m in received} == {
        tuple(place) for place in sent
    }
    assert {message["tags"] for message in received} == {"blue"}
    assert {message["body"] for message in received} == {f"m{n}" for n in range(20)}


async def test_a_group_of_java_and_python_members_divides_every_queue_once(
    admin: Admin, apache: ApacheCluster, java: JavaDriver, name: str, tmp_path: Path
) -> None:
    await admin.create_topic(name, 8)
    clients = {
        java.start_consumer(f"{name}-{n}", group=name, topic=name): f"{name}-{n}"
        for n in "ab"
    }
    where = {"group": name, "topic": name}
    with OurConsumer(tmp_path, apache.nameserver, **where) as ours:

        def shares() -> list[list[Queue]]:
            return [ours.queues(), *map(java.queues, clients.values())]

        async def look() -> GroupSnapshot:
            snapshot = await admin.snapshot(groups=[name], running_info=True)
            return snapshot.groups[name]

        lists = partial(member_lists, apache.nameserver, name)
        seen = await until_at_rest(
            look, lambda _: _divided(shares(), 16), explain=lists
        )
        seen = await until_at_rest(
            look, lambda seen: _owned_once(seen, 16), explain=lists
        )
        (python,) = [m for m in seen.members if m.client_id not in clients]
        assert python.language == "PYTHON"
        assert _owned_by(seen, python.client_id) == ours.queues()
        for client_id, driver_name in clients.items():
            assert _owned_by(seen, client_id) == java.queues(driver_name)
        assert {member.strategy for member in seen.members} == {"AVG"}
        assert seen.owners.by_row == seen.inferred.by_row

        assert ours.stop() == 0
    rest = await until_at_rest(look, lambda seen: _owned_once(seen, 16), explain=lists)
    assert {client for (client,) in rest.owners.by_row} == set(clients)


async def test_apaches_admin_tool_asks_our_member_what_it_does(
    admin: Admin, apache: ApacheCluster, java: JavaDriver, name: str, tmp_path: Path
) -> None:
    await admin.create_topic(name, 2)
    side = Side(apache.nameserver, java)
    with AdminTool(tmp_path, version=apache.version) as tool:
        async with our_member(side, name, group=name, topic=name) as ours:
            await side.produce_java(name, 8)
            await until(lambda: len(ours.bodies) == 8, lambda: ours.bodies)
            await until(lambda: len(ours.queues) == 4)

            async def ask(*words: str) -> str:
                words = (*words, "-g", name, "-n", apache.nameserver)
                return await asyncio.to_thread(tool.run, *words)

            client_id = ours.consumer.client_id
            status = await ask("consumerStatus", "-i", client_id, "-s", "true")
            assert "AllocateMessageQueueAveragely" in status
            assert "V5_5_0" in status
            rows = [line for line in status.splitlines() if line.startswith(name)]
            assert len(rows) >= 4
            assert "thread " in status

            async def progress() -> list[tuple[int | None, int | None]]:
                seen = (await admin.snapshot(groups=[name])).groups[name].queues
                rows = zip(seen.keys, seen.committed, seen.max, strict=True)
                return [(done, high) for key, done, high in rows if key[0] == name]

            # Brokers of 4.9 refuse a group that has not committed every queue.
            await until_at_rest(
                progress,
                lambda rows: len(rows) == 4 and all(a == b for a, b in rows),
            )
            told = await ask("resetOffsetByTime", "-t", name, "-s", "0")
            assert "not exist" not in told
            # The broker carries it out at each queue's next pull: a message ends one.
            await side.produce_java(name, 4, first=8, orderly=True)
            await until(
                lambda: all(ours.bodies.count(f"m{n}") >= 2 for n in range(8)),
                lambda: ours.bodies,
            )


def _divided(shares: list[list[Queue]], count: int) -> bool:
    owned = [queue for share in shares for queue in share]
    return all(shares) and len(owned) == len(set(owned)) == count


def _owned_once(seen: GroupSnapshot, count: int) -> bool:
    return (
        len(seen.owners.by_row) == count
        and set(seen.owners.sources) == {OwnerSource.REPORTED}
        and all(len(clients) == 1 for clients in seen.owners.by_row)
    )


def _owned_by(seen: GroupSnapshot, client_id: str) -> list[Queue]:
    return [
        key
        for key, clients in zip(seen.queues.keys, seen.owners.by_row, strict=True)
        if client_id in clients
    ]
