"""Chooses the queues sampled for the lake at a sweep, and builds their columns.

Queues with lag or traffic are sampled at each sweep of all groups, quiet ones before a
minute has passed. A sample claims the time since the queue's last sample, at most a
minute of it (`analytics.contracts.WEIGHT`); a known lag never claims time in which a
look at the queue showed that it was not known. Time that no sample claims is unknown to
every reader: a sweep was lost or late, a broker silent, a collector away. So gaps need
not be recorded, and none can be forgotten.

Columns are gathered for the whole sweep, so that they go to the writer in one call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from analytics import contracts as c
from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import QueueTable

from .ownership import Ownership, RowOwners

BUSY_MS: Final = 10_000
QUIET_MS: Final = int(c.MOST_WEIGHT * 1000)
"""The time within which queues without lag or traffic are sampled again."""
SLACK_MS: Final = 2_000
"""How far before or after their time sweeps may come."""

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


class _Last(NamedTuple):
    """When a queue was last sampled, its state then, and up to when time is claimed."""

    sampled_ms: int
    claimed_ms: int
    high: int | None
    committed: int | None


class Sampler:
    """The last samples of one group's queues.

    Create a new one whenever another collector may have sampled in between: only then
    do claims never overlap.
    """

    __slots__ = ("_alike", "_epoch", "_last", "_quiet", "span_epoch", "taken_ms")

    def __init__(self) -> None:
        self._alike: tuple[QueueTable, int] | None = None
        """The table of which all queues were last sampled together, and when. Mostly
        that is so, and nothing has to be kept of each queue."""
        self._last: dict[QueueKey, _Last] = {}
        self._quiet: tuple[QueueTable, int] | None = None
        """A table none of whose queues is busy, and when the first was sampled."""
        self.taken_ms: int | None = None
        """When samples were last taken, even if none were due."""
        self._epoch: int | None = None
        self.span_epoch: int | None = None
        """The epoch of the time claimed by the samples taken last."""

    @property
    def quiet_ms(self) -> int | None:
        """When the first queue was last sampled; None if any of them is busy.

        Until another table is taken, or another epoch, no sample is due before
        `QUIET_MS` after that.
        """
        return None if self._quiet is None else self._quiet[1]

    def take(
        self, table: QueueTable, now_ms: int, epoch: int | None = None
    ) -> list[tuple[int, float]]:
        """Return (row, seconds claimed) of the queues to sample now.

        The first sample of a queue claims nothing. When `epoch`, the running one,
        differs from last time, every queue is sampled: the time claimed until then
        belongs to the previous epoch (`span_epoch`).
        """
        self.span_epoch = epoch if self._epoch is None else self._epoch
        turned, self._epoch = self.span_epoch != epoch, epoch
        # Assume that the next sweep takes as long to come as this one did.
        apart_ms = 0 if self.taken_ms is None else now_ms - self.taken_ms
        next_ms, self.taken_ms = now_ms + apart_ms + SLACK_MS, now_ms
        if (
            self._quiet is not None
            and self._quiet[0] is table
            and not turned
            and next_ms < self._quiet[1] + QUIET_MS
        ):
            return []
        if self._alike is not None:
            together = self._take_alike(table, now_ms, next_ms, turned=turned)
            if together is not None:
                return together
            self._last, self._alike = _each(*self._alike), None
        chosen: list[tuple[int, float]] = []
        rows = zip(table.keys, table.max, table.committed, table.lag, strict=True)
        known, self._last = self._last, {}
        calm = True
        for row, (key, high, committed, lag) in enumerate(rows):
            last = known.get(key)
            if last is None:
                chosen.append((row, 0.0))
                self._last[key] = _Last(now_ms, now_ms, high, committed)
                continue
            busy = bool(lag) or (last.high, last.committed) != (high, committed)
            due = (
                now_ms + SLACK_MS >= last.sampled_ms + BUSY_MS
                if busy
                else next_ms >= last.sampled_ms + QUIET_MS
            )
            calm = calm and (due or turned or not busy)
            if due or turned:
                claimed_ms = min(max(0, now_ms - last.claimed_ms), QUIET_MS)
                chosen.append((row, claimed_ms / 1000))
                self._last[key] = _Last(now_ms, now_ms, high, committed)
            elif lag is None:
                # The next sample must not claim time in which this was not known.
                self._last[key] = last._replace(claimed_ms=now_ms)
            else:
                self._last[key] = last
        self._quiet = None
        if calm and table.lag.complete and not any(table.lag.values):
            sampled = (last.sampled_ms for last in self._last.values())
            self._quiet = table, min(sampled, default=now_ms)
        if len(chosen) == len(table):
            self._alike, self._last = (table, now_ms), {}
        return chosen

    def _take_alike(
        self, table: QueueTable, now_ms: int, next_ms: int, *, turned: bool
    ) -> list[tuple[int, float]] | None:
        """Return the samples where all queues are due, or none; None where some are."""
        assert self._alike is not None  # noqa: S101 - the caller has looked
        before, sampled_ms = self._alike
        if not table.lag.complete or table.keys != before.keys:
            return None
        busy = _busy(before, table)
        none, every = not any(busy), all(busy)
        soon = now_ms + SLACK_MS >= sampled_ms + BUSY_MS
        late = next_ms >= sampled_ms + QUIET_MS
        all_due = turned or ((soon or none) and (late or every))
        if not all_due and ((soon and not none) or (late and not every)):
            return None
        if all_due:
            self._alike = table, now_ms
        calm = (all_due or none) and not any(table.lag.values)
        self._quiet = (table, self._alike[1]) if calm else None
        if not all_due:
            return []
        claimed_ms = min(max(0, now_ms - sampled_ms), QUIET_MS)
        return [(row, claimed_ms / 1000) for row in range(len(table))]


def _each(table: QueueTable, at_ms: int) -> dict[QueueKey, _Last]:
    """Return what is kept of each queue of a table that was sampled as a whole."""
    rows = zip(table.keys, table.max, table.committed, strict=True)
    return {key: _Last(at_ms, at_ms, high, done) for key, high, done in rows}


def _busy(before: QueueTable, now: QueueTable) -> Sequence[int]:
    """Tell of each queue whether it lags, or has moved."""
    if now.max is before.max and now.committed is before.committed:
        return now.lag.values
    return [
        lag or high != old_high or done != old_done
        for lag, high, old_high, done, old_done in zip(
            *(now.lag.values, now.max, before.max, now.committed, before.committed),
            strict=True,
        )
    ]


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
        span_epoch: int | None = None,
    ) -> None:
        """Add the chosen rows of one group.

        `span_epoch` is that of the time claimed, where it is not `epoch`: such samples
        belong to it and name no owner, since the owner may have changed.
        """
        if not chosen:
            return
        columns = self.columns
        turned = span_epoch is not None and span_epoch != epoch
        if not turned and len(chosen) == len(table):
            self._add_all(group, table, [weight for _row, weight in chosen], epoch)
            columns[c.OWNER] += _all_owners(ownership, len(table))
            return
        for row, weight in chosen:
            past = turned and weight > 0
            topic, broker, queue_id = table.keys[row]
            columns[c.GROUP].append(group)
            columns[c.TOPIC].append(topic)
            columns[c.BROKER].append(broker)
            columns[c.QUEUE_ID].append(queue_id)
            columns[c.WEIGHT].append(weight)
            columns[c.MIN].append(table.min[row])
            columns[c.MAX].append(table.max[row])
            columns[c.COMMITTED].append(table.committed[row])
            columns[c.EPOCH].append(span_epoch if past else epoch)
            columns[c.PULLED].append(table.pulled[row])
            columns[c.LAG_MS].append(table.lag_ms[row])
            columns[c.OWNER].append(None if past else _owner(ownership, row))

    def _add_all(
        self, group: str, table: QueueTable, weights: list[float], epoch: int | None
    ) -> None:
        """Add all rows of a group, without their owners."""
        columns, count = self.columns, len(table)
        columns[c.GROUP] += [group] * count
        topics, brokers, queue_ids = zip(*table.keys, strict=True)
        columns[c.TOPIC] += topics
        columns[c.BROKER] += brokers
        columns[c.QUEUE_ID] += queue_ids
        columns[c.WEIGHT] += weights
        columns[c.MIN] += table.min
        columns[c.MAX] += table.max
        columns[c.COMMITTED] += table.committed
        columns[c.EPOCH] += [epoch] * count
        columns[c.PULLED] += table.pulled
        columns[c.LAG_MS] += table.lag_ms


def _owner(ownership: Ownership | None, row: int) -> str | None:
    if ownership is None or not ownership.divided:
        return None
    return _sole(ownership.rows[row])


def _all_owners(ownership: Ownership | None, rows: int) -> Iterable[str | None]:
    if ownership is None or not ownership.divided:
        return [None] * rows
    return map(_sole, ownership.rows[:rows])


def _sole(row: RowOwners) -> str | None:
    """Return the only owner of a queue, if members have reported it."""
    if row.source != "reported" or len(row.owners) != 1:
        return None
    return row.owners[0]
