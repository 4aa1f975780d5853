"""Clients of a static topic, whose logical queue moves from one broker to another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import pytest

from rmqcore.client import (
    ClientInstance,
    InstanceRegistry,
    ProcessQueue,
    Producer,
    PullSettings,
    QueueLimits,
)
from rmqcore.client.consumer.pulling import Puller
from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.remote_offsets import RemoteOffsetStore
from rmqcore.client.membership.subscriptions import Subscriptions
from rmqcore.errors import ResponseError
from rmqcore.model import (
    BrokerData,
    Message,
    MessageExt,
    MessageModel,
    MessageQueue,
    TopicQueueMapping,
    TopicRoute,
)
from rmqcore.offsets import ReadOffsetType
from rmqcore.protocol.bodies import encode_topic_route
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import Channel, ManualClock, Server
from tests.rmqcore.client.records import message
from tests.rmqcore.protocol.records import encode_record
from tests.support.waiting import PATIENCE_SECONDS

LOGICAL = MessageQueue("T", "__syslo__global__", 0)
AHEAD = 10_000
"""How far logical offsets are ahead of physical ones on each broker."""

SENDS = (RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE)
OF_LEADERS = (
    *SENDS,
    RequestCode.PULL_MESSAGE,
    RequestCode.QUERY_CONSUMER_OFFSET,
    RequestCode.UPDATE_CONSUMER_OFFSET,
)


@dataclass
class Moving:
    """Two brokers, of which one leads the queue, and a name server that knows which."""

    leader: str = "a"
    told: str = "a"
    brokers: dict[str, Server] = field(default_factory=dict)
    asked: list[tuple[str, RemotingCommand]] = field(default_factory=list)
    name_server_address: str = ""

    def broker(self, name: str) -> Server:
        async def answer(channel: Channel, command: RemotingCommand) -> RemotingCommand:
            self.asked.append((name, command))
            if command.code in OF_LEADERS and name != self.leader:
                return command.response(ResponseCode.NOT_LEADER_FOR_QUEUE, "moved")
            if command.code in SENDS:
                fields = {"msgId": "0" * 32, "queueId": "0", "queueOffset": "7"}
                return command.response(0, None, fields)
            if command.code == RequestCode.PULL_MESSAGE:
                return await pulled(command)
            return command.response(0, None, {"offset": "5"})

        self.brokers[name] = Server(answer)
        return self.brokers[name]

    async def name_server(
        self, channel: Channel, command: RemotingCommand
    ) -> RemotingCommand:
        mapping = TopicQueueMapping("T", self.told, 1, current={0: 3})
        route = TopicRoute(
            tuple(
                BrokerData("C", name, {0: server.address})
                for name, server in self.brokers.items()
            ),
            (),
            mappings={self.told: mapping},
        )
        return command.response(body=encode_topic_route(route, standard_json=True))

    def to(self, *codes: int) -> list[str]:
        """Return the brokers that were asked with these codes, in order."""
        return [name for name, command in self.asked if command.code in codes]


async def pulled(command: RemotingCommand) -> RemotingCommand:
    """Answer a pull of the logical queue: one message, then none."""
    offset = int(command.ext_fields["queueOffset"])
    if offset != AHEAD:
        await asyncio.Event().wait()
    record = encode_record(message(0, queue=MessageQueue("T", "b", 3)))
    fields = {
        "suggestWhichBrokerId": "0",
        "nextBeginOffset": str(AHEAD + 1),
        "minOffset": "0",
        "maxOffset": str(AHEAD + 1),
        "offsetDelta": str(AHEAD),
    }
    return command.response(0, None, fields, record)


@pytest.fixture
async def moving() -> AsyncIterator[Moving]:
    made = Moving()
    servers = [made.broker("a"), made.broker("b"), Server(made.name_server)]
    for server in servers:
        await server.start()
    made.brokers = dict(zip("ab", servers, strict=False))
    made.name_server_address = servers[-1].address
    yield made
    for server in servers:
        await server.stop()


@pytest.fixture
async def producer(moving: Moving) -> AsyncIterator[Producer]:
    made = Producer(
        moving.name_server_address,
        group="P",
        client_ip="ip",
        registry=InstanceRegistry(),
    )
    await made.start()
    yield made
    await made.shutdown()


async def test_a_message_goes_to_the_leader_of_its_logical_queue(
    moving: Moving, producer: Producer
) -> None:
    result = await producer.send(Message("T", b"x"))
    assert (result.queue, result.queue_offset) == (LOGICAL, 7)
    assert moving.to(*SENDS) == ["a"]


@pytest.mark.parametrize("queue", [None, LOGICAL])
async def test_a_producer_follows_a_queue_that_has_moved(
    moving: Moving, producer: Producer, queue: MessageQueue | None
) -> None:
    await producer.send(Message("T", b"x"))
    moving.leader = moving.told = "b"
    result = await producer.send(Message("T", b"x"), queue=queue)
    assert result.queue == LOGICAL
    assert moving.to(*SENDS) == ["a", "a", "b"]


async def test_a_queue_that_the_route_has_nowhere_else_is_not_chased_for_ever(
    moving: Moving, producer: Producer
) -> None:
    moving.leader = "b"
    with pytest.raises(ResponseError, match="moved"):
        await producer.send(Message("T", b"x"), queue=LOGICAL)
    assert moving.to(*SENDS) == ["a", "a"]


async def test_a_consumer_follows_and_counts_in_logical_offsets(
    moving: Moving,
) -> None:
    clock = ManualClock()
    instance = ClientInstance("c", [moving.name_server_address], clock=clock)
    await instance.fetch_route("T")
    moving.leader = moving.told = "b"
    context = GroupContext(
        instance,
        "G",
        MessageModel.CLUSTERING,
        False,
        RemoteOffsetStore(instance, "G"),
        Subscriptions(),
    )
    context.subscriptions.add("T", "*", 42)
    context.offsets.update_offset(LOGICAL, AHEAD)
    delivered: list[MessageExt] = []

    async def restart(offsets: Mapping[MessageQueue, int]) -> None:
        raise AssertionError("the offset is a valid one")

    resumed = asyncio.Event()
    resumed.set()
    puller = Puller(
        context,
        ProcessQueue(LOGICAL, instance.now_ms()),
        AHEAD,
        PullSettings(),
        QueueLimits(),
        deliver=lambda process, messages: delivered.extend(messages),
        restart=restart,
        resumed=resumed,
    )
    instance.spawn(puller.run())
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not delivered:
            await clock.advance(0.5)
            await asyncio.sleep(0.002)
    await context.offsets.persist(LOGICAL)
    await instance.stop()
    (first,) = delivered
    assert (first.broker_name, first.queue_id) == (LOGICAL.broker_name, 0)
    assert first.queue_offset == AHEAD
    assert moving.to(RequestCode.PULL_MESSAGE)[:2] == ["a", "b"]
    assert moving.to(RequestCode.UPDATE_CONSUMER_OFFSET) == ["b"]
    # A broker of Apache would commit this offset for a physical queue.
    commits = [
        command.ext_fields["commitOffset"]
        for _, command in moving.asked
        if command.code == RequestCode.PULL_MESSAGE
    ]
    assert set(commits) == {"0"}


@pytest.mark.parametrize("way", ["persist", "persist_all", "read_offset"])
async def test_progress_is_kept_by_the_broker_that_a_queue_has_moved_to(
    moving: Moving, way: str
) -> None:
    instance = ClientInstance("c", [moving.name_server_address])
    await instance.fetch_route("T")
    moving.leader = moving.told = "b"
    offsets = RemoteOffsetStore(instance, "G")
    offsets.update_offset(LOGICAL, AHEAD)
    match way:
        case "persist":
            await offsets.persist(LOGICAL)
        case "persist_all":
            await offsets.persist_all([LOGICAL])
        case _:
            kind = ReadOffsetType.READ_FROM_STORE
            assert await offsets.read_offset(LOGICAL, kind) == 5
    await instance.stop()
    assert [name for name, _ in moving.asked] == ["a", "b"]
