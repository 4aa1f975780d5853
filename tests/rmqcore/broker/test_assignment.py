from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from rmqcore.admin import Admin
from rmqcore.broker import Broker
from rmqcore.cluster import LocalCluster
from rmqcore.model import MessageModel, MessageQueue, Perm, TopicConfig
from rmqcore.protocol.bodies import (
    QueryAssignment,
    SetRequestMode,
    decode_assignments,
    encode_query_assignment,
    encode_set_request_mode,
)
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode as Answer

from .conftest import Connect
from .peer import Peer

BROADCASTING = MessageModel.BROADCASTING


@pytest.fixture(autouse=True)
async def prepared(broker: Broker, connected: Connect) -> None:
    """Topic T with five queues, and members a, b and c of group g."""
    broker.state.topics.put(TopicConfig("T", 5, 8), 0)
    for client_id in "cab":
        await (await connected()).heartbeat("T", client_id=client_id)


async def share(
    peer: Peer,
    client_id: str = "a",
    *,
    group: str = "g",
    topic: str = "T",
    model: MessageModel = MessageModel.CLUSTERING,
    strategy: str | None = "AVG",
) -> list[int] | None:
    query = QueryAssignment(client_id, group, topic, model, strategy)
    response = await peer.ok(Code.QUERY_ASSIGNMENT, body=encode_query_assignment(query))
    found = decode_assignments(response.body)
    if found is None:
        return None
    assert {(q.queue.topic, q.queue.broker_name, q.mode) for q in found} <= {
        (topic, "broker-a", "PULL")
    }
    return [assigned.queue.queue_id for assigned in found]


@pytest.mark.parametrize(
    ("strategy", "shares"),
    [("AVG", [[0, 1], [2, 3], [4]]), ("AVG_BY_CIRCLE", [[0, 3], [1, 4], [2]])],
)
async def test_each_member_is_told_its_share(
    peer: Peer, strategy: str, shares: list[list[int]]
) -> None:
    assert [await share(peer, each, strategy=strategy) for each in "abc"] == shares


async def test_somebody_else_has_no_share(peer: Peer) -> None:
    assert await share(peer, "d") == []


@pytest.mark.parametrize(
    "asked",
    [
        {"topic": "U"},
        {"group": "nobody"},
        {"strategy": "CONSISTENT_HASH"},
        {"strategy": None},
    ],
)
async def test_what_cannot_be_told_is_not_an_empty_share(
    peer: Peer, asked: dict[str, str]
) -> None:
    assert await share(peer, **asked) is None


async def test_a_topic_without_readable_queues_cannot_be_divided(
    broker: Broker, peer: Peer
) -> None:
    broker.state.topics.put(TopicConfig("T", 5, 8, Perm.WRITE), 0)
    assert await share(peer) is None
    assert await share(peer, model=BROADCASTING) == []


async def test_a2_broadcasting_members_take_everything(peer: Peer) -> None:
    assert await share(peer, "x", group="nobody", model=BROADCASTING) == [*range(5)]


async def test_without_the_balancer_everybody_is_told_everything(peer: Peer) -> None:
    await peer.ok(Code.UPDATE_BROKER_CONFIG, body=b"serverLoadBalancerEnable=false")
    assert await share(peer, group="nobody") == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (SetRequestMode("g", "T"), Answer.SUCCESS),
        (SetRequestMode("g", "T", "POP", 2), Answer.NO_PERMISSION),
        (SetRequestMode("g", "%RETRY%g"), Answer.NO_PERMISSION),
        (SetRequestMode("g", "U"), Answer.TOPIC_NOT_EXIST),
    ],
)
async def test_pull_is_the_only_mode(
    peer: Peer, request_: SetRequestMode, code: int
) -> None:
    body = encode_set_request_mode(request_)
    assert (await peer.ask(Code.SET_MESSAGE_REQUEST_MODE, body=body)).code == code


async def test_the_mode_of_a_group_that_is_not_there(
    broker: Broker, peer: Peer
) -> None:
    broker.state.groups.auto_create = False
    body = encode_set_request_mode(SetRequestMode("nobody", "T"))
    response = await peer.ask(Code.SET_MESSAGE_REQUEST_MODE, body=body)
    assert response.code == Answer.SUBSCRIPTION_GROUP_NOT_EXIST


# On a whole cluster


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    async with LocalCluster(brokers=2) as made:
        await made.create_topic("T", 2)
        yield made


async def test_the_queues_of_all_brokers_are_divided(cluster: LocalCluster) -> None:
    async with AsyncExitStack() as stack:
        for address in cluster.broker_addresses.values():
            for client_id in ("a", "b"):
                member = await Peer.connected(address)
                stack.push_async_callback(member.close)
                await member.heartbeat("T", client_id=client_id)
        admin = await stack.enter_async_context(Admin(cluster.nameserver_address))
        for address in cluster.broker_addresses.values():
            for client_id, name in (("a", "broker-a"), ("b", "broker-b")):
                found = await admin.query_assignment("g", "T", client_id, address)
                assert found is not None
                assert [each.queue for each in found] == [
                    MessageQueue("T", name, number) for number in range(2)
                ]
            assert await admin.query_assignment("g", "absent", "a", address) is None


async def test_no_name_server_no_answer(cluster: LocalCluster) -> None:
    address = cluster.broker_addresses["broker-a"]
    member = await Peer.connected(address)
    try:
        await member.heartbeat("T", client_id="a")
        await cluster.nameserver.stop()
        assert await share(member) is None
    finally:
        await member.close()
