import pytest

from rmqcore.broker import Broker
from rmqcore.model import ConsumeType, MessageModel, SubscriptionGroupConfig
from rmqcore.protocol.bodies import (
    decode_consumer_connection,
    decode_group_config,
    decode_group_list,
    decode_group_subscription,
    decode_group_table,
    decode_producer_connection,
    decode_producer_table,
    decode_topic_list,
    encode_group_config,
)
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode as Answer
from rmqcore.protocol.fastjson import dumps
from rmqcore.transport import ManualClock

from .conftest import Connect
from .peer import Peer

CREATE = Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP


async def test_a_group_is_created_and_on_disk(broker: Broker, peer: Peer) -> None:
    config = SubscriptionGroupConfig("g", retry_max_times=3)
    await peer.ok(CREATE, body=encode_group_config(config))
    assert broker.state.groups.get("g") == config
    path = broker.settings.store_directory / "config/subscriptionGroup.json"
    assert decode_group_table(path.read_bytes()).groups["g"] == config
    response = await peer.ok(Code.GET_SUBSCRIPTIONGROUP_CONFIG, {"group": "g"})
    assert decode_group_config(response.body) == config


async def test_a_bad_name_is_29(broker: Broker, peer: Peer) -> None:
    body = encode_group_config(SubscriptionGroupConfig("bad name"))
    assert (await peer.ask(CREATE, body=body)).code == Answer.INVALID_PARAMETER
    assert "bad name" not in broker.state.groups


async def test_groups_are_created_together_or_not_at_all(
    broker: Broker, peer: Peer
) -> None:
    code = Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST

    def body(*names: str) -> bytes:
        return dumps({"groupConfigList": [{"groupName": name} for name in names]})

    response = await peer.ask(code, body=body("a", "b b"))
    assert response.code == Answer.INVALID_PARAMETER
    assert "a" not in broker.state.groups
    await peer.ok(code, body=body("a", "b"))
    assert {"a", "b"} <= set(broker.state.groups.all)


@pytest.mark.parametrize("clean", [True, False])
async def test_a_deleted_group_takes_its_retries_along(
    broker: Broker, peer: Peer, clean: bool
) -> None:
    await peer.heartbeat("T")
    await peer.send("%RETRY%g")
    broker.state.offsets.commit("g", "T", 0, 1, 0)
    fields = {"groupName": "g", "cleanOffset": clean}
    await peer.ok(Code.DELETE_SUBSCRIPTIONGROUP, fields)
    assert "g" not in broker.state.groups
    assert "%RETRY%g" not in broker.state.topics
    assert broker.state.store.max_offset("%RETRY%g", 0) == 0
    assert (broker.state.offsets.committed("g", "T", 0) is None) is clean


