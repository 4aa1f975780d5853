"""Offsets of a clustering member: kept by the brokers of its queues (D4, A3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

from rmqcore.client.instance.client_instance import ClientInstance
from rmqcore.errors import RmqError
from rmqcore.model import MessageQueue
from rmqcore.model.mapping import is_logical
from rmqcore.offsets import FirstCommits, OffsetStore

logger = logging.getLogger(__name__)


class RemoteOffsetStore(OffsetStore):
    """The broker store of one group of one client. Belongs to one event loop."""

    def __init__(self, instance: ClientInstance, group: str) -> None:
        super().__init__()
        self._instance = instance
        self._group = group
        self._first = FirstCommits()

    async def load(self) -> None:
        """Do nothing: offsets are read queue by queue, when a queue is taken."""

    async def persist(self, queue: MessageQueue) -> None:
        """Send one queue's offset and wait for the broker's answer."""
        offset = self._offsets.get(queue)
        if offset is not None:
            await self._send(queue, offset, oneway=False)

    async def persist_all(self, queues: Collection[MessageQueue]) -> None:
        """Send the offsets of these queues, one way; a failure is left to the next."""
        await asyncio.gather(
            *(self._try(queue, offset) for queue, offset in self._known(queues).items())
        )

    async def _read(self, queue: MessageQueue) -> int | None:
        calls = self._instance.calls
        return await self._instance.at_master(
            queue, lambda address: calls.query_offset(address, self._group, queue)
        )

    async def _send(self, queue: MessageQueue, offset: int, *, oneway: bool) -> None:
        async def commit(address: str) -> None:
            await self._first.take_turn(
                (address, queue.topic),
                lambda is_first: self._instance.calls.update_offset(
                    address, self._group, queue, offset, oneway=oneway and not is_first
                ),
            )

        await self._instance.at_master(queue, commit)

    async def _try(self, queue: MessageQueue, offset: int) -> None:
        try:
            # Only an answer tells that a logical queue has moved.
            await self._send(queue, offset, oneway=not is_logical(queue.broker_name))
        except RmqError as error:
            logger.warning(
                "group=%s queue=%s offset=%s not persisted: %s",
                self._group,
                queue,
                offset,
                error,
            )
