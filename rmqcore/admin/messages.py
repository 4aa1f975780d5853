"""Calls about single messages: finding, reading, sending and consuming them once more.

Reading leaves nothing behind at a broker. Pulls are made in the name of TOOLS_CONSUMER,
a group that every broker of RocketMQ has from its start, so that none is created for
them; they carry their own subscription, commit nothing and are never held. They also
stay between a queue's ends: a broker that is asked for an offset outside of them writes
a message about it to its topic OFFSET_MOVED_EVENT.

The messages of a static topic are found where they are stored: in the queues of its
brokers, with their offsets there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rmqcore.errors import ArgumentError, RmqError, RouteError
from rmqcore.model import MessageExt, MessageQueue
from rmqcore.model.message import Property
from rmqcore.model.route import BrokerData, TopicRoute
from rmqcore.protocol.batch import decode_batch
from rmqcore.protocol.bodies import (
    TopicOffset,
    decode_consumer_offsets,
    decode_topic_stats,
    split_offset_key,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.compression import COMPRESSED_FLAG
from rmqcore.protocol.headers import (
    GetTopicStatsInfoRequestHeader,
    PullMessageRequestHeader,
    PullMessageResponseHeader,
    PullSysFlag,
    QueryMessageRequestHeader,
    ViewMessageRequestHeader,
    decode_header,
)
from rmqcore.protocol.ids import decode_offset_msg_id
from rmqcore.protocol.message import decode_records, inflate_message

from .offsets import OffsetCalls

TOOLS_GROUP: Final = "TOOLS_CONSUMER"
"""The group in whose name RocketMQ's own tools read; each broker has it."""

MOST_BY_KEY: Final = 64
"""A broker of Apache gives at most this many messages for one key, the newest."""

MOST_BY_UNIQUE_KEY: Final = 32
MOST_PER_PULL: Final = 256
END_OF_TIME_MS: Final = 2**63 - 1
MAX_INFLATED_BYTES: Final = 64 * 1024 * 1024

INNER_BATCH_FLAG: Final = 0x80
_OR_NONE: Final = (ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND)
_PULL_ANSWERS: Final = (
    ResponseCode.SUCCESS,
    ResponseCode.PULL_NOT_FOUND,
    ResponseCode.PULL_RETRY_IMMEDIATELY,
    ResponseCode.PULL_OFFSET_MOVED,
)


@dataclass(frozen=True, slots=True)
class QueueSpan:
    """A queue with its ends: `min` is its oldest offset, `max` the one to come."""

    queue: MessageQueue
    min: int
    max: int


@dataclass(frozen=True, slots=True)
class TopicSpans:
    """The queues of a topic; `failed` has brokers without an answer, with errors."""

    spans: tuple[QueueSpan, ...]
    failed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Pulled:
    """What one pull gave; the next one continues at `next_offset`."""

    messages: tuple[MessageExt, ...]
    next_offset: int
    min_offset: int
    max_offset: int


@dataclass(frozen=True, slots=True)
class KeySearch:
    """The messages with a key, newest first.

    Brokers in `cut_short` gave as many as they give at most, so they may have older
    ones. `failed` has the brokers that gave no answer, with their errors.
    """

    messages: tuple[MessageExt, ...]
    cut_short: tuple[str, ...]
    failed: Mapping[str, str]


