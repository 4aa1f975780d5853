"""The offsets of groups, per topic and queue.

There are three tables of one shape: committed offsets, which are kept on disk; pull
offsets, how far members have fetched, in memory only; and resets, offsets that an
administrator has set and that wait for the group's next pull of the queue. While a
reset waits, commits for its queue are ignored, because they still count from the old
position.

A commit may go backwards; the last one counts, as in RocketMQ. No IO and no clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rmqcore.protocol.bodies import DataVersion

from .versions import advanced

_COMMITS_PER_VERSION: Final = 500
SEPARATOR: Final = "@"

_Key = tuple[str, str]
_Table = dict[_Key, dict[int, int]]


class ConsumerOffsetTable:
    """Offsets by (topic, group), then by queue id."""

    def __init__(self) -> None:
        self._committed: _Table = {}
        self._pulled: _Table = {}
        self._resets: _Table = {}
        self._commits = 0
        self.version = DataVersion()
        self.changed = False

    def commit(
        self, group: str, topic: str, queue_id: int, offset: int, now_ms: int
    ) -> None:
        """Note what the group has consumed; the next message to consume is `offset`."""
        self._committed.setdefault((topic, group), {})[queue_id] = offset
        self.changed = True
        self._commits += 1
        if self._commits % _COMMITS_PER_VERSION == 0:
            self.version = advanced(self.version, now_ms)

    def committed(self, group: str, topic: str, queue_id: int) -> int | None:
        """Return the committed offset, or a waiting reset; None without either."""
        key = (topic, group)
        reset = self._resets.get(key)
        if reset is not None and queue_id in reset:
            return reset[queue_id]
        return self._committed.get(key, {}).get(queue_id)

    def committed_queues(self, group: str, topic: str) -> Mapping[int, int]:
        """Return the committed offset of each queue that has one."""
        return self._committed.get((topic, group), {})

    def note_pull(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Note how far the group has fetched."""
        self._pulled.setdefault((topic, group), {})[queue_id] = offset

    def pulled(self, group: str, topic: str, queue_id: int) -> int | None:
        """Return how far the group has fetched, else what it has committed."""
        offset = self._pulled.get((topic, group), {}).get(queue_id)
        return self.committed(group, topic, queue_id) if offset is None else offset

    def reset(
        self, group: str, topic: str, queue_id: int, offset: int, now_ms: int
    ) -> None:
        """Set an offset from outside; the group takes it up at its next pull."""
        self.commit(group, topic, queue_id, offset, now_ms)
        self._resets.setdefault((topic, group), {})[queue_id] = offset

    def reset_waits(self, group: str, topic: str, queue_id: int) -> bool:
        """Tell whether a reset of the queue has not been taken up yet."""
        return queue_id in self._resets.get((topic, group), {})

    def take_reset(self, group: str, topic: str, queue_id: int) -> int | None:
        """Return the reset that waits for the queue, and remove it."""
        table = self._resets.get((topic, group))
        if table is None:
            return None
        offset = table.pop(queue_id, None)
        if not table:
            del self._resets[topic, group]
        return offset

    def clone(self, source: str, target: str, topic: str) -> None:
        """Give one group the offsets that another has committed on a topic."""
        offsets = self._committed.get((topic, source))
        if offsets is not None:
            self._committed[topic, target] = dict(offsets)
            self.changed = True

    def topics_of(self, group: str) -> set[str]:
        """Return the topics that the group has committed on."""
        return {topic for topic, name in self._committed if name == group}

    def groups_of(self, topic: str) -> set[str]:
        """Return the groups that have committed on the topic."""
        return {group for name, group in self._committed if name == topic}

    def all(self) -> Iterator[tuple[str, str, Mapping[int, int]]]:
        """Yield (topic, group, offset by queue id) for everything committed."""
        for (topic, group), offsets in self._committed.items():
            yield topic, group, offsets

    def forget_topic(self, topic: str) -> None:
        """Remove every offset of a topic."""
        self._forget(topic, 0)

    def forget_group(self, group: str) -> None:
        """Remove every offset of a group."""
        self._forget(group, 1)

    def snapshot(self) -> dict[str, dict[int, int]]:
        """Return a copy of the committed offsets, by `topic@group` and queue id."""
        return {
            f"{topic}{SEPARATOR}{group}": dict(offsets)
            for (topic, group), offsets in self._committed.items()
        }

    def restore(
        self, offsets: Mapping[str, Mapping[int, int]], version: DataVersion
    ) -> None:
        """Load what an earlier run of this broker wrote to disk."""
        for name, queues in offsets.items():
            topic, _, group = name.partition(SEPARATOR)
            self._committed[topic, group] = dict(queues)
        self.version = version

    def _forget(self, name: str, position: int) -> None:
        for table in (self._committed, self._pulled, self._resets):
            for key in [key for key in table if key[position] == name]:
                del table[key]
        self.changed = True
