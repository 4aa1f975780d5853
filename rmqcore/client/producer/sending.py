"""Sending one request with messages to one queue, and reading the answer.

This module has everything a send needs apart from the choice of the queue: unique id,
compression, header, and the reading of the answer. The producer decides whether to try
again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from ipaddress import ip_address
from typing import Final

from rmqcore.client.instance.calls import BrokerCalls
from rmqcore.client.instance.client_id import local_ip
from rmqcore.client.instance.routes import DEFAULT_TOPIC_QUEUE_NUMS
from rmqcore.errors import ArgumentError
from rmqcore.model import Message, MessageQueue
from rmqcore.model.message import MAX_BODY_BYTES, Property
from rmqcore.model.topic import AUTO_CREATE_TOPIC, RETRY_PREFIX
from rmqcore.protocol.batch import encode_items
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.compression import COMPRESSED_FLAG, KIND_FLAGS, deflate
from rmqcore.protocol.headers import SendMessageResponseHeader, decode_header
from rmqcore.protocol.ids import UniqueIds
from rmqcore.protocol.properties import encode_properties
from rmqcore.transport import raise_for_code

COMPRESS_OVER_BYTES: Final = 4 * 1024
_DEFAULT_QUEUES: Final = str(DEFAULT_TOPIC_QUEUE_NUMS)
_COMPRESSED: Final = COMPRESSED_FLAG | KIND_FLAGS["zlib"]


class SendStatus(Enum):
    """How well a message was stored; every status means that it was."""

    SEND_OK = ResponseCode.SUCCESS
    FLUSH_DISK_TIMEOUT = ResponseCode.FLUSH_DISK_TIMEOUT
    SLAVE_NOT_AVAILABLE = ResponseCode.SLAVE_NOT_AVAILABLE
    FLUSH_SLAVE_TIMEOUT = ResponseCode.FLUSH_SLAVE_TIMEOUT


_STORED: Final[dict[int, SendStatus]] = {s.value: s for s in SendStatus}


@dataclass(frozen=True, slots=True)
class SendResult:
    """Where a message went.

    `msg_id` is the id that consumers see; for a batch, the ids of its messages joined
    by commas. `offset_msg_id` says where the broker stored it, `queue_offset` is its
    place in the queue (for a batch, that of its first message).
    """

    status: SendStatus
    msg_id: str
    offset_msg_id: str
    queue: MessageQueue
    queue_offset: int


class Sender:
    """Makes send requests for one producer group."""

    def __init__(self, calls: BrokerCalls, group: str) -> None:
        self._calls = calls
        self._group = group
        self._ids = process_ids()

    def send_command(
        self, message: Message, queue: MessageQueue, now_ms: int, *, oneway: bool
    ) -> tuple[RemotingCommand, str]:
        """Return the request (310) for one message, and the message's unique id."""
        properties = dict(message.properties)
        unique = self._stamp(properties, now_ms)
        body, sys_flag = message.body, 0
        if len(body) > COMPRESS_OVER_BYTES:
            body, sys_flag = deflate(body), _COMPRESSED
        fields = self._fields(message.topic, queue, sys_flag, now_ms)
        if message.flag:
            fields["h"] = str(message.flag)
        if message.topic.startswith(RETRY_PREFIX):
            _move_attempts(properties, fields)
        fields["i"] = encode_properties(properties)
        command = RemotingCommand.request(
            RequestCode.SEND_MESSAGE_V2,
            fields,
            body,
            oneway=oneway,
            serialize_type=self._calls.serialize_type,
        )
        return command, unique

    def batch_command(
        self, messages: Sequence[Message], queue: MessageQueue, now_ms: int
    ) -> tuple[RemotingCommand, str]:
        """Return the request (320) for a batch, and the ids of its messages.

        Raises `ArgumentError` for an empty batch, several topics, delayed messages, a
        retry topic, or more than 4 MiB.
        """
        topic = check_batch(messages)
        ids, texts = self._stamp_batch(messages, now_ms)
        body = encode_items(
            [message.flag for message in messages],
            [message.body for message in messages],
            texts,
        )
        if len(body) > MAX_BODY_BYTES:
            raise ArgumentError(f"batch of {len(body)} bytes, limit {MAX_BODY_BYTES}")
        fields = self._fields(topic, queue, 0, now_ms)
        own: dict[str, str] = {}
        self._stamp(own, now_ms)
        fields["i"] = encode_properties(own)
        fields["m"] = "true"
        command = RemotingCommand.request(
            RequestCode.SEND_BATCH_MESSAGE,
            fields,
            body,
            serialize_type=self._calls.serialize_type,
        )
        return command, ",".join(ids)

    def _fields(
        self, topic: str, queue: MessageQueue, sys_flag: int, now_ms: int
    ) -> dict[str, str]:
        """Return the short form of `SendMessageRequestHeader`, except properties.

        It is written out here, as the general encoder takes a third of the time of a
        send.
        """
        return {
            "a": self._group,
            "b": topic,
            "c": AUTO_CREATE_TOPIC,
            "d": _DEFAULT_QUEUES,
            "e": str(queue.queue_id),
            "f": str(sys_flag),
            "g": str(now_ms),
            "h": "0",
            "i": "",
            "j": "0",
            "k": "false",
            "m": "false",
            "n": queue.broker_name,
        }

    def _stamp(self, properties: dict[str, str], now_ms: int) -> str:
        properties.setdefault(Property.WAIT, "true")
        unique = properties.get(Property.UNIQUE_KEY)
        if unique is None:
            unique = properties[Property.UNIQUE_KEY] = self._ids.next_id(now_ms)
        return unique

    def _stamp_batch(
        self, messages: Sequence[Message], now_ms: int
    ) -> tuple[list[str], list[bytes]]:
        """Return the unique ids of messages, and their properties with these ids.

        Properties equal to those of the previous message are not written again.
        """
        ids = self._ids.next_ids(len(messages), now_ms)
        texts: list[bytes] = []
        properties: Mapping[str, str] | None = None
        text, own = "", None
        for at, message in enumerate(messages):
            if message.properties != properties:
                properties = message.properties
                text = encode_properties({Property.WAIT: "true", **properties})
                own = properties.get(Property.UNIQUE_KEY)
            if own is None:
                texts.append(f"{text}UNIQ_KEY\x01{ids[at]}\x02".encode())
            else:
                ids[at] = own
                texts.append(text.encode())
        return ids, texts