class MessageCalls(OffsetCalls):
    """The questions about messages."""

    async def message_by_id(self, offset_msg_id: str) -> MessageExt | None:
        """Return the message with an offset id; None when its broker no longer has it.

        The id names an address. Only brokers of this cluster are asked: raises
        `RouteError` for any other address, and `ArgumentError` for a text that is not
        such an id.
        """
        host, offset = decode_offset_msg_id(offset_msg_id)
        broker = _at(host, await self.brokers())
        answer = await self._ask(
            host,
            RequestCode.VIEW_MESSAGE_BY_ID,
            ViewMessageRequestHeader(offset=offset),
            ok=(ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR),
        )
        if answer.code != ResponseCode.SUCCESS or not answer.body:
            return None
        found = _decode(answer.body, broker.broker_name)
        wanted = offset_msg_id.upper()
        return next((each for each in found if each.offset_msg_id == wanted), None)

    async def messages_by_key(
        self,
        topic: str,
        key: str,
        *,
        unique: bool = False,
        begin_ms: int = 0,
        end_ms: int = END_OF_TIME_MS,
        most: int = MOST_BY_KEY,
    ) -> KeySearch:
        """Return the messages of a topic with a key, or with that unique key.

        Every broker of the topic is asked. Times are store times in ms since the
        epoch. The same message given by several brokers is returned once.
        """
        brokers = (await self.topic_route(topic)).brokers
        most = MOST_BY_UNIQUE_KEY if unique else min(most, MOST_BY_KEY)
        header = QueryMessageRequestHeader(
            topic=topic,
            key=key,
            max_num=most,
            begin_timestamp=begin_ms,
            end_timestamp=end_ms,
            unique_key_query=unique or None,
        )
        answers = await asyncio.gather(
            *(self._by_key(broker, header) for broker in brokers),
            return_exceptions=True,
        )
        found: list[MessageExt] = []
        cut_short: list[str] = []
        failed: dict[str, str] = {}
        for broker, answer in zip(brokers, answers, strict=True):
            if isinstance(answer, RmqError):
                failed[broker.broker_name] = str(answer)
            elif isinstance(answer, BaseException):
                raise answer
            else:
                found += (each for each in answer if _has_key(each, topic, key, unique))
                if len(answer) >= most:
                    cut_short.append(broker.broker_name)
        return KeySearch(_newest_first(found), tuple(cut_short), failed)

    async def queue_spans(self, topic: str) -> TopicSpans:
        """Return the readable queues of a topic with their ends."""
        route = await self.topic_route(topic)
        header = GetTopicStatsInfoRequestHeader(topic=topic)
        answers = await asyncio.gather(
            *(
                self._ask(_address(each), RequestCode.GET_TOPIC_STATS_INFO, header)
                for each in route.brokers
            ),
            return_exceptions=True,
        )
        offsets: dict[MessageQueue, TopicOffset] = {}
        failed: dict[str, str] = {}
        for broker, answer in zip(route.brokers, answers, strict=True):
            if isinstance(answer, RemotingCommand):
                offsets.update(decode_topic_stats(answer.body).by_queue())
            elif isinstance(answer, RmqError):
                failed[broker.broker_name] = str(answer)
            else:
                raise answer
        spans = [
            QueueSpan(queue, found.min_offset, found.max_offset)
            for queue in route.physical_queues(topic)
            if (found := offsets.get(queue)) is not None
        ]
        return TopicSpans(tuple(spans), failed)

    async def committed_on(
        self, broker_name: str
    ) -> dict[tuple[str, str], dict[int, int]]:
        """Return what one broker has committed, by topic and group, then by queue."""
        (broker,) = await self.brokers(broker_name=broker_name)
        answer = await self._ask(_address(broker), RequestCode.GET_ALL_CONSUMER_OFFSET)
        table = decode_consumer_offsets(answer.body).offsets
        return {split_offset_key(key): dict(found) for key, found in table.items()}

    async def queue_span(self, queue: MessageQueue) -> QueueSpan:
        """Return one queue with its ends; `RouteError` where it does not exist."""
        route = await self.topic_route(queue.topic)
        _broker_of(route, queue)
        if queue not in route.physical_queues(queue.topic):
            raise RouteError(f"{queue} does not exist or may not be read")
        low, high = await asyncio.gather(self.min_offset(queue), self.max_offset(queue))
        return QueueSpan(queue, low, high)

    async def messages_at(
        self,
        span: QueueSpan,
        offset: int,
        count: int,
        *,
        expression: str = "*",
        route: TopicRoute | None = None,
    ) -> Pulled:
        """Return at most `count` messages of a queue from an offset on.

        An offset outside of the span gives no message and asks nothing. `expression`
        is a tag expression, by which the broker filters; fewer messages, or none, may
        come although later ones match. A pull gives what fits: continue with the
        result's `next_offset`.
        """
        if not span.min <= offset < span.max:
            bounded = min(max(offset, span.min), span.max)
            return Pulled((), bounded, span.min, span.max)
        route = route or await self.topic_route(span.queue.topic)
        broker = _broker_of(route, span.queue)
        answer = await self._ask(
            str(broker.any_address),
            RequestCode.PULL_MESSAGE,
            _pull_header(span.queue, offset, count, expression),
            ok=_PULL_ANSWERS,
        )
        return _pulled(answer, broker.broker_name, count)

    async def _by_key(
        self, broker: BrokerData, header: QueryMessageRequestHeader
    ) -> Sequence[MessageExt]:
        answer = await self._ask(
            _address(broker), RequestCode.QUERY_MESSAGE, header, ok=_OR_NONE
        )
        if answer.code != ResponseCode.SUCCESS:
            return ()
        return _decode(answer.body, broker.broker_name)


