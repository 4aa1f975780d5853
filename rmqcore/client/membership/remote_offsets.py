"""Offsets of a clustering member: kept by the brokers of its queues (D4, A3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

from rmqcore.client.instance.client_instance import ClientInstance
from rmqcore.errors import RmqError
from rmqcore.model import MessageQueue
from rmqcore.offsets import OffsetTable, ReadOffsetType

logger = logging.getLogger(__name__)


class RemoteOffsetStore:
    """The broker store of one group of one client. Belongs to one event loop."""

    def __init__(self, instance: ClientInstance, group: str) -> None:
        self._instance = instance
        self._group = group
        self._table = OffsetTable()

    async def load(self) -> None:
        """Do nothing: offsets are read queue by queue, when a queue is taken."""

    def update_offset(
        self, queue: MessageQueue, offset: int, *, increase_only: bool = False
    ) -> None:
        """Note progress in memory."""
        self._table.update(queue, offset, increase_only=increase_only)

    def update_and_freeze_offset(self, queue: MessageQueue, offset: int) -> None:
        """Set the offset and ignore updates until it is removed."""
        self._table.update_and_freeze(queue, offset)

    async def read_offset(self, queue: MessageQueue, how: ReadOffsetType) -> int | None:
        """Return the offset; None when memory, or the broker, has none."""
        if how is not ReadOffsetType.READ_FROM_STORE:
            known = self._table.read(queue)
            if known is not None or how is ReadOffsetType.READ_FROM_MEMORY:
                return known
        address = await self._instance.master(queue.broker_name, queue.topic)
        offset = await self._instance.calls.query_offset(address, self._group, queue)
        if offset is not None:
            self._table.update(queue, offset)
        return offset

    async def persist(self, queue: MessageQueue) -> None:
        """Send one queue's offset and wait for the broker's answer."""
        offset = self._table.read(queue)
        if offset is not None:
            await self.update_to_broker(queue, offset, oneway=False)

    async def persist_all(self, queues: Collection[MessageQueue]) -> None:
        """Send the offsets of these queues, one way; a failure is left to the next."""
        await asyncio.gather(*(self._send(queue) for queue in queues))

    def remove_offset(self, queue: MessageQueue) -> None:
        """Forget a queue that is no longer owned."""
        self._table.remove(queue)

    def clone_offset_table(self, topic: str | None = None) -> dict[MessageQueue, int]:
        """Return the offsets in memory, of one topic or of all."""
        return self._table.clone(topic)

    async def update_to_broker(
        self, queue: MessageQueue, offset: int, *, oneway: bool = True
    ) -> None:
        """Send one offset to the queue's master."""
        address = await self._instance.master(queue.broker_name, queue.topic)
        await self._instance.calls.update_offset(
            address, self._group, queue, offset, oneway=oneway
        )

    async def _send(self, queue: MessageQueue) -> None:
        offset = self._table.read(queue)
        if offset is None:
            return
        try:
            await self.update_to_broker(queue, offset)
        except RmqError as error:
            logger.warning(
                "group=%s queue=%s offset=%s not persisted: %s",
                self._group,
                queue,
                offset,
                error,
            )
