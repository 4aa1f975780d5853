"""Calls that move a group's offsets queue by queue, and what must be known first.

There are two kinds of brokers. Those of 5.x keep a reset themselves: the group's
committed offset is set at once, members take it up with their next pull, and what they
commit until then is ignored. Those of 4.x, and of 5.x with `useServerSideResetOffset`
off, can only tell the members that are online, and by time, for all queues of a topic.
Offsets of a group that is offline can be committed on either kind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from rmqcore.errors import RmqError
from rmqcore.model.queue import MessageQueue
from rmqcore.protocol.bodies import decode_queue_offsets, decode_topic_stats
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.headers import (
    GetTopicStatsInfoRequestHeader,
    ResetOffsetRequestHeader,
)

from .offsets import OffsetCalls

AT_ONCE: Final = 64
"""Requests under way at a time, as one question is asked for each queue."""

SERVER_SIDE_RESET: Final = "useServerSideResetOffset"

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Where a group stands in a queue; `committed` is None where nothing was."""

    min_offset: int
    max_offset: int
    committed: int | None


class MovingCalls(OffsetCalls):
    """The questions before a group's offsets are moved, and the moves."""

    async def topic_masters(self, topic: str) -> dict[str, str | None]:
        """Return the master of each broker that has a topic; None where none is up."""
        route = await self.topic_route(topic)
        brokers = sorted(route.brokers, key=lambda broker: broker.broker_name)
        return {broker.broker_name: broker.master for broker in brokers}

    async def queue_places(
        self, group: str, topic: str, broker_address: str
    ) -> dict[int, QueuePlace]:
        """Return where a group stands in each queue of a topic on one broker."""
        answer = await self._ask(
            broker_address,
            RequestCode.GET_TOPIC_STATS_INFO,
            GetTopicStatsInfoRequestHeader(topic=topic),
        )
        ends = decode_topic_stats(answer.body).by_queue()
        committed = await ask_each(
            ends, lambda queue: self.committed_offset(group, queue, broker_address)
        )
        places: dict[int, QueuePlace] = {}
        for queue, end in sorted(ends.items()):
            offset = committed[queue]
            if isinstance(offset, RmqError):
                raise offset
            low, high = end.min_offset, end.max_offset
            places[queue.queue_id] = QueuePlace(low, high, offset)
        return places

    async def offsets_at(
        self, queues: Iterable[MessageQueue], timestamp_ms: int, broker_address: str
    ) -> Mapping[MessageQueue, int | RmqError]:
        """Return the first offset stored at a time or later, or the error, by queue."""
        return await ask_each(
            queues,
            lambda queue: self.search_offset(queue, timestamp_ms, broker_address),
        )

    async def reset_queue(
        self, group: str, queue: MessageQueue, offset: int, broker_address: str
    ) -> None:
        """Set a group's offset of one queue, on a broker that keeps resets itself.

        On any other broker this would reset all queues of the topic: look at
        `broker_settings` first. Raise `ResponseError` where the offset is outside of
        what the queue holds.
        """
        await self._ask(
            broker_address,
            RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
            ResetOffsetRequestHeader(
                group=group,
                topic=queue.topic,
                timestamp=0,
                is_force=True,
                queue_id=queue.queue_id,
                offset=offset,
            ),
        )

    async def reset_on_broker(
        self, group: str, topic: str, timestamp_ms: int, broker_address: str
    ) -> dict[MessageQueue, int]:
        """Reset all queues of a topic on one broker by time; return the new offsets.

        `END_OF_QUEUE` as the time skips everything. A broker that does not keep resets
        itself tells its online members, which takes them about ten seconds.
        """
        answer = await self._ask(
            broker_address,
            RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
            ResetOffsetRequestHeader(
                group=group,
                topic=topic,
                timestamp=timestamp_ms,
                is_force=True,
                queue_id=-1,
            ),
        )
        return decode_queue_offsets(answer.body) if answer.body else {}


async def ask_each(
    keys: Iterable[_Key], ask: Callable[[_Key], Awaitable[_Value]]
) -> dict[_Key, _Value | RmqError]:
    """Ask for each key, a bounded number at a time; an error is its key's answer."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(key: _Key) -> _Value | RmqError:
        async with turns:
            try:
                return await ask(key)
            except RmqError as error:
                return error

    asked = list(keys)
    answers = await asyncio.gather(*(one(key) for key in asked))
    return dict(zip(asked, answers, strict=True))
