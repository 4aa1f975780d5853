"""Offsets that brokers keep, at a broker that takes commits side by side."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from rmqcore.client.instance.client_instance import ClientInstance
from rmqcore.client.membership.remote_offsets import RemoteOffsetStore
from rmqcore.errors import RmqError
from rmqcore.model import BrokerData, MessageQueue, Perm, QueueData, TopicRoute
from rmqcore.protocol.bodies import encode_topic_route
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import Channel, Server
from tests.support.waiting import until

QUEUES = [
    MessageQueue(topic, broker, number)
    for topic in ("S", "T")
    for broker in ("a", "b")
    for number in range(4)
]


class Threaded:
    """A broker that puts a commit into a table as Apache's threads do: look, then put.

    What another commit has put meanwhile is lost when there was no table.
    """

    def __init__(self) -> None:
        self.tables: dict[str, dict[int, int]] = {}
        self.refuses = False
        self.commits = 0
        self.server = Server(self.answer)

    async def answer(
        self, channel: Channel, command: RemotingCommand
    ) -> RemotingCommand:
        if self.refuses:
            return command.response(ResponseCode.SYSTEM_BUSY, "busy")
        if command.code == RequestCode.UPDATE_CONSUMER_OFFSET:
            fields = command.ext_fields
            found = self.tables.get(fields["topic"])
            await asyncio.sleep(0.01)
            table = {} if found is None else found
            table[int(fields["queueId"])] = int(fields["commitOffset"])
            self.tables[fields["topic"]] = table
            self.commits += 1
        return command.response()


@pytest.fixture
async def brokers() -> AsyncIterator[dict[str, Threaded]]:
    found = {"a": Threaded(), "b": Threaded()}
    for each in found.values():
        await each.server.start()
    yield found
    for each in found.values():
        await each.server.stop()


@pytest.fixture
async def offsets(brokers: dict[str, Threaded]) -> AsyncIterator[RemoteOffsetStore]:
    async def route(channel: Channel, command: RemotingCommand) -> RemotingCommand:
        found = TopicRoute(
            tuple(
                BrokerData("C", name, {0: broker.server.address})
                for name, broker in brokers.items()
            ),
            tuple(QueueData(name, 4, 4, Perm.READ | Perm.WRITE) for name in brokers),
        )
        return command.response(body=encode_topic_route(found, standard_json=True))

    name_server = Server(route)
    await name_server.start()
    instance = ClientInstance("c", [name_server.address])
    for topic in ("S", "T"):
        await instance.fetch_route(topic)
    store = RemoteOffsetStore(instance, "G")
    for at, queue in enumerate(QUEUES, start=1):
        store.update_offset(queue, at)
    yield store
    await instance.stop()
    await name_server.stop()


async def test_no_first_commit_is_lost(
    brokers: dict[str, Threaded], offsets: RemoteOffsetStore
) -> None:
    await offsets.persist_all(QUEUES)
    await until(lambda: all(each.commits == 8 for each in brokers.values()))
    kept = {
        MessageQueue(topic, name, number): offset
        for name, broker in brokers.items()
        for topic, table in broker.tables.items()
        for number, offset in table.items()
    }
    assert kept == {queue: at for at, queue in enumerate(QUEUES, start=1)}


async def test_a_first_commit_that_was_refused_is_first_once_more(
    brokers: dict[str, Threaded], offsets: RemoteOffsetStore
) -> None:
    brokers["a"].refuses = True
    with pytest.raises(RmqError, match="busy"):
        await offsets.persist(QUEUES[0])
    await offsets.persist_all(QUEUES[1:4])
    brokers["a"].refuses = False
    await offsets.persist_all(QUEUES[:4])
    await until(lambda: brokers["a"].commits == 4)
    assert brokers["a"].tables == {"S": {0: 1, 1: 2, 2: 3, 3: 4}}
