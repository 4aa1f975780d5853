"""Calls about offsets: what groups have committed, their lag, and resets.

Queues are those that brokers have, and so are offsets: of a static topic, too.
"""

from __future__ import annotations

from rmqcore.errors import ArgumentError
from rmqcore.model.queue import MessageQueue
from rmqcore.protocol.bodies import (
    BrokerConsumeStats,
    ConsumeOffset,
    decode_broker_consume_stats,
    decode_consume_stats,
    decode_consumer_offsets,
    split_offset_key,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.headers import (
    GetBrokerConsumeStatsRequestHeader,
    GetConsumeStatsRequestHeader,
    GetMaxOffsetRequestHeader,
    GetMinOffsetRequestHeader,
    OffsetResponseHeader,
    QueryConsumerOffsetRequestHeader,
    SearchOffsetRequestHeader,
    UpdateConsumerOffsetRequestHeader,
    decode_header,
)

from .topics import TopicCalls

_OR_NOT_FOUND = (ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND)
_ALL_STATS_TIMEOUT_S = 30.0
_PHYSICAL = False
"""As `static_topic`: the queue meant is the broker's own, also of a static topic."""
END_OF_QUEUE = -1
"""As the time of a reset: skip everything there is."""


class OffsetCalls(TopicCalls):
    """The questions and operations on offsets."""

    async def committed_offsets(
        self, group: str, topic: str | None = None
    ) -> dict[MessageQueue, int]:
        """Return a group's committed offsets; queues without one are absent."""
        names, addresses = await self._addresses()
        answers = await self._ask_each(addresses, RequestCode.GET_ALL_CONSUMER_OFFSET)
        committed: dict[MessageQueue, int] = {}
        for broker_name, answer in zip(names, answers, strict=True):
            table = decode_consumer_offsets(answer.body).offsets
            for key, offsets in table.items():
                its_topic, its_group = split_offset_key(key)
                if its_group == group and topic in (None, its_topic):
                    for queue_id, offset in offsets.items():
                        queue = MessageQueue(its_topic, broker_name, queue_id)
                        committed[queue] = offset
        return dict(sorted(committed.items()))

    async def committed_offset(
        self, group: str, queue: MessageQueue, master: str | None = None
    ) -> int | None:
        """Return a group's committed offset of one queue, or None.

        A caller that knows the queue's master saves a question to the name server.
        """
        answer = await self._ask(
            master or await self._master_of(queue),
            RequestCode.QUERY_CONSUMER_OFFSET,
            QueryConsumerOffsetRequestHeader(
                consumer_group=group,
                topic=queue.topic,
                queue_id=queue.queue_id,
                # Without this, a broker answers 0 for a young queue never consumed.
                set_zero_if_not_found=False,
                static_topic=_PHYSICAL,
            ),
            ok=_OR_NOT_FOUND,
        )
        if answer.code == ResponseCode.QUERY_NOT_FOUND:
            return None
        return decode_header(OffsetResponseHeader, answer.ext_fields).offset

    async def commit_offset(
        self, group: str, queue: MessageQueue, offset: int, master: str | None = None
    ) -> None:
        """Set a group's committed offset of one queue; for groups that are offline."""
        if offset < 0:
            raise ArgumentError(f"offset {offset} of {queue} must not be negative")
        await self._ask(
            master or await self._master_of(queue),
            RequestCode.UPDATE_CONSUMER_OFFSET,
            UpdateConsumerOffsetRequestHeader(
                consumer_group=group,
                topic=queue.topic,
                queue_id=queue.queue_id,
                commit_offset=offset,
                static_topic=_PHYSICAL,
            ),
        )

    async def consume_stats(
        self, group: str, broker_address: str, topic: str | None = None
    ) -> dict[MessageQueue, ConsumeOffset]:
        """Return a group's progress on one broker; never committed counts as 0 here."""
        answer = await self._ask(
            broker_address,
            RequestCode.GET_CONSUME_STATS,
            GetConsumeStatsRequestHeader(consumer_group=group, topic=topic),
        )
        return dict(sorted(decode_consume_stats(answer.body).by_queue().items()))

    async def broker_consume_stats(
        self, broker_address: str, *, ordered_topics_only: bool = False
    ) -> BrokerConsumeStats:
        """Return the progress of all groups of a broker; takes about a second."""
        answer = await self._ask(
            broker_address,
            RequestCode.GET_BROKER_CONSUME_STATS,
            GetBrokerConsumeStatsRequestHeader(is_order=ordered_topics_only),
            timeout=_ALL_STATS_TIMEOUT_S,
        )
        return decode_broker_consume_stats(answer.body)

    async def min_offset(self, queue: MessageQueue) -> int:
        """Return the offset of the oldest message that the broker still holds."""
        answer = await self._ask(
            await self._master_of(queue),
            RequestCode.GET_MIN_OFFSET,
            GetMinOffsetRequestHeader(
                topic=queue.topic, queue_id=queue.queue_id, static_topic=_PHYSICAL
            ),
        )
        return decode_header(OffsetResponseHeader, answer.ext_fields).offset

    async def max_offset(self, queue: MessageQueue) -> int:
        """Return the offset that the next message of a queue will get."""
        answer = await self._ask(
            await self._master_of(queue),
            RequestCode.GET_MAX_OFFSET,
            GetMaxOffsetRequestHeader(
                topic=queue.topic, queue_id=queue.queue_id, static_topic=_PHYSICAL
            ),
        )
        return decode_header(OffsetResponseHeader, answer.ext_fields).offset

    async def search_offset(
        self, queue: MessageQueue, timestamp_ms: int, master: str | None = None
    ) -> int:
        """Return the offset of the first message stored at that time or later."""
        answer = await self._ask(
            master or await self._master_of(queue),
            RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
            SearchOffsetRequestHeader(
                topic=queue.topic,
                queue_id=queue.queue_id,
                timestamp=timestamp_ms,
                static_topic=_PHYSICAL,
            ),
        )
        return decode_header(OffsetResponseHeader, answer.ext_fields).offset

    async def _master_of(self, queue: MessageQueue) -> str:
        (master,) = await self._masters(None, queue.broker_name)
        return master
