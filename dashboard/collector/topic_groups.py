"""Which groups consume a topic, and how far behind they are on it.

A group's queue table is sorted by topic, and most groups have one topic: their sums are
taken in bulk.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping
from itertools import groupby
from typing import NamedTuple

from dashboard.live.documents import OverviewRow
from dashboard.live.topic_documents import TopicGroup
from rmqcore.model.snapshot import GroupSnapshot, QueueTable

from .ages import oldest_of
from .group_watch import GroupWatch

WORST_FIRST = ("crit", "warn", "unk", "ok")


class TopicGroups:
    """The groups of each topic; what is the same as at the last sweep is kept."""

    def __init__(self) -> None:
        self._known: dict[str, _Entries] = {}
        self._by_topic: dict[str, dict[str, TopicGroup]] = {}
        self._sorted: dict[str, list[TopicGroup]] = {}

    @property
    def names(self) -> KeysView[str]:
        """The groups of the last sweep of which a row and a sight are known."""
        return self._known.keys()

    @property
    def waiting(self) -> list[str]:
        """Those of them for which messages wait, or may wait."""
        return [name for name, each in self._known.items() if each.waits]

    def take(
        self, watches: Mapping[str, GroupWatch], rows: Mapping[str, OverviewRow]
    ) -> Mapping[str, list[TopicGroup]]:
        """Return the groups of each topic, the worst first.

        A list is the same object for as long as nothing in it changes.
        """
        before, self._known = self._known, {}
        for name, watch in watches.items():
            row, sight = rows.get(name), watch.sight
            if row is None or sight is None:
                continue
            known = before.get(name)
            if known is None or known.row is not row or known.group is not sight.group:
                known = self._take(known, row, sight.group)
            self._known[name] = known
        for name in before.keys() - self._known.keys():
            self._drop(name, before[name])
        for topic in self._by_topic.keys() - self._sorted.keys():
            entries = self._by_topic[topic].values()
            self._sorted[topic] = sorted(entries, key=_badness)
        return self._sorted

    def _take(
        self, known: _Entries | None, row: OverviewRow, group: GroupSnapshot
    ) -> _Entries:
        """Take a group's entries by topic, made anew only where they may differ."""
        if (
            known is not None
            and known.group is group
            and _leads_to_same(known.row, row)
        ):
            return known._replace(row=row)
        name, lag = group.name, group.queues.lag
        by_topic = {
            topic: _entry(group, row, topic, part)
            for topic, part in _parts(group.queues)
        }
        if known is not None:
            self._drop(name, known)
        for topic, entry in by_topic.items():
            self._by_topic.setdefault(topic, {})[name] = entry
            self._sorted.pop(topic, None)
        waits = not lag.complete or any(lag.values)
        return _Entries(row, group, tuple(by_topic), waits)

    def _drop(self, name: str, known: _Entries) -> None:
        for topic in known.topics:
            del self._by_topic[topic][name]
            self._sorted.pop(topic, None)
            if not self._by_topic[topic]:
                del self._by_topic[topic]


class _Entries(NamedTuple):
    """What a group's entries were made of, and the topics that they are of."""

    row: OverviewRow
    group: GroupSnapshot
    topics: tuple[str, ...]
    waits: bool


def _leads_to_same(before: OverviewRow, row: OverviewRow) -> bool:
    """Tell whether two rows of the same group lead to the same entries."""
    return (
        before["kind"] == row["kind"]
        and before["members"] == row["members"]
        and before["lag_partial"] == row["lag_partial"]
        and before["status"] == row["status"]
    )


def _badness(each: TopicGroup) -> tuple[int, int, str]:
    return WORST_FIRST.index(each["level"]), -(each["lag"] or 0), each["group"]


def _parts(table: QueueTable) -> Iterator[tuple[str, QueueTable | list[int]]]:
    """Return each topic with its rows, or the table where it is the only topic."""
    keys = table.keys
    if keys and keys[0][0] == keys[-1][0]:
        yield keys[0][0], table
        return
    for topic, rows in groupby(range(len(keys)), key=lambda row: keys[row][0]):
        yield topic, list(rows)


def _entry(
    group: GroupSnapshot, row: OverviewRow, topic: str, part: QueueTable | list[int]
) -> TopicGroup:
    if isinstance(part, list):
        lag, partial = _sum(group.queues, part)
        oldest, older = oldest_of(group.queues, part)
    else:
        lag = part.lag.total() if part.lag.known_rows else None
        partial = row["lag_partial"]
        oldest, older = oldest_of(part)
    return {
        "group": group.name,
        "kind": row["kind"],
        "reads": _reads(group, row, topic),
        "members": row["members"],
        "lag": lag,
        "partial": partial,
        "oldest_ms": oldest,
        "oldest_partial": older or partial,
        "level": row["status"]["level"],
        "word": row["status"]["word"],
    }


def _sum(table: QueueTable, rows: list[int]) -> tuple[int | None, bool]:
    if table.lag.complete:
        return sum(table.lag.values[rows[0] : rows[-1] + 1]), False
    waiting = [table.waiting(row) for row in rows]
    known = [each for each in waiting if each is not None]
    return (sum(known) if known else None), None in waiting


def _reads(group: GroupSnapshot, row: OverviewRow, topic: str) -> bool | None:
    if row["members"] is None:
        return None
    subscribed = {each.topic for each in group.subscriptions}
    return bool(row["members"]) and (not subscribed or topic in subscribed)
