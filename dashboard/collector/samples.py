"""Which queues become samples for the lake at a sweep, and as which columns.

Queues with lag or traffic are sampled at each sweep of all groups, quiet ones once a
minute. A sample's weight is the time it stands for: the seconds since the queue's last
sample, at most a minute. Columns are gathered for the whole sweep, so that they go to
the writer in one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from analytics import contracts as c
from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import QueueTable

from .ownership import Ownership

BUSY_MS: Final = 10_000
QUIET_MS: Final = 60_000
SLACK_MS: Final = 2_000
"""A sweep that comes this much early still counts as due."""

FIELDS: Final = (
    c.GROUP,
    c.TOPIC,
    c.BROKER,
    c.QUEUE_ID,
    c.WEIGHT,
    c.MIN,
    c.MAX,
    c.COMMITTED,
    c.EPOCH,
    c.PULLED,
    c.LAG_MS,
    c.OWNER,
)


class Sampler:
    """When each queue of one group was last sampled, and how it stood then."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: dict[QueueKey, tuple[int, int | None, int | None]] = {}

    def take(self, table: QueueTable, now_ms: int) -> list[tuple[int, float]]:
        """Return (row, weight in seconds) of the queues to sample now."""
        chosen: list[tuple[int, float]] = []
        rows = zip(table.keys, table.max, table.committed, table.lag, strict=True)
        known = self._last
        self._last = {}
        for row, (key, high, committed, lag) in enumerate(rows):
            last = known.get(key)
            busy = bool(lag) or last is None or last[1:] != (high, committed)
            age_ms = BUSY_MS if last is None else now_ms - last[0]
            if age_ms + SLACK_MS >= (BUSY_MS if busy else QUIET_MS):
                chosen.append((row, min(age_ms, QUIET_MS) / 1000))
                self._last[key] = (now_ms, high, committed)
            elif last is not None:
                self._last[key] = last
        return chosen


class SampleColumns:
    """The samples of one sweep over one cluster, as columns."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in FIELDS}

    def __len__(self) -> int:
        return len(self.columns[c.GROUP])

    def add(
        self,
        group: str,
        table: QueueTable,
        chosen: Sequence[tuple[int, float]],
        *,
        epoch: int | None,
        ownership: Ownership | None,
    ) -> None:
        """Add the chosen rows of one group."""
        columns = self.columns
        for row, weight in chosen:
            topic, broker, queue_id = table.keys[row]
            columns[c.GROUP].append(group)
            columns[c.TOPIC].append(topic)
            columns[c.BROKER].append(broker)
            columns[c.QUEUE_ID].append(queue_id)
            columns[c.WEIGHT].append(weight)
            columns[c.MIN].append(table.min[row])
            columns[c.MAX].append(table.max[row])
            columns[c.COMMITTED].append(table.committed[row])
            columns[c.EPOCH].append(epoch)
            columns[c.PULLED].append(table.pulled[row])
            columns[c.LAG_MS].append(table.lag_ms[row])
            columns[c.OWNER].append(_owner(ownership, row))


def _owner(ownership: Ownership | None, row: int) -> str | None:
    if ownership is None:
        return None
    owners = ownership.rows[row]
    if owners.source != "reported" or len(owners.owners) != 1:
        return None
    return owners.owners[0]
