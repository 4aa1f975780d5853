"""The offset store: a group's progress in memory, and its storage (behaviour D1).

It owns the table of offsets. The two kinds decide where offsets are persisted: in the
local file of broadcasting members, or at the brokers of clustering ones.

An update may be limited to increases: results of concurrent listeners arrive in any
order, and a late one must not set the progress back. A frozen offset ignores updates
until it is removed: after a reset, listeners still at work must not undo it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from enum import Enum

from rmqcore.model import MessageQueue


class ReadOffsetType(Enum):
    """Where an offset is read from."""

    READ_FROM_MEMORY = "memory"
    READ_FROM_STORE = "store"
    MEMORY_FIRST_THEN_STORE = "memory, then store"


class OffsetStore(ABC):
    """Progress of one group on one client, in memory and persisted.

    An offset is that of the next message to consume. None means that nothing was ever
    committed for the queue. When a store cannot know, it raises `RmqError`, which must
    not be taken for None: the group would start anew.
    """

    def __init__(self) -> None:
        self._offsets: dict[MessageQueue, int] = {}
        self._frozen: set[MessageQueue] = set()

    # In memory

    def update_offset(
        self, queue: MessageQueue, offset: int, *, increase_only: bool = False
    ) -> None:
        """Note progress in memory."""
        if self._frozen and queue in self._frozen:
            return
        if increase_only and offset < self._offsets.get(queue, offset):
            return
        self._offsets[queue] = offset

    def update_and_freeze_offset(self, queue: MessageQueue, offset: int) -> None:
        """Set the offset and ignore updates until it is removed."""
        self._offsets[queue] = offset
        self._frozen.add(queue)

    def remove_offset(self, queue: MessageQueue) -> None:
        """Forget a queue that is no longer owned, including its frozen state."""
        self._offsets.pop(queue, None)
        self._frozen.discard(queue)

    def clone_offset_table(self, topic: str | None = None) -> dict[MessageQueue, int]:
        """Return a copy of the offsets in memory, of one topic or of all."""
        return {
            queue: offset
            for queue, offset in self._offsets.items()
            if topic is None or queue.topic == topic
        }

    # Persisted

    async def read_offset(self, queue: MessageQueue, how: ReadOffsetType) -> int | None:
        """Return the offset; None when memory has none, or none was ever committed."""
        if how is not ReadOffsetType.READ_FROM_STORE:
            known = self._offsets.get(queue)
            if known is not None or how is ReadOffsetType.READ_FROM_MEMORY:
                return known
        offset = await self._read(queue)
        if offset is not None:
            self.update_offset(queue, offset)
        return offset

    @abstractmethod
    async def load(self) -> None:
        """Read the persisted offsets into memory."""

    @abstractmethod
    async def persist(self, queue: MessageQueue) -> None:
        """Persist one queue's offset, if memory knows it."""

    @abstractmethod
    async def persist_all(self, queues: Collection[MessageQueue]) -> None:
        """Persist the offsets of these queues, as far as memory knows them."""

    @abstractmethod
    async def _read(self, queue: MessageQueue) -> int | None:
        """Return the persisted offset of one queue."""

    def _known(self, queues: Iterable[MessageQueue]) -> dict[MessageQueue, int]:
        offsets = self._offsets
        return {queue: offsets[queue] for queue in queues if queue in offsets}
