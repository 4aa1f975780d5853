"""Configuration of topics, groups and brokers, broker by broker, on a real cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from rmqcore.admin import Admin
from rmqcore.cluster import LocalCluster
from rmqcore.errors import ResponseError, RmqError
from rmqcore.model import Message, MessageQueue
from rmqcore.model.topic import Perm, SubscriptionGroupConfig, TopicConfig
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.fastjson import dumps, loads

from .produced import send
from .scripted import ScriptedBroker, ScriptedNameServer, broker_data

GROUPS = Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG
CREATE_GROUP = Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    async with LocalCluster(brokers=2) as cluster:
        yield cluster


@pytest.fixture
async def admin(cluster: LocalCluster) -> AsyncIterator[Admin]:
    async with Admin(cluster.nameserver_address) as admin:
        yield admin


async def masters(admin: Admin) -> list[str]:
    return [str(broker.master) for broker in await admin.brokers()]


async def test_a_topic_is_put_on_one_broker_with_all_that_it_has(admin: Admin) -> None:
    one, other = await masters(admin)
    wanted = TopicConfig(
        "T", 4, 2, Perm.READ, order=True, attributes={"message.type": "FIFO"}
    )
    await admin.put_topic(wanted, one)
    assert await admin.find_topic("T", one) == wanted
    assert await admin.find_topic("T", other) is None


async def test_attributes_stay_unless_they_are_removed(admin: Admin) -> None:
    one, _ = await masters(admin)
    await admin.put_topic(TopicConfig("T", attributes={"a": "1", "b": "2"}), one)
    await admin.put_topic(TopicConfig("T", attributes={"b": "3"}), one, removed=("a",))
    found = await admin.find_topic("T", one)
    assert found is not None
    assert found.attributes == {"b": "3"}


async def test_a_topic_is_dropped_on_one_broker_and_from_the_routes(
    admin: Admin, cluster: LocalCluster
) -> None:
    one, other = await masters(admin)
    await admin.create_topic("T", 1)
    await admin.drop_topic("T", one)
    assert await admin.find_topic("T", one) is None
    assert await admin.find_topic("T", other) is not None
    assert "T" in await admin.topics_on(other)
    told = await admin.drop_routes("T", "LocalCluster")
    assert told == {cluster.nameserver_address: None}
    assert await admin.route_named_by(cluster.nameserver_address, "T") is None


async def test_stored_messages_are_counted_where_there_is_the_topic(
    admin: Admin,
) -> None:
    one, other = await masters(admin)
    await admin.create_topic("T", 1, broker_name="broker-a")
    queue = MessageQueue("T", "broker-a", 0)
    await send(admin, [Message("T", b"1"), Message("T", b"2")], queue)
    assert await admin.stored_messages("T", one) == 2
    assert await admin.stored_messages("T", other) is None


async def test_a_group_is_put_and_dropped_on_one_broker(admin: Admin) -> None:
    one, other = await masters(admin)
    await admin.put_group_document({"groupName": "G", "retryMaxTimes": 3}, one)
    document = (await admin.group_documents(one))["G"]
    assert (document["retryMaxTimes"], document["consumeEnable"]) == (3, True)
    assert "G" not in await admin.group_documents(other)
    await admin.drop_group("G", one, clean_offset=True)
    assert "G" not in await admin.group_documents(one)


async def test_a_change_of_a_group_keeps_what_has_no_field_here() -> None:
    stored = {"groupName": "G", "retryMaxTimes": 1, "subscriptionDataSet": [1]}
    stored_with_attributes = stored | {"attributes": {"a": "1"}}
    table = dumps({"subscriptionGroupTable": {"G": stored_with_attributes}})
    async with ScriptedBroker() as broker, ScriptedNameServer() as nameserver:
        nameserver.brokers.append(broker_data(broker))
        broker.answers |= {
            GROUPS: lambda asked: asked.response(body=table),
            CREATE_GROUP: RemotingCommand.response,
        }
        async with Admin(nameserver.address) as admin:
            await admin.create_group(SubscriptionGroupConfig("G", retry_max_times=3))
        (change,) = broker.asked(CREATE_GROUP)
    document = loads(change.body)
    assert (document["retryMaxTimes"], document["subscriptionDataSet"]) == (3, [1])
    # In a change, attributes that are not named stay.
    assert document["attributes"] == {}


async def test_settings_of_a_broker_are_read_and_changed(admin: Admin) -> None:
    one, other = await masters(admin)
    assert (await admin.broker_settings(one))["fileReservedTime"] == "72"
    await admin.change_broker_settings({"fileReservedTime": "48"}, one)
    assert (await admin.broker_settings(one))["fileReservedTime"] == "48"
    assert (await admin.broker_settings(other))["fileReservedTime"] == "72"
    with pytest.raises(ResponseError, match="brokerName cannot be changed"):
        await admin.change_broker_settings({"brokerName": "x"}, one)


async def test_writing_to_a_broker_is_stopped_and_allowed_again(
    admin: Admin, cluster: LocalCluster
) -> None:
    await admin.create_topic("T", 1)

    async def writable() -> list[str]:
        route = await admin.route_named_by(cluster.nameserver_address, "T")
        assert route is not None
        return [queue.broker_name for queue in route.publish_queues("T")]

    assert await writable() == ["broker-a", "broker-b"]
    await admin.set_writing("broker-a", allowed=False)
    assert await writable() == ["broker-b"]
    await admin.set_writing("broker-a", allowed=True)
    assert await writable() == ["broker-a", "broker-b"]


async def test_a_name_server_that_is_away_does_not_spare_the_others(
    cluster: LocalCluster,
) -> None:
    away = "127.0.0.1:1"
    async with Admin([cluster.nameserver_address, away]) as admin:
        told = await admin.set_writing("broker-a", allowed=True)
    assert told[cluster.nameserver_address] is None
    assert isinstance(told[away], RmqError)
    assert admin.nameservers == (cluster.nameserver_address, away)


async def test_the_embedded_broker_keeps_no_users(admin: Admin) -> None:
    one, _ = await masters(admin)
    with pytest.raises(ResponseError) as raised:
        await admin.users(one)
    assert raised.value.code == 3
