"""Sends dead letters once more, one at a time, on a connection that stays open.

To a *topic* means a new message, which every group of the topic sees. To the *group*
means its retry topic: the message is the same one, only that group has it, and its
tries are counted from the beginning. A cluster that is attached read-only refuses both
before anything is sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from rmqcore.admin import Admin
from rmqcore.admin.messages import QueueSpan
from rmqcore.admin.sending import SentMessage
from rmqcore.errors import (
    ArgumentError,
    ChannelClosedError,
    RequestTimeoutError,
    RmqError,
)
from rmqcore.model import Message, MessageExt, MessageQueue
from rmqcore.model.message import Property
from rmqcore.model.topic import DLQ_PREFIX, dead_letter_topic, retry_topic

from .asking import ask, settings_of
from .connections import open_admin
from .dead_letters import original_topic
from .message_writes import resent
from .queue_search import readable
from .read_only import check_writable
from .settings import ClusterSettings

Target = Literal["group", "topic"]

MOST_BODY_BYTES: Final = 32 * 1024 * 1024
"""Bodies of one export, together; further ones are left out."""

_AT_ONCE: Final = 8
_BODY_SECONDS: Final = 20.0
_SPAN_SECONDS: Final = 5.0
"""So long the ends of a queue of dead letters are taken as known."""


class StraightBackError(RmqError):
    """The broker put a message for the retry topic among the dead letters at once."""


class PerhapsSentError(RmqError):
    """No answer came to a message that was sent: it may have been stored or not."""


@dataclass(frozen=True, slots=True)
class Letter:
    """Where a dead letter is, and its id, which tells whether it is still the same.

    It is found by its place: the address in its id may be one that its broker had.
    """

    broker: str
    queue_id: int
    offset: int
    id: str


@dataclass(frozen=True, slots=True)
class Resent:
    """Where a dead letter was stored once more, and under which unique key.

    `read_back` tells whether it was found again there.
    """

    topic: str
    broker: str
    queue_id: int
    offset: int
    unique_key: str
    read_back: bool


class Resender:
    """Resends to one cluster; keeps its connections open until `close`.

    Raise KeyError for a cluster that is no longer configured, and RmqError for one that
    is attached read-only.
    """

    def __init__(self, cluster: str) -> None:
        settings = settings_of(cluster)
        check_writable(settings)
        self._admin = open_admin(settings)
        self._spans: dict[MessageQueue, tuple[QueueSpan, float]] = {}

    async def close(self) -> None:
        """Close the connections."""
        await self._admin.close()

    async def resend(
        self, letter: Letter, *, group: str, target: Target
    ) -> Resent | None:
        """Resend a dead letter; None when its broker has it no more.

        Raise StraightBackError where the group consumes in order: its broker gives
        messages of the retry topic up at once, while members hold locks of queues.
        Raise PerhapsSentError where no answer came, and RmqError for any other failure.
        """
        span = await self._span(_queue_of(letter, group))
        message = await _stored(self._admin, span, letter)
        if message is None:
            return None
        sent = await self._send(once_more(message, group, target))
        there = await self._read_back(sent)
        if there is not None and there.topic.startswith(DLQ_PREFIX):
            raise StraightBackError(
                f"the broker put {sent.unique_key} straight back among the dead "
                f"letters, because group {group!r} holds locks of queues: it consumes "
                "in order; resend to the topic instead"
            )
        queue = sent.queue
        return Resent(
            *(queue.topic, queue.broker_name, queue.queue_id, sent.queue_offset),
            unique_key=sent.unique_key,
            read_back=there is not None,
        )

    async def _span(self, queue: MessageQueue) -> QueueSpan:
        span, asked_at = self._spans.get(queue, (None, 0.0))
        if span is None or time.monotonic() - asked_at > _SPAN_SECONDS:
            span = await self._admin.queue_span(queue)
            self._spans[queue] = span, time.monotonic()
        return span

    async def _send(self, message: Message) -> SentMessage:
        try:
            return await self._admin.send_message(message)
        except (RequestTimeoutError, ChannelClosedError) as error:
            raise PerhapsSentError(f"it may have been stored: {error}") from error

    async def _read_back(self, sent: SentMessage) -> MessageExt | None:
        """Return what was stored; None where it cannot be read, or not yet."""
        try:
            return await self._admin.message_by_id(sent.offset_msg_id)
        except (RmqError, OSError):
            return None


def once_more(message: MessageExt, group: str, target: Target) -> Message:
    """Return what resending a dead letter would send.

    Raise ArgumentError for a message that does not say from which topic it came.
    """
    topic = original_topic(message)
    if topic is None:
        raise ArgumentError(
            f"dead letter {message.msg_id} does not say from which topic it came"
        )
    made = resent(message, topic)
    if target == "topic":
        return made
    origin = message.properties.get(Property.ORIGIN_MESSAGE_ID) or message.msg_id
    properties = {
        **made.properties,
        Property.RETRY_TOPIC: topic,
        Property.ORIGIN_MESSAGE_ID: origin,
    }
    # The same message is tried again: groups that notice repeats know it by its key.
    if unique := message.properties.get(Property.UNIQUE_KEY):
        properties[Property.UNIQUE_KEY] = unique
    return replace(made, topic=retry_topic(group), properties=properties)


def read_bodies(
    cluster: ClusterSettings, group: str, letters: Sequence[Letter]
) -> dict[str, MessageExt]:
    """Return dead letters with their bodies, by id, up to a limit of bytes.

    Those that are gone, or beyond the limit, are left out.
    """

    async def work(admin: Admin) -> dict[str, MessageExt]:
        queues = {_queue_of(each, group) for each in letters}
        spans = {queue: await admin.queue_span(queue) for queue in queues}
        found: dict[str, MessageExt] = {}
        left = MOST_BODY_BYTES
        for at in range(0, len(letters), _AT_ONCE):
            part = letters[at : at + _AT_ONCE]
            stored = await asyncio.gather(
                *(_stored(admin, spans[_queue_of(e, group)], e) for e in part)
            )
            for message in filter(None, stored):
                if left > 0:
                    found[message.offset_msg_id] = message
                    left -= len(message.body)
        return found

    return ask(cluster, work, seconds=_BODY_SECONDS)


def _queue_of(letter: Letter, group: str) -> MessageQueue:
    return MessageQueue(dead_letter_topic(group), letter.broker, letter.queue_id)


async def _stored(admin: Admin, span: QueueSpan, letter: Letter) -> MessageExt | None:
    """Return a dead letter with its body; None if there is another one, or none."""
    pulled = await admin.messages_at(span, letter.offset, 1)
    found = readable(pulled.messages)
    return next((each for each in found if each.offset_msg_id == letter.id), None)
