"""Which groups consume a topic, and how far behind they are on it.

A group's queue table is sorted by topic, and most groups have one topic: their sums are
taken in bulk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from dashboard.live.documents import OverviewRow
from dashboard.live.topic_documents import TopicGroup
from rmqcore.model.snapshot import GroupSnapshot, QueueTable

from .ages import oldest_of
from .group_watch import GroupWatch

WORST_FIRST = ("crit", "warn", "unk", "ok")


class TopicGroups:
    """The groups of each topic; a group's entries are kept while it shows the same."""

    def __init__(self) -> None:
        self._known: dict[str, _Entries] = {}

    def take(
        self, watches: Mapping[str, GroupWatch], rows: Mapping[str, OverviewRow]
    ) -> dict[str, list[TopicGroup]]:
        """Return the groups of each topic, the worst first."""
        before, self._known = self._known, {}
        found: dict[str, list[TopicGroup]] = {}
        for name, watch in watches.items():
            row, sight = rows.get(name), watch.sight
            if row is None or sight is None:
                continue
            group, known = sight.group, before.get(name)
            if known is None or known.row is not row or known.group is not group:
                known = _Entries(
                    row,
                    group,
                    [
                        (topic, _entry(group, row, topic, part))
                        for topic, part in _parts(group.queues)
                    ],
                )
            self._known[name] = known
            for topic, entry in known.by_topic:
                found.setdefault(topic, []).append(entry)
        for groups in found.values():
            groups.sort(key=_badness)
        return found


class _Entries(NamedTuple):
    """A group's entries by topic, and what they were made of."""

    row: OverviewRow
    group: GroupSnapshot
    by_topic: list[tuple[str, TopicGroup]]


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
