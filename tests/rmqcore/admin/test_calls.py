"""Typed calls, against the embedded cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from rmqcore.admin import END_OF_QUEUE, AclCredentials, Admin
from rmqcore.cluster import LocalCluster
from rmqcore.errors import ArgumentError, ResponseError, RouteError
from rmqcore.model import Message, MessageQueue
from rmqcore.model.topic import Perm, SubscriptionGroupConfig
from rmqcore.protocol.acl import ACCESS_KEY, SIGNATURE
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode

from .produced import send
from .scripted import ScriptedNameServer


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    async with LocalCluster(brokers=2) as cluster:
        yield cluster


@pytest.fixture
async def admin(cluster: LocalCluster) -> AsyncIterator[Admin]:
    async with Admin(cluster.nameserver_address) as admin:
        yield admin


async def test_brokers_by_cluster_and_by_name(admin: Admin) -> None:
    everyone = await admin.brokers()
    assert [broker.broker_name for broker in everyone] == ["broker-a", "broker-b"]
    assert await admin.brokers("LocalCluster") == everyone
    (one,) = await admin.brokers(broker_name="broker-b")
    assert one == everyone[1]


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"cluster": "Nowhere"}, "cluster 'Nowhere'.*LocalCluster"),
        ({"broker_name": "broker-z"}, "broker 'broker-z'.*broker-a"),
    ],
)
async def test_an_unknown_cluster_or_broker_is_named(
    admin: Admin, asked: dict[str, str], named: str
) -> None:
    with pytest.raises(RouteError, match=named):
        await admin.brokers(**asked)


async def test_a_topic_is_created_on_every_broker(admin: Admin) -> None:
    await admin.create_topic("T", 3)
    assert "T" in await admin.topic_names()
    route = await admin.topic_route("T")
    assert len(route.subscribe_queues("T")) == 6
    (address, _) = [broker.any_address for broker in await admin.brokers()]
    config = await admin.find_topic("T", str(address))
    assert config is not None
    assert (config.read_queue_nums, config.perm) == (3, Perm.READ | Perm.WRITE)


async def test_a_topic_on_one_broker_only(admin: Admin) -> None:
    await admin.create_topic("T", 2, broker_name="broker-b")
    queues = (await admin.topic_route("T")).subscribe_queues("T")
    assert queues == [
        MessageQueue("T", "broker-b", 0),
        MessageQueue("T", "broker-b", 1),
    ]


@pytest.mark.parametrize("queues", [0, -1])
async def test_a_topic_needs_a_queue(admin: Admin, queues: int) -> None:
    with pytest.raises(ArgumentError, match=f"queues is {queues}, at least 1"):
        await admin.create_topic("T", queues)


async def test_a_deleted_topic_is_gone(admin: Admin) -> None:
    await admin.create_topic("T", 1)
    await admin.delete_topic("T", cluster="LocalCluster")
    assert "T" not in await admin.topic_names()
    with pytest.raises(ResponseError) as raised:
        await admin.topic_route("T")
    assert raised.value.code == ResponseCode.TOPIC_NOT_EXIST


async def test_groups_are_created_listed_and_deleted(admin: Admin) -> None:
    await admin.create_group(SubscriptionGroupConfig("G", retry_max_times=3))
    listed = await admin.group_configs()
    assert set(listed["G"]) == {"broker-a", "broker-b"}
    assert listed["G"]["broker-a"].retry_max_times == 3
    await admin.delete_group("G")
    assert "G" not in await admin.group_configs()


async def test_offsets_of_queues(admin: Admin) -> None:
    await admin.create_topic("T", 1, broker_name="broker-a")
    queue = MessageQueue("T", "broker-a", 0)
    await send(admin, [Message("T", b"1"), Message("T", b"2")], queue)
    assert (await admin.min_offset(queue), await admin.max_offset(queue)) == (0, 2)
    stats = await admin.topic_stats("T")
    assert (stats[queue].min_offset, stats[queue].max_offset) == (0, 2)
    assert await admin.search_offset(queue, 0) == 0


async def test_committed_offsets_are_absent_until_committed(admin: Admin) -> None:
    await admin.create_topic("T", 2, broker_name="broker-a")
    await admin.create_group(SubscriptionGroupConfig("G"))
    first, second = (MessageQueue("T", "broker-a", number) for number in range(2))
    assert await admin.committed_offset("G", first) is None
    await admin.commit_offset("G", first, 7)
    assert await admin.committed_offset("G", first) == 7
    assert await admin.committed_offset("G", second) is None
    assert await admin.committed_offsets("G") == {first: 7}
    assert await admin.committed_offsets("G", "other") == {}
    assert await admin.groups_of_topic("T") == ["G"]


async def test_a_negative_offset_is_refused(admin: Admin) -> None:
    with pytest.raises(ArgumentError, match="-1"):
        await admin.commit_offset("G", MessageQueue("T", "broker-a", 0), -1)


async def test_an_offset_on_a_broker_that_is_not_there(admin: Admin) -> None:
    with pytest.raises(RouteError, match="broker-z"):
        await admin.committed_offset("G", MessageQueue("T", "broker-z", 0))


async def test_offsets_are_reset_to_the_end(admin: Admin) -> None:
    await admin.create_topic("T", 1, broker_name="broker-a")
    await admin.create_group(SubscriptionGroupConfig("G"))
    queue = MessageQueue("T", "broker-a", 0)
    await send(admin, [Message("T", b"1"), Message("T", b"2")], queue)
    await admin.commit_offset("G", queue, 0)
    (broker,) = await admin.brokers(broker_name="broker-a")
    reset = await admin.reset_on_broker("G", "T", END_OF_QUEUE, str(broker.master))
    assert reset == {queue: 2}
    assert await admin.committed_offset("G", queue) == 2


async def test_a_groups_statistics(admin: Admin) -> None:
    await admin.create_topic("T", 1, broker_name="broker-a")
    await admin.create_group(SubscriptionGroupConfig("G"))
    queue = MessageQueue("T", "broker-a", 0)
    await send(admin, [Message("T", b"1"), Message("T", b"2")], queue)
    await admin.commit_offset("G", queue, 1)
    (broker,) = await admin.brokers(broker_name="broker-a")
    address = str(broker.master)
    stats = await admin.consume_stats("G", address)
    assert (stats[queue].broker_offset, stats[queue].consumer_offset) == (2, 1)
    everyone = await admin.broker_consume_stats(address)
    assert any("G" in groups for groups in everyone.consume_stats_list)


async def test_nobody_is_connected(admin: Admin) -> None:
    (broker, _) = await admin.brokers()
    address = str(broker.master)
    assert await admin.consumer_connection("G", address) is None
    assert await admin.client_ids("G", address) == ()
    assert await admin.producer_connections("P", address) == ()
    assert await admin.producers(address) == {}
    with pytest.raises(ResponseError):
        await admin.running_info("G", "c", address)


async def test_a_brokers_own_measurements(admin: Admin) -> None:
    (broker, _) = await admin.brokers()
    table = await admin.broker_runtime(str(broker.master))
    assert "bootTimestamp" in table


async def test_changes_need_a_master(cluster: LocalCluster, admin: Admin) -> None:
    async with ScriptedNameServer() as nameserver:
        (broker, _) = await admin.brokers()
        nameserver.brokers = [
            type(broker)(broker.cluster, broker.broker_name, {1: str(broker.master)})
        ]
        async with Admin(nameserver.address) as headless:
            with pytest.raises(RouteError, match="no master is alive of broker-a"):
                await headless.create_topic("T", 1)


async def test_credentials_sign_every_request() -> None:
    async with (
        ScriptedNameServer() as nameserver,
        Admin(
            nameserver.address, credentials=AclCredentials("ak", "sk-12345678")
        ) as admin,
    ):
        await admin.cluster_info()
        (request,) = nameserver.asked(Code.GET_BROKER_CLUSTER_INFO)
        assert request.ext_fields[ACCESS_KEY] == "ak"
        assert request.ext_fields[SIGNATURE]