def read_send_response(
    response: RemotingCommand,
    *,
    request_code: int,
    address: str,
    queue: MessageQueue,
    unique: str,
) -> SendResult:
    """Return where a message went; raise as `raise_for_code` for other answers."""
    raise_for_code(response, request_code=request_code, address=address, ok=_STORED)
    status, fields = _STORED[response.code], response.ext_fields
    try:
        queue_id, queue_offset = int(fields["queueId"]), int(fields["queueOffset"])
        stored_as = fields["msgId"]
    except (KeyError, ValueError):
        # The general decoder names the field that is missing or wrong.
        header = decode_header(SendMessageResponseHeader, fields)
        queue_id, queue_offset = header.queue_id, header.queue_offset
        stored_as = header.msg_id
    if queue_id != queue.queue_id:
        queue = MessageQueue(queue.topic, queue.broker_name, queue_id)
    return SendResult(status, unique, stored_as, queue, queue_offset)


def _move_attempts(properties: dict[str, str], fields: dict[str, str]) -> None:
    """Move the attempt counts of a retry topic's message into the header."""
    fields["j"] = properties.pop(Property.RECONSUME_TIME, "0")
    limit = properties.pop(Property.MAX_RECONSUME_TIMES, None)
    if limit is not None:
        fields["l"] = limit


def check_batch(messages: Sequence[Message]) -> str:
    """Return the topic of a batch; raise `ArgumentError` when it is not one."""
    if not messages:
        raise ArgumentError("a batch needs at least one message")
    topic = messages[0].topic
    if topic.startswith(RETRY_PREFIX):
        raise ArgumentError(f"a batch cannot be sent to {topic}")
    for message in messages:
        if message.topic != topic:
            raise ArgumentError(
                f"a batch has one topic, got {topic!r} and {message.topic!r}"
            )
        if Property.DELAY in message.properties:
            raise ArgumentError("a batch cannot hold delayed messages")
    return topic


def process_ids() -> UniqueIds:
    """Return a maker of unique ids for this process."""
    zone = datetime.now(UTC).astimezone().tzinfo or UTC
    salt = int.from_bytes(os.urandom(4), "big")
    return UniqueIds(ip_address(local_ip()).packed, os.getpid(), salt, zone)
