"""What reaches a read-only cluster: questions, and nothing that changes it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from dashboard.gateway.connections import ClusterConnection, open_admin, request_hooks
from dashboard.gateway.read_only import (
    READS,
    ReadOnlyClusterError,
    check_writable,
    only_reads,
)
from dashboard.gateway.settings import ClusterSettings
from rmqcore.admin import Admin
from rmqcore.cluster import LocalCluster
from rmqcore.model import MessageQueue
from rmqcore.model.topic import SubscriptionGroupConfig
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from tests.support.cluster import join, local_cluster, produce

PROD = ClusterSettings("prod", ("h:1",))
QUEUE = MessageQueue("orders", "broker-a", 0)


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    async with local_cluster(4) as cluster:
        yield cluster


@pytest.fixture
async def admin(cluster: LocalCluster) -> AsyncIterator[Admin]:
    admin = open_admin(ClusterSettings("prod", (cluster.nameserver_address,)))
    yield admin
    await admin.close()


@pytest.mark.parametrize("code", sorted(set(RequestCode) - READS))
def test_whatever_is_not_known_to_read_is_refused(code: int) -> None:
    with pytest.raises(ReadOnlyClusterError, match="ROCKETSCOPE_CLUSTER_PROD_WRITES"):
        only_reads(PROD)("h:1", RemotingCommand.request(code))


def test_unknown_requests_are_refused() -> None:
    with pytest.raises(ReadOnlyClusterError, match=r"request 99999 to h:1: .*'prod'"):
        only_reads(PROD)("h:1", RemotingCommand.request(99_999))


def test_nothing_is_in_the_way_of_a_cluster_that_is_open() -> None:
    for given in (
        ClusterSettings("lab", ("h:1",), writes=True),
        ClusterSettings("embedded", ("h:1",), embedded=True),
    ):
        check_writable(given)
        assert request_hooks(given) == ()
    with pytest.raises(ReadOnlyClusterError, match="'prod' is attached read-only"):
        check_writable(PROD)


async def reset(admin: Admin) -> None:
    (broker,) = await admin.brokers()
    await admin.reset_on_broker("billing", "orders", 0, str(broker.master))


WRITES: list[Callable[[Admin], Awaitable[object]]] = [
    lambda admin: admin.create_topic("made", 4),
    lambda admin: admin.delete_topic("orders"),
    lambda admin: admin.create_group(SubscriptionGroupConfig("made")),
    lambda admin: admin.delete_group("billing"),
    reset,
    lambda admin: admin.commit_offset("billing", QUEUE, 1),
]


@pytest.mark.parametrize("write", WRITES)
async def test_each_write_is_refused_and_nothing_changes(
    write: Callable[[Admin], Awaitable[object]], cluster: LocalCluster, admin: Admin
) -> None:
    member = await join(cluster, "theirs")
    await produce(cluster, 4)
    before = await admin.snapshot()
    with pytest.raises(ReadOnlyClusterError):
        await write(admin)
    after = await admin.snapshot()
    assert (set(after.topics), set(after.groups)) == (
        set(before.topics),
        set(before.groups),
    )
    await member.shutdown()


async def test_sweeps_read_everything(cluster: LocalCluster) -> None:
    member = await join(cluster, "theirs")
    await produce(cluster, 8)
    connection = ClusterConnection(
        ClusterSettings("prod", (cluster.nameserver_address,))
    )
    await connection.snapshot()
    snapshot = await connection.groups({"billing"})
    assert snapshot.complete
    assert "billing" in snapshot.groups
    assert await connection.broker_names() == ["broker-a"]
    await connection.close()
    await member.shutdown()


async def test_a_consumer_does_not_join(cluster: LocalCluster, admin: Admin) -> None:
    prod = ClusterSettings("prod", (cluster.nameserver_address,))
    member = await join(cluster, "ours", hooks=request_hooks(prod))
    assert "billing" not in (await admin.snapshot()).groups
    await member.abandon()
