"""A client that speaks to a broker command by command, for tests."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from rmqcore.model import (
    ConsumeFromWhere,
    ConsumerData,
    ConsumeType,
    HeartbeatData,
    Message,
    MessageExt,
    MessageModel,
)
from rmqcore.protocol.batch import encode_batch
from rmqcore.protocol.bodies import encode_heartbeat
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.message import decode_records
from rmqcore.protocol.properties import encode_properties
from rmqcore.protocol.tags import parse_tag_expression
from rmqcore.transport import Channel, connect

Answerer = Callable[[RemotingCommand], RemotingCommand | None]


class Peer:
    """One connection; what the broker asks of it is kept in `asked`."""

    def __init__(self) -> None:
        self.asked: list[RemotingCommand] = []
        self.answerer: Answerer = lambda command: command.response()
        self._channel: Channel | None = None
        self._news = asyncio.Event()

    @classmethod
    async def connected(cls, address: str) -> "Peer":
        peer = cls()
        peer._channel = await connect(address, handler=peer._handle)
        return peer

    @property
    def channel(self) -> Channel:
        assert self._channel is not None
        return self._channel

    async def close(self) -> None:
        await self.channel.close()

    async def asked_for(self, code: int, count: int = 1) -> list[RemotingCommand]:
        """Wait until the broker has sent `count` requests of a code."""
        while True:
            found = [command for command in self.asked if command.code == code]
            if len(found) >= count:
                return found
            self._news.clear()
            await self._news.wait()

    async def ask(
        self,
        code: int,
        ext_fields: Mapping[str, object] | None = None,
        body: bytes = b"",
    ) -> RemotingCommand:
        fields = {name: _text(value) for name, value in (ext_fields or {}).items()}
        return await self.channel.request(RemotingCommand.request(code, fields, body))

    async def ok(
        self,
        code: int,
        ext_fields: Mapping[str, object] | None = None,
        body: bytes = b"",
    ) -> RemotingCommand:
        response = await self.ask(code, ext_fields, body)
        assert response.code == 0, response
        return response

    async def send(
        self,
        topic: str = "T",
        body: bytes = b"hello",
        queue_id: int = 0,
        *,
        fields: Mapping[str, object] | None = None,
        code: int = Code.SEND_MESSAGE_V2,
        **properties: object,
    ) -> RemotingCommand:
        text = encode_properties({k: _text(v) for k, v in properties.items()})
        header: dict[str, object] = {
            "a": "pg",
            "b": topic,
            "c": "TBW102",
            "d": 4,
            "e": queue_id,
            "f": 0,
            "g": 1_700_000_000_000,
            "h": 0,
            "i": text,
        }
        return await self.ask(code, header | dict(fields or {}), body)

    def pull_fields(
        self, topic: str = "T", queue_id: int = 0, offset: int = 0, **changes: object
    ) -> dict[str, object]:
        fields: dict[str, object] = {
            "consumerGroup": "g",
            "topic": topic,
            "queueId": queue_id,
            "queueOffset": offset,
            "maxMsgNums": 32,
            "sysFlag": 4,
            "commitOffset": 0,
            "suspendTimeoutMillis": 15_000,
            "subscription": "*",
            "subVersion": 0,
        }
        return fields | changes

    async def pull(
        self, topic: str = "T", queue_id: int = 0, offset: int = 0, **changes: object
    ) -> RemotingCommand:
        fields = self.pull_fields(topic, queue_id, offset, **changes)
        return await self.ask(Code.PULL_MESSAGE, fields)

    def pull_later(
        self, topic: str = "T", queue_id: int = 0, offset: int = 0, **changes: object
    ) -> asyncio.Future[RemotingCommand]:
        """Begin a pull that may wait at the broker."""
        fields = self.pull_fields(topic, queue_id, offset, sysFlag=6, **changes)
        texts = {name: _text(value) for name, value in fields.items()}
        command = RemotingCommand.request(Code.PULL_MESSAGE, texts)
        return self.channel.send_request_nowait(command, 60)

    async def messages(
        self, topic: str = "T", queue_id: int = 0, offset: int = 0
    ) -> list[MessageExt]:
        response = await self.pull(topic, queue_id, offset)
        return decode_records(response.body, "broker-a")

    async def heartbeat(
        self,
        *topics: str,
        client_id: str = "me",
        group: str = "g",
        tags: str = "*",
        version: int = 1,
        model: MessageModel = MessageModel.CLUSTERING,
        producers: tuple[str, ...] = (),
    ) -> RemotingCommand:
        subscriptions = tuple(
            parse_tag_expression(topic, tags, version) for topic in topics
        )
        consumer = ConsumerData(
            group,
            ConsumeType.PUSH,
            model,
            ConsumeFromWhere.LAST_OFFSET,
            subscriptions,
        )
        consumers = (consumer,) if topics else ()
        data = HeartbeatData(client_id, producers, consumers)
        return await self.ok(Code.HEART_BEAT, body=encode_heartbeat(data))

    def _handle(
        self, channel: Channel, command: RemotingCommand
    ) -> RemotingCommand | Awaitable[RemotingCommand | None] | None:
        self.asked.append(command)
        self._news.set()
        return self.answerer(command)


def batch(*keys: str) -> bytes:
    """Return the body of a batch of messages, each with its key as body and id."""
    return encode_batch(
        Message.of("T", key.encode(), tags="A", properties={"UNIQ_KEY": key})
        for key in keys
    )


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, int) else str(value)
