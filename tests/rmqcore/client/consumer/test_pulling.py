"""One puller beside a broker whose answers a test chooses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import pytest

from rmqcore.client import (
    ClientInstance,
    ProcessQueue,
    PullSettings,
    QueueLimits,
)
from rmqcore.client.consumer.pulling import Puller
from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.remote_offsets import RemoteOffsetStore
from rmqcore.client.membership.subscriptions import Subscriptions
from rmqcore.model import (
    BrokerData,
    MessageExt,
    MessageModel,
    MessageQueue,
    Perm,
    QueueData,
    TopicRoute,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import PullMessageRequestHeader, decode_header
from rmqcore.transport import Channel, Server
from tests.rmqcore.client.records import QUEUE, message
from tests.rmqcore.protocol.records import encode_record
from tests.support.waiting import until

FOUND = ResponseCode.SUCCESS
NOTHING = ResponseCode.PULL_NOT_FOUND
ILLEGAL = ResponseCode.PULL_OFFSET_MOVED


@dataclass
class Scripted:
    """A broker that answers pulls one after another as told, then holds them."""

    answers: list[tuple[int, int, bytes]]
    pulls: list[PullMessageRequestHeader] = field(default_factory=list)
    suggests: int = 0

    async def __call__(
        self, channel: Channel, command: RemotingCommand
    ) -> RemotingCommand | None:
        if command.code not in (
            RequestCode.PULL_MESSAGE,
            RequestCode.LITE_PULL_MESSAGE,
        ):
            return command.response()
        self.pulls.append(decode_header(PullMessageRequestHeader, command.ext_fields))
        if not self.answers:
            await asyncio.Event().wait()
        code, next_offset, body = self.answers.pop(0)
        fields = {
            "suggestWhichBrokerId": str(self.suggests),
            "nextBeginOffset": str(next_offset),
            "minOffset": "0",
            "maxOffset": "99",
        }
        return command.response(code, None, fields, body)


@dataclass
class Pulling:
    """A running puller, what it delivered and which restarts it asked for."""

    context: GroupContext
    process: ProcessQueue
    delivered: list[MessageExt] = field(default_factory=list)
    restarts: list[Mapping[MessageQueue, int]] = field(default_factory=list)

    def deliver(self, process: ProcessQueue, messages: list[MessageExt]) -> None:
        self.delivered += messages

    async def restart(self, offsets: Mapping[MessageQueue, int]) -> None:
        self.restarts.append(offsets)

    def start(self, settings: PullSettings, offset: int = 5) -> None:
        resumed = asyncio.Event()
        resumed.set()
        puller = Puller(
            self.context,
            self.process,
            offset,
            settings,
            QueueLimits(),
            deliver=self.deliver,
            restart=self.restart,
            resumed=resumed,
        )
        self.context.instance.spawn(puller.run())


@pytest.fixture
def broker() -> Scripted:
    return Scripted([])


@pytest.fixture
async def pulling(broker: Scripted) -> AsyncIterator[Pulling]:
    server = Server(broker)
    await server.start()
    instance = ClientInstance("c", ["127.0.0.1:1"])
    data = BrokerData("C", "broker-a", {0: server.address})
    queues = QueueData("broker-a", 1, 1, Perm.READ)
    instance.routes.update("T", TopicRoute((data,), (queues,)))
    context = GroupContext(
        instance,
        "G",
        MessageModel.CLUSTERING,
        False,
        RemoteOffsetStore(instance, "G"),
        Subscriptions(),
    )
    context.subscriptions.add("T", "*", 42)
    yield Pulling(context, ProcessQueue(QUEUE, instance.now_ms()))
    await instance.stop()
    await server.stop()


def record(offset: int, **properties: str) -> bytes:
    return encode_record(message(offset, **properties))


async def test_found_messages_are_delivered_and_the_next_are_asked_for(
    pulling: Pulling, broker: Scripted
) -> None:
    broker.answers = [(FOUND, 7, record(5) + record(6))]
    pulling.start(PullSettings())
    await until(lambda: len(broker.pulls) == 2)
    assert [m.queue_offset for m in pulling.delivered] == [5, 6]
    assert [pull.queue_offset for pull in broker.pulls] == [5, 7]


async def test_messages_of_other_tags_are_left_out(
    pulling: Pulling, broker: Scripted
) -> None:
    pulling.context.subscriptions.add("T", "Aa", 43)
    other, mine = record(5, TAGS="BB"), record(6, TAGS="Aa")
    broker.answers = [(FOUND, 7, other + mine), (FOUND, 8, record(7))]
    pulling.start(PullSettings())
    await until(lambda: len(broker.pulls) == 3)
    assert [m.queue_offset for m in pulling.delivered] == [6]


async def test_nothing_new_corrects_the_progress_of_an_empty_queue(
    pulling: Pulling, broker: Scripted
) -> None:
    broker.answers = [(NOTHING, 9, b"")]
    pulling.start(PullSettings())
    await until(lambda: len(broker.pulls) == 2)
    assert pulling.context.offsets.clone_offset_table() == {QUEUE: 9}
    # The correction travels with the next pull.
    assert (broker.pulls[1].commit_offset, broker.pulls[1].sys_flag) == (9, 3)


async def test_nothing_new_leaves_what_is_being_consumed_alone(
    pulling: Pulling, broker: Scripted
) -> None:
    pulling.process.put_messages([message(4)])
    broker.answers = [(ResponseCode.PULL_RETRY_IMMEDIATELY, 9, b"")]
    pulling.start(PullSettings())
    await until(lambda: len(broker.pulls) == 2)
    assert pulling.context.offsets.clone_offset_table() == {}
    assert broker.pulls[1].queue_offset == 9


async def test_an_illegal_offset_ends_the_puller_and_asks_for_a_restart(
    pulling: Pulling, broker: Scripted
) -> None:
    broker.answers = [(ILLEGAL, 3, b"")]
    pulling.start(PullSettings())
    await until(lambda: pulling.restarts)
    assert pulling.restarts == [{QUEUE: 3}]
    assert pulling.process.ending
    assert len(broker.pulls) == 1


@pytest.mark.parametrize("code", [ResponseCode.FLOW_CONTROL, ResponseCode.SYSTEM_BUSY])
async def test_a_busy_broker_is_asked_again_soon(
    pulling: Pulling, broker: Scripted, code: int
) -> None:
    broker.answers = [(code, 0, b""), (FOUND, 6, record(5))]
    pulling.start(PullSettings())
    await until(lambda: pulling.delivered)
    assert [pull.queue_offset for pull in broker.pulls[:2]] == [5, 5]


async def test_what_cannot_be_read_is_asked_for_again(
    pulling: Pulling, broker: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    broker.answers = [(FOUND, 6, b"no record"), (FOUND, 6, record(5))]
    pulling.start(PullSettings())
    await until(lambda: "pull failed" in caplog.text)


async def test_an_interval_is_kept_between_pulls(
    pulling: Pulling, broker: Scripted
) -> None:
    broker.answers = [(FOUND, 6, record(5)), (FOUND, 7, record(6))]
    pulling.start(PullSettings(interval_ms=1))
    await until(lambda: len(broker.pulls) == 3)
    assert len(pulling.delivered) == 2


async def test_a_queue_given_up_is_not_pulled(
    pulling: Pulling, broker: Scripted
) -> None:
    pulling.process.ending = True
    pulling.start(PullSettings())
    await asyncio.sleep(0.01)
    assert broker.pulls == []


async def test_a_suggested_slave_is_asked_next_and_told_no_progress(
    pulling: Pulling, broker: Scripted
) -> None:
    pulling.context.offsets.update_offset(QUEUE, 5)
    broker.suggests = 1
    broker.answers = [(FOUND, 6, record(5))]
    pulling.start(PullSettings())
    await until(lambda: len(broker.pulls) == 2)
    assert [pull.commit_offset for pull in broker.pulls] == [5, 0]


async def test_a_lite_pull_carries_its_expression_and_no_progress(
    pulling: Pulling, broker: Scripted
) -> None:
    pulling.context.subscriptions.add("T", "a", 43)
    pulling.context.offsets.update_offset(QUEUE, 5)
    pulling.start(PullSettings(lite=True))
    await until(lambda: broker.pulls)
    (pull,) = broker.pulls
    assert (pull.subscription, pull.commit_offset, pull.sys_flag) == ("a", 0, 22)
    assert pull.suspend_timeout_millis == 20_000
