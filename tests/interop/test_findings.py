"""Findings about Java consumers on a real Apache RocketMQ: the right ones alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dashboard.config.environment import ClusterSettings
from rmqcore.admin import Admin
from tests.dashboard.findings.looking_on import Onlooker, looking_on
from tests.support.apache import ApacheCluster
from tests.support.eventually import until
from tests.support.java_driver import JavaDriver
from tests.support.valkey import Valkey, valkey, valkey_server

pytestmark = [pytest.mark.interop, pytest.mark.django_db(transaction=True)]

__all__ = ["valkey", "valkey_server"]

BROKERS = 2
PATIENCE_S = 60


@pytest.fixture
async def onlooker(
    apache: ApacheCluster, valkey: Valkey, tmp_path: Path
) -> AsyncIterator[Onlooker]:
    settings = ClusterSettings("lab", (apache.nameserver,))
    async with looking_on(settings, valkey, tmp_path) as looking:
        yield looking


async def start(java: JavaDriver, group: str, member: str, **options: object) -> str:
    name = f"{group}-{member}"
    options = {"topic": group, "group": group, "instance": name, **options}
    return await asyncio.to_thread(java.start_consumer, name, **options)  # type: ignore[arg-type]


async def stop(java: JavaDriver, group: str, *members: str) -> None:
    for member in members:
        await asyncio.to_thread(java.stop_consumer, f"{group}-{member}")


async def told(onlooker: Onlooker, group: str, members: int) -> None:
    """Wait until that many members have all said what they hold."""

    async def reporting() -> int:
        document = onlooker.document(group)
        if document is None or len(document["members"]) != members:
            return -1
        return sum(m["strategy"] is not None for m in document["members"])

    await until(reporting, lambda count: count == members, seconds=PATIENCE_S)


async def at_rest(onlooker: Onlooker, group: str, members: int) -> None:
    """Wait until all members report, and every queue has one owner."""
    await told(onlooker, group, members)

    async def settled() -> bool:
        document = onlooker.document(group)
        return document is not None and all(
            queue["owner_source"] == "reported" and len(queue["owners"]) == 1
            for queue in document["queues"]
        )

    await until(settled, bool, seconds=PATIENCE_S)


async def seen_now(onlooker: Onlooker, group: str) -> set[str]:
    """Return what is found from now on, over some looks."""
    onlooker.found.clear()
    await onlooker.look(6, 3_000)
    return onlooker.found[group]


async def test_a_healthy_group_of_java_members_has_no_finding(
    java: JavaDriver, admin: Admin, onlooker: Onlooker, name: str
) -> None:
    await admin.create_topic(name, 4)
    for member in "abc":
        await start(
            java, name, member, tag="red||blue" if member == "a" else "blue||red"
        )
    await asyncio.to_thread(java.produce, name, 60, tag="red")
    await at_rest(onlooker, name, 3)
    assert await seen_now(onlooker, name) == set()
    await stop(java, name, "b")
    await at_rest(onlooker, name, 2)
    assert await seen_now(onlooker, name) == set()
    await stop(java, name, "a", "c")


async def test_java_members_with_different_tags(
    java: JavaDriver, admin: Admin, onlooker: Onlooker, name: str
) -> None:
    await admin.create_topic(name, 2)
    await start(java, name, "a", tag="red")
    second = await start(java, name, "b", tag="blue")
    await at_rest(onlooker, name, 2)
    assert await seen_now(onlooker, name) == {"inconsistent_subscriptions"}
    document = onlooker.document(name)
    assert document is not None
    (finding,) = document["findings"]
    assert sorted(finding["values"]["expressions"]) == ["blue", "red"]
    assert second in finding["members"]
    assert document["status"] == {"level": "crit", "word": "inconsistent_subscriptions"}
    await stop(java, name, "b")
    await at_rest(onlooker, name, 1)
    assert await seen_now(onlooker, name) == set()
    await stop(java, name, "a")


async def test_java_members_with_different_topics(
    java: JavaDriver, admin: Admin, onlooker: Onlooker, name: str
) -> None:
    other = f"{name}other"
    for topic in (name, other):
        await admin.create_topic(topic, 2)
    await start(java, name, "a")
    await start(java, name, "b", topic=other)
    await told(onlooker, name, 2)
    found = await seen_now(onlooker, name)
    await stop(java, name, "a", "b")
    assert found == {"different_topics"}


async def test_more_java_members_than_queues(
    java: JavaDriver, admin: Admin, onlooker: Onlooker, name: str
) -> None:
    await admin.create_topic(name, 1)
    ids = [await start(java, name, member) for member in "abc"]
    await at_rest(onlooker, name, 3)
    assert await seen_now(onlooker, name) == {"idle_members"}
    document = onlooker.document(name)
    assert document is not None
    (finding,) = document["findings"]
    assert finding["members"] == [max(ids)]
    assert finding["values"] == {"idle": 1, "members": 3, "queues": BROKERS}
    await stop(java, name, *"abc")


async def test_java_members_that_broadcast(
    java: JavaDriver, admin: Admin, onlooker: Onlooker, name: str
) -> None:
    await admin.create_topic(name, 2)
    for member in "ab":
        await start(java, name, member, mode="BROADCASTING")
    await asyncio.to_thread(java.produce, name, 20)
    await told(onlooker, name, 2)
    assert await seen_now(onlooker, name) == {"broadcasting"}
    await stop(java, name, *"ab")
