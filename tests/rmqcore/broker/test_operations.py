from dataclasses import replace

import pytest

from rmqcore.broker import Broker
from rmqcore.model import MessageQueue, SubscriptionGroupConfig, TopicConfig
from rmqcore.protocol.bodies import decode_data_version, decode_queue_offsets
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode as Answer
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import ManualClock

from .peer import Peer


@pytest.fixture(autouse=True)
async def prepared(broker: Broker, peer: Peer, clock: ManualClock) -> None:
    """Topic T with four messages 10 s apart in queue 0, and a group g."""
    broker.state.topics.put(TopicConfig("T", 2, 2), 0)
    broker.state.groups.put(SubscriptionGroupConfig("g"), 0)
    for _ in range(4):
        await peer.send()
        await clock.advance(10)


async def reset(peer: Peer, timestamp: int, **changes: object) -> RemotingCommand:
    fields = {"topic": "T", "group": "g", "timestamp": timestamp, "isForce": True}
    return await peer.ask(Code.INVOKE_BROKER_TO_RESET_OFFSET, fields | changes)


def offsets(response: RemotingCommand) -> dict[int, int]:
    found = decode_queue_offsets(response.body)
    assert {(q.topic, q.broker_name) for q in found} == {("T", "broker-a")}
    return {queue.queue_id: offset for queue, offset in found.items()}


async def test_a_reset_by_time(broker: Broker, peer: Peer, clock: ManualClock) -> None:
    response = await reset(peer, clock.time_ms() - 25_000)
    assert offsets(response) == {0: 2, 1: 0}
    assert broker.state.offsets.committed("g", "T", 0) == 2
    assert broker.state.offsets.reset_waits("g", "T", 1)


async def test_a_reset_to_the_end(peer: Peer) -> None:
    assert offsets(await reset(peer, -1)) == {0: 4, 1: 0}


async def test_a_reset_of_one_queue(broker: Broker, peer: Peer) -> None:
    assert offsets(await reset(peer, -1, queueId=0)) == {0: 4}
    assert offsets(await reset(peer, 0, queueId=0, offset=-1)) == {0: 0}
    assert offsets(await reset(peer, 0, queueId=0, offset=3)) == {0: 3}
    assert not broker.state.offsets.reset_waits("g", "T", 1)


async def test_an_offset_that_is_not_there_is_refused(peer: Peer) -> None:
    response = await reset(peer, 0, queueId=0, offset=6)
    assert response.code == Answer.SYSTEM_ERROR
    assert response.remark == "Target offset 6 not in consume queue range [0-4]"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"topic": "nothing"}, Answer.TOPIC_NOT_EXIST),
        ({"group": "nobody"}, Answer.SUBSCRIPTION_GROUP_NOT_EXIST),
    ],
)
async def test_resets_of_the_unknown_are_refused(
    peer: Peer, change: dict[str, object], code: int
) -> None:
    assert (await reset(peer, 0, **change)).code == code


async def test_a_topic_without_queues_has_nothing_to_reset(
    broker: Broker, peer: Peer
) -> None:
    broker.state.topics.put(TopicConfig("E", 0, 0), 0)
    response = await reset(peer, 0, topic="E")
    assert (response.code, response.remark) == (1, "No queues to reset.")


# The way of brokers before 5.x: members carry the reset out


@pytest.fixture
async def by_members(broker: Broker) -> None:
    changes = {"useServerSideResetOffset": "false"}
    broker.state.settings = broker.settings.changed(changes)
    for queue_id, offset in ((0, 3), (1, 0)):
        broker.state.offsets.commit("g", "T", queue_id, offset, 0)


@pytest.mark.usefixtures("by_members")
@pytest.mark.parametrize(("force", "offset"), [(True, 4), (False, 3)])
async def test_online_members_are_told_to_reset(
    broker: Broker, peer: Peer, force: bool, offset: int
) -> None:
    await peer.heartbeat("T")
    response = await reset(peer, -1, isForce=force)
    assert offsets(response) == {0: offset, 1: 0}
    (told,) = await peer.asked_for(Code.RESET_CONSUMER_CLIENT_OFFSET)
    assert told.is_oneway
    assert (told.ext_fields["topic"], told.ext_fields["group"]) == ("T", "g")
    assert told.body == response.body
    assert not broker.state.offsets.reset_waits("g", "T", 0)


