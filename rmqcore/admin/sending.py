"""Calls that send a message, or have one consumed once more. Both write.

A message is sent without a producer: no client registers itself for it, and a topic
that does not exist is refused, so that no broker creates one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from ipaddress import ip_address
from typing import Final

from rmqcore.errors import ArgumentError, RouteError
from rmqcore.model import Message, MessageExt, MessageQueue
from rmqcore.model.message import Property
from rmqcore.model.topic import AUTO_CREATE_TOPIC
from rmqcore.protocol.bodies import (
    ConsumeDirectlyResult,
    decode_consume_directly_result,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    ConsumeMessageDirectlyRequestHeader,
    SendMessageRequestHeader,
    SendMessageResponseHeader,
    decode_header,
    encode_header,
)
from rmqcore.protocol.ids import UniqueIds
from rmqcore.protocol.properties import encode_properties
from rmqcore.transport.responses import raise_for_code

from .messages import MessageCalls

TOOLS_PRODUCER: Final = "CLIENT_INNER_PRODUCER"
"""The producer group of RocketMQ's own tools."""

_STORED: Final = (
    ResponseCode.SUCCESS,
    ResponseCode.FLUSH_DISK_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE,
    ResponseCode.FLUSH_SLAVE_TIMEOUT,
)
_RELAY_TIMEOUT_S: Final = 12.0
"""A broker waits ten seconds for the client that consumes directly."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """Where a message was stored, and under which ids."""

    unique_key: str
    offset_msg_id: str
    queue: MessageQueue
    queue_offset: int


class SendingCalls(MessageCalls):
    """The operations on messages."""

    async def send_message(
        self, message: Message, *, queue: MessageQueue | None = None
    ) -> SentMessage:
        """Store a message in a queue, by default in one chosen by the time.

        A unique key in its properties is kept, otherwise a new one is made. Raises
        `ResponseError` 17 where the topic does not exist, and `RouteError` where it
        cannot be written.
        """
        route = await self.topic_route(message.topic)
        queues = route.publish_queues(message.topic)
        if not queues or queue not in (None, *queues):
            raise RouteError(f"topic {message.topic!r} has no queue to write to")
        chosen = queue or queues[time.monotonic_ns() // 1000 % len(queues)]
        name = route.leaders(message.topic).get(chosen, chosen.broker_name)
        broker = route.broker(name)
        if broker is None or broker.master is None:
            raise RouteError(f"broker {name!r} has no master")
        unique, fields = _fields(message, chosen, self._clock.time_ms())
        code = RequestCode.SEND_MESSAGE_V2
        answer = await self._pool.request(
            broker.master,
            RemotingCommand.request(code, fields, message.body),
            self._timeout,
        )
        raise_for_code(answer, request_code=code, address=broker.master, ok=_STORED)
        header = decode_header(SendMessageResponseHeader, answer.ext_fields)
        stored = MessageQueue(message.topic, chosen.broker_name, header.queue_id)
        return SentMessage(unique, header.msg_id, stored, header.queue_offset)

    async def consume_directly(
        self, group: str, client_id: str, message: MessageExt
    ) -> ConsumeDirectlyResult:
        """Have one online client of a group consume a message now (309).

        The broker that stores the message relays it. No offset moves, and a failure is
        not tried again. Raises `ResponseError` when the client is not online or gives
        no answer within ten seconds.
        """
        if not message.offset_msg_id:
            raise ArgumentError("the message has no offset id")
        brokers = await self.brokers(broker_name=message.broker_name)
        if brokers[0].master is None:
            raise RouteError(f"broker {message.broker_name!r} has no master")
        answer = await self._ask(
            brokers[0].master,
            RequestCode.CONSUME_MESSAGE_DIRECTLY,
            ConsumeMessageDirectlyRequestHeader(
                consumer_group=group,
                client_id=client_id,
                msg_id=message.offset_msg_id,
                broker_name=message.broker_name,
                topic=message.topic,
            ),
            timeout=_RELAY_TIMEOUT_S,
        )
        return decode_consume_directly_result(answer.body)


def _fields(
    message: Message, queue: MessageQueue, now_ms: int
) -> tuple[str, Mapping[str, str]]:
    """Return the unique key of a message, and the header of its request."""
    properties = {Property.WAIT: "true", **message.properties}
    unique = properties.setdefault(Property.UNIQUE_KEY, _ids().next_id(now_ms))
    header = SendMessageRequestHeader(
        producer_group=TOOLS_PRODUCER,
        topic=message.topic,
        default_topic=AUTO_CREATE_TOPIC,
        default_topic_queue_nums=4,
        queue_id=queue.queue_id,
        sys_flag=0,
        born_timestamp=now_ms,
        flag=message.flag,
        properties=encode_properties(properties),
        reconsume_times=0,
        unit_mode=False,
        batch=False,
    )
    return unique, encode_header(header, short_names=True)


@cache
def _ids() -> UniqueIds:
    """Return the maker of unique keys of this process."""
    zone = datetime.now(UTC).astimezone().tzinfo or UTC
    salt = int.from_bytes(os.urandom(4), "big")
    return UniqueIds(ip_address("127.0.0.1").packed, os.getpid(), salt, zone)
