"""The offset store: where a group's progress is kept (behaviour D1)."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Protocol

from rmqcore.model import MessageQueue


class ReadOffsetType(Enum):
    """Where an offset is read from."""

    READ_FROM_MEMORY = "memory"
    READ_FROM_STORE = "store"
    MEMORY_FIRST_THEN_STORE = "memory, then store"


class OffsetStore(Protocol):
    """Progress of one group on one client, in memory and persisted.

    An offset is that of the next message to consume. None means that nothing was ever
    committed for the queue; whatever keeps a store from knowing raises `RmqError`, and
    must not be taken for None: the group would start anew.
    """

    async def load(self) -> None:
        """Read what was persisted into memory."""
        ...

    def update_offset(
        self, queue: MessageQueue, offset: int, *, increase_only: bool = False
    ) -> None:
        """Note progress in memory."""
        ...

    def update_and_freeze_offset(self, queue: MessageQueue, offset: int) -> None:
        """Set the offset and ignore updates until it is removed."""
        ...

    async def read_offset(self, queue: MessageQueue, how: ReadOffsetType) -> int | None:
        """Return the offset, or None when nothing was ever committed."""
        ...

    async def persist(self, queue: MessageQueue) -> None:
        """Persist one queue's offset, if memory knows it."""
        ...

    async def persist_all(self, queues: Collection[MessageQueue]) -> None:
        """Persist the offsets of these queues."""
        ...

    def remove_offset(self, queue: MessageQueue) -> None:
        """Forget a queue that is no longer owned."""
        ...

    def clone_offset_table(self, topic: str | None = None) -> dict[MessageQueue, int]:
        """Return the offsets in memory, of one topic or of all."""
        ...

    async def update_to_broker(
        self, queue: MessageQueue, offset: int, *, oneway: bool = True
    ) -> None:
        """Send one offset to the broker, if that is where they are kept."""
        ...
