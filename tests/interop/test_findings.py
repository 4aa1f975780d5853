"""Findings about Java consumers on a real Apache RocketMQ: the right ones alone."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from dashboard.gateway.settings import ClusterSettings
from rmqcore.admin import Admin
from rmqcore.protocol.bodies import encode_set_request_mode
from rmqcore.protocol.bodies.assignment import SetRequestMode
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import ChannelPool
from tests.dashboard.findings.looking_on import Onlooker, looking_on
from tests.support.apache import ApacheCluster
from tests.support.java_driver import JavaDriver
from tests.support.java_members import AT_REST_S, member_lists
from tests.support.valkey import Valkey, valkey, valkey_server
from tests.support.waiting import until_seen

pytestmark = [
    pytest.mark.interop,
    pytest.mark.django_db(transaction=True),
]

__all__ = ["valkey", "valkey_server"]

BROKERS = 2
STILL_S = 4.0
SWEEP_S = 1.0
"""Sweeps without a pause would cost brokers of Java more than all members do."""

T = TypeVar("T")


@pytest.fixture
async def onlooker(
    apache: ApacheCluster, valkey: Valkey, tmp_path: Path
) -> AsyncIterator[Onlooker]:
    settings = ClusterSettings("lab", (apache.nameserver,))
    async with looking_on(settings, valkey, tmp_path, every_s=SWEEP_S) as looking:
        yield looking


@pytest.fixture
def second(apache: ApacheCluster, tmp_path: Path) -> Iterator[JavaDriver]:
    """Another JVM, so that a process may share a client id, or be killed."""
    with JavaDriver(apache.nameserver, tmp_path / "second") as driver:
        yield driver


async def start(java: JavaDriver, group: str, member: str, **options: object) -> str:
    name = f"{group}-{member}"
    options = {"topic": group, "group": group, "instance": name, **options}
    return await asyncio.to_thread(java.start_consumer, name, **options)  # type: ignore[arg-type]


async def stop(java: JavaDriver, group: str, *members: str) -> None:
    for member in members:
        await asyncio.to_thread(java.stop_consumer, f"{group}-{member}")


async def comes_true(
    onlooker: Onlooker,
    group: str,
    look: Callable[[], Awaitable[T]],
    holds: Callable[[T], bool],
) -> None:
    """Wait for as long as Java's members may take; fail with the brokers' lists."""
    lists = partial(member_lists, onlooker.nameserver, group)
    await until_seen(look, holds, seconds=AT_REST_S, explain=lists)


async def told(onlooker: Onlooker, group: str, members: int) -> None:
    """Wait until that many members have all said what they hold."""

    async def reporting() -> int:
        document = onlooker.document(group)
        if document is None or len(document["members"]) != members:
            return -1
        return sum(m["strategy"] is not None for m in document["members"])

    await comes_true(onlooker, group, reporting, lambda count: count == members)


async def at_rest(onlooker: Onlooker, group: str, members: int) -> None:
    """Wait until all members report, and every queue has one owner."""
    await told(onlooker, group, members)

    async def settled() -> bool:
        document = onlooker.document(group)
        return document is not None and all(
            queue["owner_source"] == "reported" and len(queue["owners"]) == 1
            for queue in document["queues"]
        )

    await comes_true(onlooker, group, settled, bool)


async def still(onlooker: Onlooker, group: str) -> None:
    """Wait until no queue has changed hands for a while by the machine's clock."""
    seen: list[list[str]] = []
    since = time.monotonic()

    async def unchanged_for() -> float:
        nonlocal seen, since
        document = onlooker.document(group)
        owners = [queue["owners"] for queue in document["queues"]] if document else []
        if owners != seen:
            seen, since = owners, time.monotonic()
        return time.monotonic() - since

    await comes_true(onlooker, group, unchanged_for, lambda s: s > STILL_S)


async def seen_now(onlooker: Onlooker, group: str) -> set[str]:
    """Return what is found from now on, over some looks, in a group that is still.

    The looks put the onlooker's clock on: they would make an instant of a rebalance,
    in which Java's members hold a queue twice or not at all, into a lasting state.
    """
    await still(onlooker, group)
    onlooker.found.clear()
    await onlooker.look(6, 3_000)
    # A copy: what is found while members leave afterwards is not of now.
    return set(onlooker.found[group])


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


async def take_by_pop(admin: Admin, group: str) -> None:
    """Set every broker to hand the group's messages out one by one (POP)."""
    body = encode_set_request_mode(SetRequestMode(group, group, "POP", 8))
    pool = ChannelPool()
    try:
        for broker in await admin.brokers():
            request = RemotingCommand.request(
                RequestCode.SET_MESSAGE_REQUEST_MODE, body=body
            )
            answer = await pool.request(str(broker.master), request)
            assert answer.code == 0, answer.remark
    finally:
        await pool.close()


async def test_java_members_that_take_by_pop_are_healthy(
    java: JavaDriver, admin: Admin, onlooker: Onlooker, name: str
) -> None:
    await admin.create_topic(name, 2)
    await take_by_pop(admin, name)
    for member in "ab":
        await start(java, name, member, pop="true")
    await asyncio.to_thread(java.produce, name, 40)
    await asyncio.to_thread(
        java.wait_until,
        lambda: sum(len(java.messages(f"{name}-{each}")) for each in "ab") >= 40,
    )
    await told(onlooker, name, 2)
    assert await seen_now(onlooker, name) == set()
    document = onlooker.document(name)
    assert document is not None
    assert document["kind"] == "shared_pop"
    assert not any(queue["owner_source"] == "inferred" for queue in document["queues"])
    await stop(java, name, *"ab")


