from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from rmqcore.model import TopicConfig
from rmqcore.nameserver import NameServer
from rmqcore.nameserver.processors import HANDLERS
from rmqcore.protocol.bodies import (
    DataVersion,
    RegisterBrokerBody,
    TopicConfigTable,
    body_crc32,
    decode_broker_member_group,
    decode_cluster_info,
    decode_kv_table,
    decode_topic_list,
    decode_topic_route,
    encode_data_version,
    encode_register_broker,
    encode_register_broker_compressed,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import HEADERLESS_CODES, REQUEST_HEADERS
from rmqcore.transport import Channel, ManualClock, connect

VERSION = DataVersion(counter=3, timestamp=5)
BROKER = {
    "brokerName": "broker-a",
    "brokerAddr": "10.0.0.1:10911",
    "clusterName": "c",
    "brokerId": "0",
    "haServerAddr": "10.0.0.1:10912",
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def server(clock: ManualClock) -> AsyncIterator[NameServer]:
    made = NameServer(clock=clock)
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def channel(server: NameServer) -> AsyncIterator[Channel]:
    made = await connect(server.address)
    yield made
    await made.close()


async def ask(
    channel: Channel,
    code: int,
    ext_fields: Mapping[str, str] | None = None,
    body: bytes = b"",
    version: int = 513,
) -> RemotingCommand:
    command = RemotingCommand.request(code, ext_fields, body)
    command.version = version
    return await channel.request(command)


def registration(*topics: str) -> RegisterBrokerBody:
    configs = {name: TopicConfig(name, 4, 4) for name in ("sys", *topics)}
    return RegisterBrokerBody(TopicConfigTable(configs, VERSION))


async def register(channel: Channel, *topics: str, **changes: str) -> RemotingCommand:
    body = encode_register_broker(registration(*topics))
    fields = BROKER | {"bodyCrc32": str(body_crc32(body))} | changes
    return await ask(channel, RequestCode.REGISTER_BROKER, fields, body)


async def route(channel: Channel, **fields: str) -> RemotingCommand:
    return await ask(
        channel, RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "T"} | fields
    )


def test_every_handler_has_a_known_header() -> None:
    assert set(HANDLERS) <= set(REQUEST_HEADERS) | HEADERLESS_CODES


async def test_a_registered_topic_has_a_route(channel: Channel) -> None:
    assert (await register(channel, "T")).code == 0
    found = decode_topic_route((await route(channel)).body)
    assert [str(queue) for queue in found.subscribe_queues("T")] == [
        f"MessageQueue [topic=T, brokerName=broker-a, queueId={n}]" for n in range(4)
    ]


async def test_an_unknown_topic_is_17(channel: Channel) -> None:
    response = await route(channel)
    assert response.code == ResponseCode.TOPIC_NOT_EXIST
    assert response.remark is not None
    assert response.remark.endswith("for the topic: T")


@pytest.mark.parametrize(
    ("version", "asks", "is_standard"),
    [(400, "false", False), (400, "true", True), (401, "false", True)],
)
async def test_new_clients_get_standard_json(
    channel: Channel, version: int, asks: str, is_standard: bool
) -> None:
    await register(channel, "T")
    fields = {"topic": "T", "acceptStandardJsonOnly": asks}
    code = RequestCode.GET_ROUTEINFO_BY_TOPIC
    response = await ask(channel, code, fields, version=version)
    assert (b'{"0":' in response.body) is is_standard
    assert (b"{0:" in response.body) is not is_standard


async def test_a_compressed_registration_is_read(channel: Channel) -> None:
    body = encode_register_broker_compressed(registration("T"))
    fields = BROKER | {"compressed": "true"}
    response = await ask(channel, RequestCode.REGISTER_BROKER, fields, body)
    assert response.code == 0
    assert (await route(channel)).code == 0


async def test_a_wrong_checksum_is_refused(channel: Channel) -> None:
    response = await register(channel, "T", bodyCrc32="1")
    assert (response.code, response.remark) == (1, "crc32 not match")


async def test_a_body_that_is_none_is_refused(channel: Channel) -> None:
    response = await ask(channel, RequestCode.REGISTER_BROKER, BROKER, b"{")
    assert response.code == ResponseCode.SYSTEM_ERROR
    assert response.remark is not None
    assert response.remark.startswith("BodyError: ")


async def test_a_single_first_topic_is_refused(channel: Channel) -> None:
    response = await register(channel)
    assert (response.code, response.remark) == (1, "register broker failed")


async def test_a_slave_is_told_its_master(channel: Channel) -> None:
    await register(channel, "T")
    response = await register(
        channel, "T", brokerId="1", brokerAddr="10.0.0.2:1", haServerAddr=""
    )
    assert response.ext_fields == {
        "haServerAddr": "10.0.0.1:10912",
        "masterAddr": "10.0.0.1:10911",
    }


async def test_order_settings_are_handed_to_brokers(channel: Channel) -> None:
    order = {"namespace": "ORDER_TOPIC_CONFIG", "key": "T", "value": "broker-a:4"}
    await ask(channel, RequestCode.PUT_KV_CONFIG, order)
    response = await register(channel, "T")
    assert decode_kv_table(response.body) == {"T": "broker-a:4"}


async def test_a_broker_that_leaves_is_gone(channel: Channel) -> None:
    await register(channel, "T")
    await ask(channel, RequestCode.UNREGISTER_BROKER, BROKER)
    assert (await route(channel)).code == ResponseCode.TOPIC_NOT_EXIST


async def test_a_lost_connection_takes_its_broker(
    server: NameServer, channel: Channel
) -> None:
    other = await connect(server.address)
    await register(other, "T")
    assert (await route(channel)).code == 0
    await other.close()
    while (await route(channel)).code == 0:
        pass


async def test_a_silent_broker_expires(channel: Channel, clock: ManualClock) -> None:
    await register(channel, "T")
    await clock.advance(115)
    await ask(channel, RequestCode.BROKER_HEARTBEAT, BROKER)
    await clock.advance(115)
    assert (await route(channel)).code == 0
    await clock.advance(10)
    assert (await route(channel)).code == ResponseCode.TOPIC_NOT_EXIST


@pytest.mark.parametrize(
    ("asked", "changed"), [(VERSION, "false"), (DataVersion(counter=4), "true")]
)
async def test_a_broker_asks_whether_it_must_register(
    channel: Channel, clock: ManualClock, asked: DataVersion, changed: str
) -> None:
    await register(channel, "T")
    await clock.advance(60)
    body = encode_data_version(asked)
    response = await ask(channel, RequestCode.QUERY_DATA_VERSION, BROKER, body)
    assert response.ext_fields == {"changed": changed}
    assert response.body == encode_data_version(VERSION)
    await clock.advance(100)
    assert ((await route(channel)).code == 0) is (changed == "false")


async def test_an_unknown_broker_must_register(channel: Channel) -> None:
    body = encode_data_version(VERSION)
    response = await ask(channel, RequestCode.QUERY_DATA_VERSION, BROKER, body)
    assert (response.ext_fields, response.body) == ({"changed": "true"}, b"")


async def test_lists_name_everything(channel: Channel) -> None:
    await register(channel, "T")
    response = await ask(channel, RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
    assert decode_topic_list(response.body) == ["sys", "T"]
    response = await ask(channel, RequestCode.GET_TOPICS_BY_CLUSTER, {"cluster": "c"})
    assert decode_topic_list(response.body) == ["sys", "T"]
    response = await ask(channel, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS)
    assert decode_topic_list(response.body) == ["c", "broker-a"]
    response = await ask(channel, RequestCode.GET_BROKER_CLUSTER_INFO)
    info = decode_cluster_info(response.body)
    assert info.clusters == {"c": ("broker-a",)}
    assert info.brokers["broker-a"].addresses == {0: "10.0.0.1:10911"}
    assert b"{0:" in response.body


@pytest.mark.parametrize(("cluster", "found"), [("c", True), ("d", False)])
async def test_members_of_a_broker_name(
    channel: Channel, cluster: str, found: bool
) -> None:
    await register(channel, "T")
    fields = {"clusterName": cluster, "brokerName": "broker-a"}
    response = await ask(channel, RequestCode.GET_BROKER_MEMBER_GROUP, fields)
    assert bool(response.body) is found
    if found:
        broker = decode_broker_member_group(response.body)
        assert broker.addresses == {0: "10.0.0.1:10911"}


async def test_a_deleted_topic_has_no_route(channel: Channel) -> None:
    await register(channel, "T")
    fields = {"topic": "T", "clusterName": ""}
    await ask(channel, RequestCode.DELETE_TOPIC_IN_NAMESRV, fields)
    assert (await route(channel)).code == ResponseCode.TOPIC_NOT_EXIST


async def test_a_topic_is_registered_by_hand(channel: Channel) -> None:
    await register(channel, "T")
    body = (await route(channel)).body
    code = RequestCode.REGISTER_TOPIC_IN_NAMESRV
    await ask(channel, code, {"topic": "N"}, body)
    added = decode_topic_route((await route(channel, topic="N")).body)
    assert len(added.publish_queues("N")) == 4


async def test_write_permission_is_counted(channel: Channel) -> None:
    await register(channel, "T")
    name = {"brokerName": "broker-a"}
    response = await ask(channel, RequestCode.WIPE_WRITE_PERM_OF_BROKER, name)
    assert response.ext_fields == {"wipeTopicCount": "2"}
    assert decode_topic_route((await route(channel)).body).publish_queues("T") == []
    response = await ask(channel, RequestCode.ADD_WRITE_PERM_OF_BROKER, name)
    assert response.ext_fields == {"addTopicCount": "2"}
    assert len(decode_topic_route((await route(channel)).body).publish_queues("T")) == 4


async def test_settings_are_kept(channel: Channel) -> None:
    key = {"namespace": "n", "key": "k"}
    missing = await ask(channel, RequestCode.GET_KV_CONFIG, key)
    assert missing.code == ResponseCode.QUERY_NOT_FOUND
    await ask(channel, RequestCode.PUT_KV_CONFIG, key | {"value": "v"})
    response = await ask(channel, RequestCode.GET_KV_CONFIG, key)
    assert response.ext_fields == {"value": "v"}
    namespace = {"namespace": "n"}
    response = await ask(channel, RequestCode.GET_KVLIST_BY_NAMESPACE, namespace)
    assert decode_kv_table(response.body) == {"k": "v"}
    await ask(channel, RequestCode.DELETE_KV_CONFIG, key)
    response = await ask(channel, RequestCode.GET_KVLIST_BY_NAMESPACE, namespace)
    assert response.code == ResponseCode.QUERY_NOT_FOUND


async def test_an_unknown_code_is_3(channel: Channel) -> None:
    response = await ask(channel, 9999)
    assert response.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    assert response.remark == " request type 9999 not supported"


async def test_a_missing_field_is_named_and_the_server_goes_on(
    channel: Channel,
) -> None:
    response = await ask(channel, RequestCode.GET_ROUTEINFO_BY_TOPIC, {})
    assert response.code == ResponseCode.SYSTEM_ERROR
    assert response.remark is not None
    assert "required field topic is missing" in response.remark
    assert (await route(channel)).code == ResponseCode.TOPIC_NOT_EXIST


async def test_settings_outlive_the_name_server(
    tmp_path: Path, clock: ManualClock
) -> None:
    fields = {"namespace": "n", "key": "k", "value": "v"}
    for code in (RequestCode.PUT_KV_CONFIG, RequestCode.GET_KV_CONFIG):
        server = NameServer(clock=clock, store=tmp_path)
        await server.start()
        channel = await connect(server.address)
        response = await ask(channel, code, fields)
        await channel.close()
        await server.stop()
    assert response.ext_fields == {"value": "v"}


async def test_its_own_settings_are_shown_and_changed(channel: Channel) -> None:
    await register(channel, "T")
    order = {"namespace": "ORDER_TOPIC_CONFIG", "key": "T", "value": "broker-a:2"}
    await ask(channel, RequestCode.PUT_KV_CONFIG, order)
    assert decode_topic_route((await route(channel)).body).order_topic_conf is None
    response = await ask(channel, RequestCode.GET_NAMESRV_CONFIG)
    lines = response.body.decode().splitlines()
    assert "orderMessageEnable=false" in lines
    assert f"listenPort={channel.remote_address.rpartition(':')[2]}" in lines
    code = RequestCode.UPDATE_NAMESRV_CONFIG
    response = await ask(channel, code, body=b"orderMessageEnable=true")
    assert response.code == 0
    found = decode_topic_route((await route(channel)).body)
    assert found.order_topic_conf == "broker-a:2"
    assert len(found.publish_queues("T")) == 2
    assert (await ask(channel, code)).code == 0


@pytest.mark.parametrize("line", ["listenPort=1", "orderMessageEnable=yes"])
async def test_settings_that_cannot_be_changed_are_named(
    channel: Channel, line: str
) -> None:
    code = RequestCode.UPDATE_NAMESRV_CONFIG
    response = await ask(channel, code, body=line.encode())
    assert response.code == ResponseCode.NO_PERMISSION
    assert (response.remark or "").startswith(f"setting {line.partition('=')[0]} ")
