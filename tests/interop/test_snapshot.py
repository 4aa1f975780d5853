"""Attached to a real Apache RocketMQ: the snapshot says what its Java clients say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

import pytest

from rmqcore.admin import Admin
from rmqcore.model.columns import Reason
from rmqcore.model.snapshot import (
    GroupKind,
    GroupSnapshot,
    Owners,
    OwnerSource,
    StrategySource,
)
from rmqcore.model.snapshot_document import document as snapshot_document
from rmqcore.model.subscription import MessageModel
from tests.interop.sides import until_at_rest
from tests.support.apache import ApacheCluster
from tests.support.java_driver import JavaDriver, Queue
from tests.support.java_members import AT_REST_S

from .versions import OLDER_TOO

pytestmark = [pytest.mark.interop, OLDER_TOO]

MEMBERS = ("a", "b", "c")
QUEUES_PER_BROKER = 8
LOOKS = 5


async def take(admin: Admin, group: str, **asked: bool) -> GroupSnapshot:
    return (await admin.snapshot(groups=[group], **asked)).groups[group]


def by_client(group: GroupSnapshot, owners: Owners) -> dict[str, list[Queue]]:
    """Return each client's queues as a snapshot has them, owners of each row."""
    queues = defaultdict(list)
    for key, clients in zip(group.queues.keys, owners.by_row, strict=True):
        for client in clients:
            queues[client].append(key)
    return dict(queues)


def start(java: JavaDriver, name: str, members: Iterable[str], **options: object):
    """Start members of one group; return their client ids by the driver's names."""
    return {
        f"{name}-{member}": java.start_consumer(
            f"{name}-{member}", group=name, topic=name, **options
        )
        for member in members
    }


def settled(
    java: JavaDriver, clients: Collection[str], count: int, *, idle: int | None = 0
) -> None:
    """Wait until the clients own `count` queues, each once, and `idle` own none.

    None for `idle` is for CONSISTENT_HASH, which may leave a member without queues.
    """

    def look() -> bool:
        shares = [java.queues(client) for client in clients]
        owned = [queue for share in shares for queue in share]
        return len(owned) == len(set(owned)) == count and idle in {
            None,
            sum(not share for share in shares),
        }

    java.wait_until(look, timeout=AT_REST_S)


async def assert_equal_to_java(
    admin: Admin, java: JavaDriver, group: str, clients: dict[str, str]
) -> None:
    for _ in range(LOOKS):
        expected = reported(java, clients)
        seen = await take(admin, group, running_info=True)
        # Java's members may divide once more, after what another broker has told them.
        if reported(java, clients) == expected:
            break
    assert by_client(seen, seen.owners) == expected
    assert set(seen.owners.sources) == {OwnerSource.REPORTED}
    assert by_client(seen, seen.inferred) == expected


def reported(java: JavaDriver, clients: dict[str, str]) -> dict[str, list[Queue]]:
    """Return the queues that each member holds, by client id, if it holds any."""
    shares = {
        client_id: java.queues(driver_name)
        for driver_name, client_id in clients.items()
    }
    return {client_id: share for client_id, share in shares.items() if share}


