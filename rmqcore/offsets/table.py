"""Offsets in memory, shared by every store.

An update may be limited to increases: results of concurrent listeners arrive in any
order, and a late one must not turn the progress back. A frozen offset ignores updates
until it is removed: after a reset, listeners still at work must not undo it.
"""

from __future__ import annotations

from rmqcore.model import MessageQueue


class OffsetTable:
    """The offset of the next message to consume, by queue."""

    __slots__ = ("_frozen", "_offsets")

    def __init__(self) -> None:
        self._offsets: dict[MessageQueue, int] = {}
        self._frozen: set[MessageQueue] = set()

    def update(
        self, queue: MessageQueue, offset: int, *, increase_only: bool = False
    ) -> bool:
        """Set an offset; true when the table changed."""
        known = self._offsets.get(queue)
        if known == offset or (self._frozen and queue in self._frozen):
            return False
        if increase_only and known is not None and offset < known:
            return False
        self._offsets[queue] = offset
        return True

    def update_and_freeze(self, queue: MessageQueue, offset: int) -> None:
        """Set an offset that stays until the queue is removed."""
        self._offsets[queue] = offset
        self._frozen.add(queue)

    def read(self, queue: MessageQueue) -> int | None:
        """Return the offset, or None when the table has none."""
        return self._offsets.get(queue)

    def remove(self, queue: MessageQueue) -> None:
        """Forget a queue, its frozen state included."""
        self._offsets.pop(queue, None)
        self._frozen.discard(queue)

    def clone(self, topic: str | None = None) -> dict[MessageQueue, int]:
        """Return a copy, of one topic or of all."""
        if topic is None:
            return dict(self._offsets)
        return {
            queue: offset
            for queue, offset in self._offsets.items()
            if queue.topic == topic
        }