def unpacked(message: MessageExt) -> list[MessageExt]:
    """Return the messages of a record: those of a batch one by one, else itself.

    A batch that a queue of batches keeps as one record has its messages in its body.
    Its offset in the queue is that of the first. Raises `BodyError` for a body that
    cannot be read.
    """
    if message.sys_flag & COMPRESSED_FLAG:
        message = inflate_message(message, limit_bytes=MAX_INFLATED_BYTES)
    if not message.sys_flag & INNER_BATCH_FLAG:
        return [message]
    return [
        replace(
            message,
            body=item.body,
            flag=item.flag,
            properties=item.properties,
            queue_offset=message.queue_offset + at,
            sys_flag=message.sys_flag & ~INNER_BATCH_FLAG,
        )
        for at, item in enumerate(decode_batch(message.body))
    ]


# Private, in order of first use


def _at(host: str, brokers: Iterable[BrokerData]) -> BrokerData:
    """Return the broker at an address; an id must not send us anywhere else."""
    for broker in brokers:
        if host in broker.addresses.values():
            return broker
    raise RouteError(f"no broker of this cluster has the address {host} of the id")


def _decode(data: bytes, broker_name: str) -> list[MessageExt]:
    """Return the messages of an answer as they are stored, not inflated."""
    return decode_records(data, broker_name, inflate_bodies=False)


def _has_key(message: MessageExt, topic: str, key: str, unique: bool) -> bool:
    """Tell whether a message has a key: a broker's index knows only hashes."""
    if message.topic != topic:
        return False
    if message.properties.get(Property.UNIQUE_KEY) == key:
        return True
    return not unique and key in message.keys


def _newest_first(messages: Iterable[MessageExt]) -> tuple[MessageExt, ...]:
    once = {
        (each.broker_name, each.topic, each.queue_id, each.queue_offset): each
        for each in messages
    }
    return tuple(
        sorted(
            once.values(),
            key=lambda each: (each.store_timestamp, each.queue_offset),
            reverse=True,
        )
    )


def _broker_of(route: TopicRoute, queue: MessageQueue) -> BrokerData:
    broker = route.broker(queue.broker_name)
    if broker is None or broker.any_address is None:
        known = sorted(each.broker_name for each in route.brokers)
        raise RouteError(
            f"topic {queue.topic!r} is not on broker {queue.broker_name!r}; "
            f"it is on {known}"
        )
    return broker


def _address(broker: BrokerData) -> str:
    if broker.any_address is None:
        raise RouteError(f"broker {broker.broker_name!r} has no address")
    return broker.any_address


def _pull_header(
    queue: MessageQueue, offset: int, count: int, expression: str
) -> PullMessageRequestHeader:
    if count < 1:
        raise ArgumentError(f"count is {count}, at least 1 is needed")
    return PullMessageRequestHeader(
        consumer_group=TOOLS_GROUP,
        topic=queue.topic,
        queue_id=queue.queue_id,
        queue_offset=offset,
        max_msg_nums=min(count, MOST_PER_PULL),
        sys_flag=int(PullSysFlag.SUBSCRIPTION),
        commit_offset=0,
        suspend_timeout_millis=0,
        sub_version=0,
        subscription=expression,
        expression_type="TAG",
        static_topic=False,
    )


def _pulled(answer: RemotingCommand, broker_name: str, count: int) -> Pulled:
    header = decode_header(PullMessageResponseHeader, answer.ext_fields)
    messages = (
        _decode(answer.body, broker_name)[:count]
        if answer.code == ResponseCode.SUCCESS
        else []
    )
    next_offset = header.next_begin_offset
    return Pulled(tuple(messages), next_offset, header.min_offset, header.max_offset)
