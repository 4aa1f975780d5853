"""Where the pulling of a queue begins (behaviour of `consume from where`).

The group's committed offset always wins. Only where none was ever committed does the
start position count; anything that keeps us from knowing is an error, and the queue is
left for the next rebalance: a wrong guess would skip or repeat a whole queue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rmqcore.client.instance.client_instance import ClientInstance
from rmqcore.model import ConsumeFromWhere, MessageQueue
from rmqcore.model.topic import RETRY_PREFIX
from rmqcore.offsets import OffsetStore, ReadOffsetType

DEFAULT_TIMESTAMP_AGO_MS: Final = 30 * 60 * 1000
"""Starting by time means half an hour ago unless a time is given."""


@dataclass(frozen=True, slots=True)
class StartPosition:
    """Where a group starts on a queue it never committed; `timestamp_ms` for a time."""

    where: ConsumeFromWhere
    timestamp_ms: int


async def compute_pull_from_where(
    instance: ClientInstance,
    offsets: OffsetStore,
    start: StartPosition,
    queue: MessageQueue,
) -> int:
    """Return the offset to pull from; raises `RmqError` when it cannot be known."""
    committed = await offsets.read_offset(queue, ReadOffsetType.READ_FROM_STORE)
    if committed is not None:
        return committed
    is_retry = queue.topic.startswith(RETRY_PREFIX)
    if start.where is ConsumeFromWhere.FIRST_OFFSET:
        return 0
    if start.where is not ConsumeFromWhere.TIMESTAMP and is_retry:
        # Messages that wait for a retry must not be skipped by a late start.
        return 0
    calls, time_ms = instance.calls, start.timestamp_ms
    if start.where is ConsumeFromWhere.TIMESTAMP and not is_retry:
        return await instance.at_master(
            queue, lambda address: calls.search_offset(address, queue, time_ms)
        )
    return await instance.at_master(
        queue, lambda address: calls.max_offset(address, queue)
    )