async def test_lite_pull_consumers_are_healthy(
    java: JavaDriver, admin: Admin, onlooker: Onlooker, name: str
) -> None:
    await admin.create_topic(name, 2)
    for member in "ab":
        await asyncio.to_thread(
            java.start_pull_consumer, f"{name}-{member}", group=name, topic=name
        )
    await asyncio.to_thread(java.produce, name, 40)
    await told(onlooker, name, 2)
    assert await seen_now(onlooker, name) == set()
    await stop(java, name, *"ab")


async def test_queues_assigned_by_hand_are_healthy_though_most_are_nobodys(
    java: JavaDriver, admin: Admin, onlooker: Onlooker, name: str
) -> None:
    await admin.create_topic(name, 4)
    await asyncio.to_thread(java.produce, name, 40)
    await asyncio.to_thread(
        java.start_pull_consumer, f"{name}-a", group=name, topic=name, assign=1
    )
    await told(onlooker, name, 1)
    assert await seen_now(onlooker, name) == set()
    document = onlooker.document(name)
    assert document is not None
    assert document["kind"] == "assigned_by_hand"
    await stop(java, name, "a")


async def test_two_jvms_with_one_client_id(
    java: JavaDriver, second: JavaDriver, admin: Admin, onlooker: Onlooker, name: str
) -> None:
    await admin.create_topic(name, 4)
    ids = {
        await start(driver, name, "a", instance=f"{name}-same")
        for driver in (java, second)
    }
    assert len(ids) == 1
    await told(onlooker, name, 2)
    assert await seen_now(onlooker, name) == {"shared_client_id"}
    for driver in (java, second):
        await stop(driver, name, "a")


async def found_by(onlooker: Onlooker, name: str) -> set[str]:
    document = onlooker.document(name)
    return {f["key"] for f in document["findings"]} if document else set()


async def owned_by(onlooker: Onlooker, name: str, client_id: str) -> int:
    document = onlooker.document(name)
    queues = document["queues"] if document else []
    # By its own word: until it has a lock it is only expected to own the queue.
    return sum(
        queue["owners"] == [client_id] and queue["owner_source"] == "reported"
        for queue in queues
    )


async def test_locks_of_a_killed_orderly_member_are_waited_for(
    java: JavaDriver, second: JavaDriver, admin: Admin, onlooker: Onlooker, name: str
) -> None:
    await admin.create_topic(name, 2)
    await start(java, name, "a", orderly="true")
    killed = await start(second, name, "b", orderly="true")
    await at_rest(onlooker, name, 2)
    # The first member held every queue; the second must have the locks of its share.
    await comes_true(
        onlooker, name, lambda: owned_by(onlooker, name, killed), lambda n: n == 2
    )
    second.kill()

    await comes_true(
        onlooker,
        name,
        lambda: found_by(onlooker, name),
        lambda keys: keys == {"lock_expired"},
    )
    document = onlooker.document(name)
    assert document is not None
    assert document["findings"][0]["values"]["holder"] == killed
    await stop(java, name, "a")


async def all_taken(java: JavaDriver, member: str, *, since: int) -> None:
    """Wait until a member has taken all queues, by the changes told `since` then."""

    def has_all() -> bool:
        told_since = java.events("allocation")[since:]
        return any(
            event["name"] == member and len(event["queues"]) == 2 * BROKERS
            for event in told_since
        )

    await asyncio.to_thread(java.wait_until, has_all)


async def test_a_java_member_that_broadcasts_loses_its_offsets_file(
    java: JavaDriver, admin: Admin, onlooker: Onlooker, name: str
) -> None:
    await admin.create_topic(name, 2)
    options = {"mode": "BROADCASTING", "from": "CONSUME_FROM_LAST_OFFSET"}
    client_id = await start(java, name, "a", **options)
    await told(onlooker, name, 1)
    # It starts at the tail: what comes before it has looked for that is not for it.
    await all_taken(java, f"{name}-a", since=0)
    await asyncio.to_thread(java.produce, name, 20)
    await asyncio.to_thread(
        java.wait_until, lambda: len(java.messages(f"{name}-a")) >= 20
    )
    assert await seen_now(onlooker, name) == {"broadcasting"}
    await stop(java, name, "a")
    await onlooker.look(2, 1_000)
    shutil.rmtree(java.home / ".rocketmq_offsets" / client_id)
    await asyncio.to_thread(java.produce, name, 10)
    before = len(java.events("allocation"))
    async with onlooker.paused():
        # What is lost is summed over the queues of the first look at the member.
        assert await start(java, name, "a", **options) == client_id
        await all_taken(java, f"{name}-a", since=before)
    await told(onlooker, name, 1)
    both = {"broadcasting", "offsets_file_lost"}
    await comes_true(
        onlooker, name, lambda: found_by(onlooker, name), lambda keys: keys == both
    )
    document = onlooker.document(name)
    assert document is not None
    (finding, _fact) = document["findings"]
    assert (finding["text"], finding["values"]["messages"]) == ("lost", 10)
    await stop(java, name, "a")
