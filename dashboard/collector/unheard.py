"""Finds queues read by a process that is not heard.

Of several processes with one client id a broker asks one, and its answer stands for
all. Mostly they hold the same queues. While they know different routes they do not, and
the queues of the processes that were not asked seem to have no owner. A queue whose
committed offset advances is read by some process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from rmqcore.model.columns import QueueKey, Reason
from rmqcore.model.snapshot import GroupSnapshot, QueueTable

READ_MS: Final = 15_000
"""How long a queue counts as read after a commit: clients commit every 5 s."""


class Unheard:
    """Watches one group's committed offsets, round after round."""

    __slots__ = ("_committed", "_read_ms")

    def __init__(self) -> None:
        self._committed: dict[QueueKey, int] = {}
        self._read_ms: dict[QueueKey, int] = {}

    def take(self, group: GroupSnapshot, now_ms: int) -> Collection[QueueKey]:
        """Take one round; return the queues that are read, where ids are shared.

        In other groups every process is heard, and nothing is returned.
        """
        if len({member.client_id for member in group.members}) == len(group.members):
            self._committed, self._read_ms = {}, {}
            return ()
        before = self._committed
        self._committed = dict(_known_commits(group.queues, before))
        for key, committed in self._committed.items():
            if key in before and committed > before[key]:
                self._read_ms[key] = now_ms
        self._read_ms = {
            key: at_ms
            for key, at_ms in self._read_ms.items()
            if now_ms - at_ms <= READ_MS and key in self._committed
        }
        return self._read_ms.keys()


def _known_commits(
    table: QueueTable, before: Mapping[QueueKey, int]
) -> Iterator[tuple[QueueKey, int]]:
    """Yield committed offsets, or the last known ones."""
    for row, key in enumerate(table.keys):
        committed = table.committed[row]
        if committed is not None:
            yield key, committed
        elif table.committed.reason(row) is Reason.NOTHING_COMMITTED:
            yield key, 0
        elif key in before:
            yield key, before[key]