async def test_all_groups_are_listed(broker: Broker, peer: Peer) -> None:
    broker.state.groups.put(SubscriptionGroupConfig("g"), 5)
    response = await peer.ok(Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
    table = decode_group_table(response.body)
    assert table.groups == broker.state.groups.all
    assert response.ext_fields == {"totalGroupNum": str(len(table.groups))}


async def test_an_unknown_group_is_26(peer: Peer) -> None:
    response = await peer.ask(Code.GET_SUBSCRIPTIONGROUP_CONFIG, {"group": "g"})
    assert response.code == Answer.SUBSCRIPTION_GROUP_NOT_EXIST


# Who is connected


async def test_members_are_shown_with_what_they_said(
    peer: Peer, connected: Connect
) -> None:
    other = await connected()
    await peer.heartbeat("T", client_id="a", tags="x || y")
    await other.heartbeat("T", client_id="b")
    fields = {"consumerGroup": "g"}
    response = await peer.ok(Code.GET_CONSUMER_CONNECTION_LIST, fields)
    shown = decode_consumer_connection(response.body)
    assert {c.client_id: c.client_addr for c in shown.connections} == {
        "a": peer.channel.local_address,
        "b": other.channel.local_address,
    }
    assert {(c.language, c.version) for c in shown.connections} == {("PYTHON", 513)}
    assert shown.consume_type is ConsumeType.PUSH
    assert shown.message_model is MessageModel.CLUSTERING
    assert shown.subscriptions["T"].tags == {"x", "y"}


async def test_nobody_online_is_206(peer: Peer) -> None:
    fields = {"consumerGroup": "g"}
    response = await peer.ask(Code.GET_CONSUMER_CONNECTION_LIST, fields)
    assert response.code == Answer.CONSUMER_NOT_ONLINE
    assert response.remark == "the consumer group[g] not online"


async def test_producers_are_shown(peer: Peer, clock: ManualClock) -> None:
    await peer.heartbeat(client_id="p", producers=("pg",))
    fields = {"producerGroup": "pg"}
    response = await peer.ok(Code.GET_PRODUCER_CONNECTION_LIST, fields)
    (connection,) = decode_producer_connection(response.body)
    assert connection.client_id == "p"
    response = await peer.ok(Code.GET_ALL_PRODUCER_INFO)
    table = decode_producer_table(response.body)
    (info,) = table["pg"]
    assert (info.client_id, info.remote_ip) == ("p", peer.channel.local_address)
    assert info.last_update_timestamp == clock.time_ms()


async def test_an_unknown_producer_group_is_1(peer: Peer) -> None:
    fields = {"producerGroup": "pg"}
    response = await peer.ask(Code.GET_PRODUCER_CONNECTION_LIST, fields)
    assert response.code == Answer.SYSTEM_ERROR
    assert response.remark == "the producer group[pg] not exist"


@pytest.mark.parametrize(
    ("language", "shown"), [(9, "GO"), (77, "OTHER"), ("KOTLIN", "KOTLIN")]
)
async def test_a_language_is_shown_by_its_name(
    broker: Broker, peer: Peer, language: int | str, shown: str
) -> None:
    await peer.heartbeat("T")
    group = broker.state.consumers.group("g")
    assert group is not None
    next(iter(group.members.values())).language = language
    fields = {"consumerGroup": "g"}
    response = await peer.ok(Code.GET_CONSUMER_CONNECTION_LIST, fields)
    (connection,) = decode_consumer_connection(response.body).connections
    assert connection.language == shown


# Who reads what


async def test_readers_of_a_topic_are_online_or_have_offsets(
    broker: Broker, peer: Peer
) -> None:
    await peer.heartbeat("T", group="online")
    broker.state.offsets.commit("offline", "T", 0, 1, 0)
    broker.state.offsets.commit("other", "U", 0, 1, 0)
    response = await peer.ok(Code.QUERY_TOPIC_CONSUME_BY_WHO, {"topic": "T"})
    assert decode_group_list(response.body) == ["offline", "online"]


async def test_topics_of_a_group_are_those_with_offsets(
    broker: Broker, peer: Peer
) -> None:
    broker.state.offsets.commit("g", "T", 0, 1, 0)
    broker.state.offsets.commit("g", "U", 0, 1, 0)
    response = await peer.ok(Code.QUERY_TOPICS_BY_CONSUMER, {"group": "g"})
    assert decode_topic_list(response.body) == ["T", "U"]


async def test_a_subscription_is_shown(peer: Peer) -> None:
    code = Code.QUERY_SUBSCRIPTION_BY_CONSUMER
    fields = {"group": "g", "topic": "T"}
    response = await peer.ok(code, fields)
    assert decode_group_subscription(response.body).subscription is None
    await peer.heartbeat("T", tags="x")
    shown = decode_group_subscription((await peer.ok(code, fields)).body)
    assert shown.subscription is not None
    assert shown.subscription.sub_string == "x"
    response = await peer.ok(code, {"group": "g", "topic": "U"})
    assert decode_group_subscription(response.body).subscription is None