@pytest.mark.usefixtures("by_members")
async def test_nobody_online_to_reset_is_206(peer: Peer) -> None:
    assert (await reset(peer, -1)).code == Answer.CONSUMER_NOT_ONLINE


@pytest.mark.usefixtures("by_members")
async def test_members_cannot_reset_what_was_never_committed(
    broker: Broker, peer: Peer
) -> None:
    broker.state.offsets.forget_group("g")
    await peer.heartbeat("T")
    assert (await reset(peer, -1)).code == Answer.SYSTEM_ERROR
    assert peer.asked == [] or peer.asked[-1].code != Code.RESET_CONSUMER_CLIENT_OFFSET


async def clone(peer: Peer, **changes: object) -> None:
    fields = {"srcGroup": "g", "destGroup": "h", "topic": "T", "offline": False}
    await peer.ok(Code.CLONE_GROUP_OFFSET, fields | changes)


async def test_offsets_are_cloned(broker: Broker, peer: Peer) -> None:
    broker.state.offsets.commit("g", "T", 0, 2, 0)
    broker.state.offsets.commit("g", "gone", 0, 2, 0)
    await clone(peer, topic="")
    assert broker.state.offsets.committed("h", "T", 0) == 2
    assert broker.state.offsets.topics_of("h") == {"T"}


async def test_a_topic_that_members_do_not_read_is_cloned_only_offline(
    broker: Broker, peer: Peer
) -> None:
    broker.state.offsets.commit("g", "T", 0, 2, 0)
    await peer.heartbeat("U")
    await clone(peer)
    assert broker.state.offsets.committed("h", "T", 0) is None
    await clone(peer, offline=True)
    assert broker.state.offsets.committed("h", "T", 0) == 2


async def test_settings_are_lines(broker: Broker, peer: Peer) -> None:
    response = await peer.ok(Code.GET_BROKER_CONFIG)
    lines = dict(line.split("=", 1) for line in response.body.decode().splitlines())
    assert lines == broker.settings.as_properties()
    version = decode_data_version(response.ext_fields["version"].encode())
    assert version == broker.state.topics.version


async def test_settings_are_changed(broker: Broker, peer: Peer) -> None:
    body = b"autoCreateTopicEnable=false\nautoCreateSubscriptionGroup=false\n#x\n"
    await peer.ok(Code.UPDATE_BROKER_CONFIG, body=body)
    assert (await peer.send("new")).code == Answer.TOPIC_NOT_EXIST
    response = await peer.pull(consumerGroup="new")
    assert response.code == Answer.SUBSCRIPTION_GROUP_NOT_EXIST
    response = await peer.ok(Code.GET_BROKER_CONFIG)
    assert b"autoCreateTopicEnable=false" in response.body


@pytest.mark.parametrize("body", [b"brokerName=x", b"\xff=1"])
async def test_wrong_changes_change_nothing(
    broker: Broker, peer: Peer, body: bytes
) -> None:
    response = await peer.ask(Code.UPDATE_BROKER_CONFIG, body=body)
    assert response.code == Answer.SYSTEM_ERROR
    assert broker.state.settings == broker.settings


@pytest.mark.parametrize(
    "code", [Code.CLEAN_UNUSED_TOPIC, Code.CLEAN_EXPIRED_CONSUMEQUEUE]
)
async def test_queues_of_lost_topics_are_dropped(
    broker: Broker, peer: Peer, code: int
) -> None:
    broker.state.topics.delete("T", 0)
    await peer.ok(code)
    assert broker.state.store.queue_ids("T") == []


async def test_expired_files_are_dropped_on_demand(
    broker: Broker, peer: Peer, clock: ManualClock
) -> None:
    for _ in range(3):
        await peer.send(body=b"x" * 500_000)
    assert broker.state.store.log_offsets[0] == 0
    await peer.ok(Code.DELETE_EXPIRED_COMMITLOG)
    assert broker.state.store.log_offsets[0] == 0
    broker.state.settings = replace(broker.settings, keep_ms=5_000)
    await clock.advance(6)
    await peer.ok(Code.DELETE_EXPIRED_COMMITLOG)
    assert broker.state.store.log_offsets[0] == 1 << 20
    queue = MessageQueue("T", "broker-a", 0)
    assert broker.state.store.min_offset("T", queue.queue_id) == 6
