import asyncio

import pytest

from rmqcore.broker import Broker
from rmqcore.model import MessageModel, MessageQueue, SubscriptionGroupConfig
from rmqcore.model.subscription import SubscriptionData
from rmqcore.protocol.bodies import (
    ClientConfig,
    LockBatchRequest,
    decode_consumer_ids,
    decode_lock_response,
    encode_client_config,
    encode_lock_request,
)
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode as Answer
from rmqcore.transport import ManualClock

from .conftest import Connect
from .peer import Peer

Q = tuple(MessageQueue("T", "broker-a", number) for number in range(3))
CHANGED = Code.NOTIFY_CONSUMER_IDS_CHANGED


async def members(peer: Peer, group: str = "g") -> list[str]:
    response = await peer.ok(Code.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": group})
    return decode_consumer_ids(response.body)


async def test_a_heartbeat_makes_members_and_the_retry_topic(
    broker: Broker, peer: Peer
) -> None:
    response = await peer.heartbeat("T", producers=("pg",))
    assert response.ext_fields == {
        "IS_SUPPORT_HEART_BEAT_V2": "false",
        "IS_SUB_CHANGE": "true",
    }
    assert await members(peer) == ["me"]
    assert "%RETRY%g" in broker.state.topics
    assert [c.client_id for c in broker.state.producers.clients("pg")] == ["me"]


async def test_a_group_that_may_not_exist_has_no_members(
    broker: Broker, peer: Peer
) -> None:
    broker.state.groups.auto_create = False
    await peer.heartbeat("T")
    assert broker.state.consumers.group("g") is None


async def test_a_group_nobody_is_in_is_1(peer: Peer) -> None:
    response = await peer.ask(Code.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": "g"})
    assert (response.code, response.remark) == (1, "no consumer for this group, g")


async def test_a5b_one_client_id_twice_is_listed_twice(
    peer: Peer, connected: Connect
) -> None:
    other = await connected()
    await peer.heartbeat("T")
    await other.heartbeat("T")
    assert await members(peer) == ["me", "me"]


async def test_e4_everybody_is_told_of_a_new_member(
    peer: Peer, connected: Connect
) -> None:
    await peer.heartbeat("T")
    await peer.asked_for(CHANGED)
    other = await connected()
    await other.heartbeat("T", client_id="other")
    (notice,) = await other.asked_for(CHANGED)
    assert notice.is_oneway
    assert notice.ext_fields == {"consumerGroup": "g"}
    assert len(await peer.asked_for(CHANGED, 2)) == 2


async def test_e4_everybody_is_told_of_a_lost_member(
    peer: Peer, connected: Connect
) -> None:
    other = await connected()
    await peer.heartbeat("T")
    await other.heartbeat("T", client_id="other")
    await peer.asked_for(CHANGED, 2)
    await other.close()
    await peer.asked_for(CHANGED, 3)
    assert await members(peer) == ["me"]


async def test_e4_everybody_is_told_of_one_who_leaves(
    broker: Broker, peer: Peer, connected: Connect
) -> None:
    other = await connected()
    await peer.heartbeat("T")
    await other.heartbeat("T", client_id="other", producers=("pg",))
    await peer.asked_for(CHANGED, 2)
    fields = {"clientID": "other", "consumerGroup": "g", "producerGroup": "pg"}
    await other.ok(Code.UNREGISTER_CLIENT, fields)
    await peer.asked_for(CHANGED, 3)
    assert await members(peer) == ["me"]
    assert broker.state.producers.all_clients() == {}


async def test_leaving_no_group_is_allowed(peer: Peer) -> None:
    await peer.ok(Code.UNREGISTER_CLIENT, {"clientID": "me"})


@pytest.mark.parametrize("off", ["group", "broker"])
async def test_notices_can_be_switched_off(
    broker: Broker, peer: Peer, connected: Connect, off: str
) -> None:
    if off == "group":
        config = SubscriptionGroupConfig("g", notify_consumer_ids_changed_enable=False)
        broker.state.groups.put(config, 0)
    else:
        broker.state.settings = broker.settings.changed(
            {"notifyConsumerIdsChangedEnable": "false"}
        )
    other = await connected()
    await peer.heartbeat("T")
    await other.heartbeat("T", client_id="other")
    await other.close()
    while await members(peer) != ["me"]:
        pass
    assert peer.asked == []


async def test_broadcasting_members_are_not_told(peer: Peer) -> None:
    await peer.heartbeat("T", model=MessageModel.BROADCASTING)
    assert await members(peer) == ["me"]
    assert peer.asked == []


async def test_a_silent_client_is_disconnected_after_120_s(
    broker: Broker, peer: Peer, connected: Connect, clock: ManualClock
) -> None:
    silent = await connected()
    await silent.heartbeat("T", client_id="silent", producers=("pg",))
    await peer.heartbeat("T")
    await clock.advance(60)
    await peer.heartbeat("T")
    await clock.advance(61)
    while not silent.channel.closed:
        await clock.advance(10)
        await asyncio.sleep(0)
    while await members(peer) != ["me"]:
        pass
    assert broker.state.producers.all_clients() == {}
    assert not peer.channel.closed


# Subscriptions judged before the start


@pytest.mark.parametrize(
    ("kind", "code"), [("TAG", 0), ("", 0), ("SQL92", Answer.SYSTEM_ERROR)]
)
async def test_only_tag_expressions_are_understood(
    peer: Peer, kind: str, code: int
) -> None:
    subscription = SubscriptionData("T", "a", expression_type=kind)
    body = encode_client_config(ClientConfig("me", "g", subscription))
    assert (await peer.ask(Code.CHECK_CLIENT_CONFIG, body=body)).code == code


# Locks


async def lock(
    peer: Peer, client_id: str, queues: tuple[MessageQueue, ...]
) -> frozenset[MessageQueue]:
    body = encode_lock_request(LockBatchRequest("g", client_id, queues))
    return decode_lock_response((await peer.ok(Code.LOCK_BATCH_MQ, body=body)).body)


async def test_locks_are_told_to_who_asks(peer: Peer, clock: ManualClock) -> None:
    assert await lock(peer, "a", Q[:2]) == {Q[0], Q[1]}
    assert await lock(peer, "b", Q) == {Q[2]}
    await clock.advance(61)
    assert await lock(peer, "b", Q) == set(Q)


async def test_queues_are_given_back(peer: Peer) -> None:
    await lock(peer, "a", Q)
    body = encode_lock_request(LockBatchRequest("g", "a", Q[:1]))
    await peer.ok(Code.UNLOCK_BATCH_MQ, body=body)
    assert await lock(peer, "b", Q) == {Q[0]}


async def test_a_body_that_is_none_is_an_error(peer: Peer) -> None:
    for code in (Code.HEART_BEAT, Code.LOCK_BATCH_MQ, Code.CHECK_CLIENT_CONFIG):
        response = await peer.ask(code, body=b"{")
        assert response.code == Answer.SYSTEM_ERROR
        assert (response.remark or "").startswith("BodyError: ")
    await peer.heartbeat("T")