@pytest.mark.parametrize("strategy", ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"])
async def test_owners_equal_what_java_consumers_report(
    admin: Admin, java: JavaDriver, name: str, strategy: str
) -> None:
    await admin.create_topic(name, QUEUES_PER_BROKER)
    idle = None if strategy == "CONSISTENT_HASH" else 0
    clients = start(java, name, MEMBERS, strategy=strategy)
    settled(java, clients, 2 * QUEUES_PER_BROKER, idle=idle)
    await assert_equal_to_java(admin, java, name, clients)

    seen = await take(admin, name, running_info=True)
    assert (seen.strategy, seen.strategy_source) == (strategy, StrategySource.REPORTED)
    assert [m.client_id for m in seen.members] == sorted(clients.values())

    java.stop_consumer(f"{name}-b")
    del clients[f"{name}-b"]
    settled(java, clients, 2 * QUEUES_PER_BROKER, idle=idle)
    await assert_equal_to_java(admin, java, name, clients)


async def test_reading_leaves_the_cluster_as_it_was(
    admin: Admin, java: JavaDriver, name: str, apache: ApacheCluster
) -> None:
    await admin.create_topic(name, 4)
    clients = start(java, name, ("a",))
    settled(java, clients, 8)
    java.produce(name, 8)
    await take(admin, name)

    async def contents() -> tuple[object, ...]:
        return (
            await admin.topic_names(),
            await admin.group_configs(),
            # With the versions in them, which would tell of any change.
            apache.stored_config("topics.json"),
            apache.stored_config("subscriptionGroup.json"),
        )

    before = await contents()
    for _ in range(3):
        everything = await admin.snapshot(running_info=True, time_lag=True, pulled=True)
        await admin.snapshot(groups=["nobody-knows-this-group"], running_info=True)
    assert everything.complete
    assert "nobody-knows-this-group" not in everything.groups
    assert await contents() == before


async def test_offsets_lag_and_age_while_a_listener_is_held(
    admin: Admin, java: JavaDriver, name: str
) -> None:
    await admin.create_topic(name, 2)
    clients = start(java, name, ("a",))
    settled(java, clients, 4)
    java.hold(f"{name}-a")
    sent = java.produce(name, 12)

    newest = {(broker, queue): offset + 1 for broker, queue, offset in sent}
    seen = await take(admin, name, time_lag=True, pulled=True, running_info=True)
    table = seen.queues
    assert {
        (broker, queue): table.max[row]
        for row, (_, broker, queue) in enumerate(table.keys)
    } == newest
    for row in range(len(table)):
        if table.committed[row] is None:
            assert table.committed.reason(row) is Reason.NOTHING_COMMITTED
            assert table.lag_ms.reason(row) is Reason.NOTHING_COMMITTED
        else:
            assert table.lag[row] == table.max[row]
            assert 0 <= table.lag_ms[row] < 60_000

    java.release(f"{name}-a")
    java.wait_until(lambda: len(java.messages(f"{name}-a")) == 12)
    seen = await until_at_rest(
        lambda: take(admin, name, time_lag=True),
        lambda seen: seen.queues.lag.total() == 0 and seen.queues.lag.complete,
    )
    assert list(seen.queues.committed) == list(seen.queues.max)
    assert set(seen.queues.lag_ms) == {0}


async def test_a_broadcasting_group_has_every_member_own_everything(
    admin: Admin, java: JavaDriver, name: str
) -> None:
    await admin.create_topic(name, 2)
    clients = start(java, name, ("a", "b"), mode="BROADCASTING")
    java.wait_until(lambda: all(len(java.queues(client)) == 4 for client in clients))
    seen = await take(admin, name, running_info=True)
    assert (seen.mode, seen.kind) == (
        MessageModel.BROADCASTING,
        GroupKind.BROADCASTING,
    )
    everyone = tuple(sorted(clients.values()))
    assert set(seen.owners.by_row) == set(seen.inferred.by_row) == {everyone}
    assert {seen.queues.committed.reason(row) for row in range(4)} == {
        Reason.NOTHING_COMMITTED
    }


async def test_a_strategy_of_somebodys_own_is_named_and_not_simulated(
    admin: Admin, java: JavaDriver, name: str
) -> None:
    await admin.create_topic(name, 2)
    clients = start(java, name, ("a", "b"), strategy="OWN")
    settled(java, clients, 4, idle=1)
    # At rest is what stays so: brokers tell of members one after the other.
    seen = await until_at_rest(
        lambda: take(admin, name, running_info=True),
        lambda seen: set(seen.owners.by_row) == {(clients[f"{name}-b"],)},
    )
    assert seen.strategy == "Driver$Backwards"
    assert seen.inferred.reason is Reason.UNKNOWN_STRATEGY


async def test_members_report_their_own_subscriptions(
    admin: Admin, java: JavaDriver, name: str
) -> None:
    await admin.create_topic(name, 2)
    java.start_consumer(f"{name}-a", group=name, topic=name, tag="red")
    java.start_consumer(f"{name}-b", group=name, topic=name, tag="green||blue")
    settled(java, [f"{name}-a", f"{name}-b"], 4)
    seen = await take(admin, name, running_info=True)
    own = [[s.sub_string for s in m.subscriptions or ()] for m in seen.members]
    assert own == [["red"], ["green||blue"]]
    # The broker keeps the newest only (behaviour E2); a client whose queues change
    # counts its subscription as new, so either may be it.
    (kept,) = seen.subscriptions
    assert kept.sub_string in {"red", "green||blue"}


async def test_without_asking_members_owners_are_inferred_and_marked(
    admin: Admin, java: JavaDriver, name: str
) -> None:
    await admin.create_topic(name, 2)
    clients = start(java, name, ("a", "b"))
    settled(java, clients, 4)
    document = snapshot_document(await admin.snapshot(groups=[name]))
    (group,) = document["groups"]
    assert group["strategy"] == {"name": "AVG", "source": "assumed"}
    assert {queue["owner_source"] for queue in group["queues"]} == {"inferred"}
    assert {
        (queue["broker"], queue["queue_id"], *queue["owners"])
        for queue in group["queues"]
    } == {
        (broker, queue_id, client_id)
        for driver_name, client_id in clients.items()
        for _, broker, queue_id in java.queues(driver_name)
    }
    assert {member["unknown"]["strategy"] for member in group["members"]} == {
        "not_asked"
    }
