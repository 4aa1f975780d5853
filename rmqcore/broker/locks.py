"""Locks of queues for orderly consumption (behaviour C8, broker side).

A lock belongs to a client id, per group and queue. It lives 60 s from its last renewal;
asking again renews it; once it has expired, anybody may take it. Only its owner can
release it. Locks are kept in memory only: a restarted broker has none, and clients ask
again within 20 s.

No IO and no clock: times are arguments in ms. Cost: one look-up per queue asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rmqcore.model import MessageQueue

LOCK_EXPIRY_MS: Final = 60_000


@dataclass(slots=True)
class _Lock:
    client_id: str
    renewed_ms: int

    def expired(self, now_ms: int) -> bool:
        return now_ms - self.renewed_ms > LOCK_EXPIRY_MS


class QueueLocks:
    """Which client holds which queue of which group."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[MessageQueue, _Lock]] = {}

    def lock(
        self,
        group: str,
        client_id: str,
        queues: Iterable[MessageQueue],
        now_ms: int,
    ) -> list[MessageQueue]:
        """Lock free, own and expired queues; return the queues the client holds now."""
        table = self._groups.setdefault(group, {})
        held = []
        for queue in queues:
            lock = table.get(queue)
            if lock is None or lock.expired(now_ms):
                table[queue] = _Lock(client_id, now_ms)
            elif lock.client_id == client_id:
                lock.renewed_ms = now_ms
            else:
                continue
            held.append(queue)
        return held

    def unlock(
        self, group: str, client_id: str, queues: Iterable[MessageQueue]
    ) -> None:
        """Release those of the queues that the client holds."""
        table = self._groups.get(group)
        if table is None:
            return
        for queue in queues:
            lock = table.get(queue)
            if lock is not None and lock.client_id == client_id:
                del table[queue]
        if not table:
            del self._groups[group]

    def owner(self, group: str, queue: MessageQueue, now_ms: int) -> str | None:
        """Return the client that holds the queue, or None."""
        lock = self._groups.get(group, {}).get(queue)
        return None if lock is None or lock.expired(now_ms) else lock.client_id

    def any_held(self, group: str, now_ms: int) -> bool:
        """Tell whether the group holds any lock that has not expired."""
        table = self._groups.get(group, {})
        return any(not lock.expired(now_ms) for lock in table.values())
