"""Where pulling begins: what was committed wins, errors are never taken for 'never'."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from rmqcore.client import ClientInstance
from rmqcore.client.membership.start_position import (
    StartPosition,
    compute_pull_from_where,
)
from rmqcore.errors import RequestTimeoutError, RmqError
from rmqcore.model import (
    BrokerData,
    ConsumeFromWhere,
    MessageQueue,
    Perm,
    QueueData,
    TopicRoute,
)
from rmqcore.offsets import ReadOffsetType
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import Channel, Server

FIRST = ConsumeFromWhere.FIRST_OFFSET
LAST = ConsumeFromWhere.LAST_OFFSET
TIMESTAMP = ConsumeFromWhere.TIMESTAMP
MAX_OFFSET, BY_TIME = 90, 40


@dataclass
class Committed:
    """An offset store that was told what to answer."""

    answer: int | RmqError | None
    asked: list[ReadOffsetType] = field(default_factory=list)

    async def read_offset(self, queue: MessageQueue, how: ReadOffsetType) -> int | None:
        self.asked.append(how)
        if isinstance(self.answer, RmqError):
            raise self.answer
        return self.answer


def answer(channel: Channel, command: RemotingCommand) -> RemotingCommand:
    """Answer as a broker whose queues end at 90, and were at 40 at any time."""
    if command.code == RequestCode.GET_MAX_OFFSET:
        return command.response(ext_fields={"offset": str(MAX_OFFSET)})
    assert command.ext_fields["timestamp"] == "77"
    return command.response(ext_fields={"offset": str(BY_TIME)})


async def start(
    where: ConsumeFromWhere,
    committed: int | RmqError | None = None,
    topic: str = "T",
) -> int:
    server = Server(answer)
    await server.start()
    instance = ClientInstance("c", ["127.0.0.1:1"])
    broker = BrokerData("C", "b", {0: server.address})
    queues = QueueData("b", 1, 1, Perm.READ)
    instance.routes.update(topic, TopicRoute((broker,), (queues,)))
    try:
        return await compute_pull_from_where(
            instance,
            Committed(committed),  # type: ignore[arg-type]
            StartPosition(where, 77),
            MessageQueue(topic, "b", 0),
        )
    finally:
        await instance.stop()
        await server.stop()


@pytest.mark.parametrize("where", list(ConsumeFromWhere))
async def test_what_was_committed_wins(where: ConsumeFromWhere) -> None:
    assert await start(where, 12) == 12
    assert await start(where, 0) == 0


@pytest.mark.parametrize(
    ("where", "offset"),
    [
        (FIRST, 0),
        (LAST, MAX_OFFSET),
        (TIMESTAMP, BY_TIME),
        (ConsumeFromWhere.MIN_OFFSET, MAX_OFFSET),
        (ConsumeFromWhere.MAX_OFFSET, MAX_OFFSET),
    ],
)
async def test_a_queue_never_committed_starts_where_asked(
    where: ConsumeFromWhere, offset: int
) -> None:
    assert await start(where) == offset


@pytest.mark.parametrize(
    ("where", "offset"), [(FIRST, 0), (LAST, 0), (TIMESTAMP, MAX_OFFSET)]
)
async def test_retry_topics_start_as_in_java(
    where: ConsumeFromWhere, offset: int
) -> None:
    assert await start(where, topic="%RETRY%G") == offset


@pytest.mark.parametrize("where", [FIRST, LAST, TIMESTAMP])
async def test_not_knowing_is_an_error(where: ConsumeFromWhere) -> None:
    with pytest.raises(RequestTimeoutError):
        await start(where, RequestTimeoutError("no answer"))
