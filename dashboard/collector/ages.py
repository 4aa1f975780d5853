"""The age of the first unconsumed message of each queue, watched or not.

Sweeps of all groups do not ask for it, since a broker has to read a message to tell
(303). One answer holds for as long as nothing is committed, since the same message then
only grows older. After a commit a new measure is needed, and the old one stays valid
for a minute. So after each sweep a bounded number of questions goes out: half of them
for the groups that lag most, half for those that have waited longest to be asked about.

A queue without lag has an age of 0, and no broker needs to be asked.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from rmqcore.model.columns import Column, QueueKey, Reason
from rmqcore.model.snapshot import QueueTable

STANDS_MS: Final = 60_000
"""How long an age counts after another message has become the first."""

ASKED_AGAIN_MS: Final = 45_000
"""When a measure is repeated, so that the next one arrives before it expires."""

QUESTIONS: Final = 200
"""Questions asked after a sweep of all groups: each a group, a topic and a broker."""


class _Measure(NamedTuple):
    """An age, when it was told, and the committed offset at that time."""

    at_ms: int
    age_ms: int
    committed: int | None


class Ages:
    """The known ages of one group's queues."""

    __slots__ = ("_asked", "_known")

    def __init__(self) -> None:
        self._known: dict[QueueKey, _Measure] = {}
        self._asked: dict[tuple[str, str], int] = {}

    def tell(self, table: QueueTable, told: Mapping[QueueKey, int], at_ms: int) -> None:
        """Take the ages that brokers told; `table` holds the offsets committed then.

        If nothing waited there was no message, and the next one begins at 0.
        """
        for row, key in enumerate(table.keys):
            age = told.get(key)
            if age is not None and table.lag[row]:
                self._known[key] = _Measure(at_ms, age, table.committed[row])

    def fill(self, table: QueueTable, at_ms: int) -> QueueTable:
        """Return the table with all ages that are known at that time.

        Ages already in the table are measures.
        """
        if not any(table.lag):
            self._known.clear()
            self._asked.clear()
            if table.lag.complete:
                return table.with_ages(_zeros(len(table)))
        known = self._known
        self._known = {key: known[key] for key in table.keys if key in known}
        if len(self._asked) > len(table):
            places = {(topic, broker) for topic, broker, _queue_id in table.keys}
            self._asked = {p: at for p, at in self._asked.items() if p in places}
        if table.lag_ms.known_rows:
            ages = zip(table.keys, table.lag_ms, strict=True)
            self.tell(table, {key: age for key, age in ages if age is not None}, at_ms)
        return table.with_ages(Column.of(self._rows(table, at_ms)))

    def due(self, table: QueueTable, at_ms: int) -> dict[tuple[str, str], int]:
        """Return the topics and brokers to ask, with when they were last asked or 0."""
        found: dict[tuple[str, str], int] = {}
        for row, (topic, broker, _queue_id) in enumerate(table.keys):
            place = topic, broker
            asked_ms = self._asked.get(place, 0)
            if place in found or at_ms - asked_ms < ASKED_AGAIN_MS:
                continue
            if table.lag[row] and self._is_due(table, row, at_ms):
                found[place] = asked_ms
        return found

    def asked(self, places: Iterable[tuple[str, str]], at_ms: int) -> None:
        """Remember that topics and brokers were asked, whatever they told."""
        self._asked.update(dict.fromkeys(places, at_ms))

    def _rows(self, table: QueueTable, at_ms: int) -> Iterator[int | Reason]:
        for row, lag in enumerate(table.lag):
            if not lag:
                yield 0 if lag == 0 else _reason(table.lag, row)
            elif _is_expired(table, row):
                yield Reason.EXPIRED
            else:
                yield self._age(table, row, at_ms)

    def _age(self, table: QueueTable, row: int, at_ms: int) -> int | Reason:
        measure = self._known.get(table.keys[row])
        if measure is not None:
            passed_ms = max(0, at_ms - measure.at_ms)
            if measure.committed == table.committed[row]:
                return measure.age_ms + passed_ms
            if passed_ms <= STANDS_MS:
                return measure.age_ms
        return _reason(table.lag_ms, row)

    def _is_due(self, table: QueueTable, row: int, at_ms: int) -> bool:
        if _is_expired(table, row):
            return False
        measure = self._known.get(table.keys[row])
        return measure is None or (
            measure.committed != table.committed[row]
            and at_ms - measure.at_ms >= ASKED_AGAIN_MS
        )


@dataclass(frozen=True, slots=True)
class Question:
    """A group's topic on a broker whose ages are due, with the figures that rank it."""

    group: str
    topic: str
    broker: str
    lag: int
    asked_at_ms: int


def choose_questions(due: Iterable[Question], limit: int = QUESTIONS) -> list[Question]:
    """Return the questions to ask: the most lag first, then the longest wait."""
    by_lag = sorted(due, key=lambda each: (-each.lag, each.asked_at_ms))
    first, rest = by_lag[: limit // 2], by_lag[limit // 2 :]
    rest.sort(key=lambda each: each.asked_at_ms)
    return first + rest[: limit - len(first)]


def oldest_of(
    table: QueueTable, within: Iterable[int] | None = None
) -> tuple[int | None, bool]:
    """Return the age (ms) of a group's oldest message, and whether it may be older.

    `within` are the rows that count; without them, all do.
    """
    places = range(len(table)) if within is None else within
    if table.lag.complete and not any(table.lag.values):
        return 0 if len(table) else None, False
    rows = [row for row in places if table.waiting(row) != 0]
    if not rows:
        return 0 if len(table) else None, False
    known = [age for row in rows if (age := table.lag_ms[row]) is not None]
    return max(known, default=None), len(known) < len(rows)


def _is_expired(table: QueueTable, row: int) -> bool:
    low, committed = table.min[row], table.committed[row]
    return low is not None and committed is not None and committed < low


def _reason(column: Column, row: int) -> Reason:
    return column.reason(row) or Reason.NOT_ASKED


@lru_cache(maxsize=1024)
def _zeros(length: int) -> Column:
    return Column(array("q", bytes(8 * length)))
