"""Builds the document of a cluster's topics from a sweep and what is kept of earlier.

A broker that is away keeps the values that it last told, with their time; they are part
of no sum. What is kept for each topic is bounded: eleven columns of offsets, which
snapshots share, and 30 numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dashboard.live.documents import OverviewRow, Status
from dashboard.live.topic_documents import (
    TopicBroker,
    TopicGroup,
    TopicRow,
    Topics,
    TopicType,
)
from rmqcore.model.columns import Column, QueueKey, Reason
from rmqcore.model.mapping import LogicalPiece
from rmqcore.model.route import QueueData
from rmqcore.model.snapshot import ClusterSnapshot, TopicKind, TopicSnapshot
from rmqcore.model.topic import Perm

from .group_watch import GroupWatch
from .topic_groups import TopicGroups
from .topic_status import differences, topic_status
from .topic_traffic import RATE_MS, HourTrend, Mark, TopicTraffic
from .unread import Unread, unread_by_place

QUEUES_LISTED: Final = 256
"""Queues that are listed of a topic on one broker; sums are of all."""
GROUPS_LISTED: Final = 50

KINDS: Final[Mapping[TopicKind, TopicType]] = {
    TopicKind.NORMAL: "normal",
    TopicKind.RETRY: "retry",
    TopicKind.DEAD_LETTER: "dlq",
}


_NOTHING: Final = Unread()
_NO_GROUPS: Final[list[TopicGroup]] = []


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a topic's row is made of, besides its traffic."""

    topic: TopicSnapshot
    groups: list[TopicGroup]
    judged: bool
    system: bool

    def is_same(self, other: _Seen) -> bool:
        """Tell whether the other leads to the same row while nothing comes."""
        return (
            self.topic is other.topic
            and self.groups is other.groups
            and self.judged == other.judged
            and self.system == other.system
        )


@dataclass(frozen=True, slots=True)
class _Still:
    """The row of a topic to which nothing comes; only its trend will be new."""

    seen: _Seen
    row: TopicRow


class TopicBook:
    """The topics of one cluster, sweep after sweep."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._traffic: dict[str, TopicTraffic] = {}
        self._groups = TopicGroups()
        self._still: dict[str, _Still] = {}
        self._shown: dict[str, TopicRow] = {}
        self._shown_ms = 0

    @property
    def names(self) -> Collection[str]:
        """The topics of the last document."""
        return self._shown.keys()

    def restore(self, earlier: Topics) -> None:
        """Continue from what an earlier leader published."""
        self._shown = {row["topic"]: row for row in earlier["topics"]}
        self._shown_ms = earlier["taken_at"]

    def take(
        self,
        snapshot: ClusterSnapshot,
        watches: Mapping[str, GroupWatch],
        rows: Mapping[str, OverviewRow],
    ) -> Topics:
        """Return the document of one sweep of all groups."""
        groups = self._groups.take(watches, rows)
        waiting = {name: watches[name] for name in self._groups.waiting}
        unread = unread_by_place(waiting, rows)
        judged = snapshot.groups.keys() <= self._groups.names
        shown = {
            name: self._row(
                topic, groups.get(name, _NO_GROUPS), snapshot, judged=judged
            )
            for name, topic in snapshot.topics.items()
        }
        for row in shown.values():
            _add_unread(row, unread)
        for name, brokers in snapshot.system_topics.items():
            if name not in shown:
                shown[name] = _unasked(name, brokers)
        self._traffic = {n: t for n, t in self._traffic.items() if n in shown}
        self._still = {n: each for n, each in self._still.items() if n in shown}
        self._shown, self._shown_ms = shown, snapshot.taken_at_ms
        return {
            "cluster": self._cluster,
            "taken_at": snapshot.taken_at_ms,
            "topics": [shown[name] for name in sorted(shown)],
        }

    def _row(
        self,
        topic: TopicSnapshot,
        groups: list[TopicGroup],
        snapshot: ClusterSnapshot,
        *,
        judged: bool,
    ) -> TopicRow:
        """Return a topic's row; `judged` says that all groups have been looked at.

        It is the last one while nothing comes and its groups show the same.
        """
        traffic = self._traffic.get(topic.name)
        if traffic is None:
            traffic = self._traffic[topic.name] = self._begin(topic)
        at_ms = snapshot.taken_at_ms
        traffic.add(Mark(at_ms, topic.keys, _arrived(topic)))
        system = topic.name in snapshot.system_topics
        seen = _Seen(topic, groups, judged=judged, system=system)
        still = self._still.pop(topic.name, None)
        if traffic.stands_still:
            if still is not None and still.seen.is_same(seen):
                still.row["trend"] = traffic.trend.points(at_ms)
                still.row["status"] = topic_status(still.row, complete=True)
                self._still[topic.name] = still
                return still.row
            row = self._new_row(seen, traffic, at_ms)
            self._still[topic.name] = _Still(seen, row)
            return row
        return self._new_row(seen, traffic, at_ms)

    def _new_row(self, seen: _Seen, traffic: TopicTraffic, at_ms: int) -> TopicRow:
        topic, groups = seen.topic, seen.groups
        flow = traffic.flow(RATE_MS)
        rates = flow.rates() if flow else [None] * len(topic.keys)
        known = [rate for rate in rates if rate is not None]
        writable = len(topic.keys) if topic.is_static else _writable(topic.brokers)
        ages = [each["oldest_ms"] for each in groups if each["lag"] != 0]
        row: TopicRow = {
            "topic": topic.name,
            "kind": "system" if seen.system else KINDS[topic.kind],
            "message_type": _type(topic.brokers),
            "status": {"level": "ok", "word": "healthy"},
            "brokers": list(self._brokers(topic, rates)),
            "queues": len(topic.keys),
            "held": _held(topic),
            "rate_in": round(sum(known), 1) if known else None,
            "rate_partial": len(known) < len(rates),
            "skew": traffic.skew(writable),
            "hot": [
                {"broker": key[1], "queue_id": key[2], "share": share, "since": since}
                for key, share, since in traffic.hot(writable)
            ],
            "trend": traffic.trend.points(at_ms),
            "quiet_since": traffic.quiet_since,
            "differs": differences(topic.brokers, static=topic.is_static),
            "groups": groups,
            "group_count": len(groups),
            "groups_known": seen.judged and topic.max.complete,
            "oldest_ms": max((age for age in ages if age is not None), default=None),
            "oldest_partial": any(g["oldest_partial"] for g in groups),
        }
        if topic.is_static:
            row["leaders"] = _leaders(topic)
        row["status"] = topic_status(row, complete=topic.max.complete)
        row["groups"] = groups[:GROUPS_LISTED]
        if not ages and groups and not row["oldest_partial"]:
            row["oldest_ms"] = 0
        return row

    def _begin(self, topic: TopicSnapshot) -> TopicTraffic:
        shown = self._shown.get(topic.name)
        if shown is None or shown["kind"] == "system":
            return TopicTraffic()
        return TopicTraffic(
            HourTrend(shown["trend"], self._shown_ms),
            shown["quiet_since"],
            _last_mark(shown, topic, self._shown_ms),
        )

    def _brokers(
        self, topic: TopicSnapshot, rates: list[float | None]
    ) -> Iterator[TopicBroker]:
        shown = self._shown.get(topic.name)
        before = {b["name"]: b for b in shown["brokers"]} if shown else {}
        for name, start, end in _spans(topic.keys):
            entry = _entry(topic, name, start, end)
            entry["rate"] = rates[start : start + len(entry["ids"])]
            last = before.get(name)
            if entry["reason"] and last and last["max"]:
                entry["ids"], entry["rate"] = last["ids"], [None] * len(last["ids"])
                entry["min"], entry["max"] = last["min"], last["max"]
                entry["as_of"] = last["as_of"] or self._shown_ms
                if "held" in entry:
                    entry["held"] = [None] * len(last["ids"])
            yield entry


def _entry(topic: TopicSnapshot, name: str, start: int, end: int) -> TopicBroker:
    stop = min(end, start + QUEUES_LISTED)
    # The logical queues of one static topic may be on brokers of which one is silent.
    told = topic.is_static and any(
        topic.max[row] is not None for row in range(start, stop)
    )
    reason = None if told else topic.max.reason(start)
    if topic.is_static:
        data = _logical(name, end - start, topic.brokers)
    else:
        data = topic.brokers[name]
    entry: TopicBroker = {
        "name": name,
        "read": data.read_queue_nums,
        "write": data.write_queue_nums,
        "perm": int(data.perm),
        "message_type": data.message_type,
        "ids": [key[2] for key in topic.keys[start:stop]],
        "min": [] if reason else _listed(topic.min, start, stop),
        "max": [] if reason else _listed(topic.max, start, stop),
        "rate": [],
        "reason": reason.value if reason else None,
        "as_of": None,
        "left_out": end - stop,
    }
    if topic.is_static:
        entry["held"] = [_held_of(each) for each in topic.pieces[start:stop]]
    return entry


def _logical(name: str, queues: int, brokers: Mapping[str, QueueData]) -> QueueData:
    """Return what holds of the logical queues of a static topic, of all its brokers."""
    perm = Perm.NONE
    for each in brokers.values():
        perm |= each.perm
    return QueueData(name, queues, queues, perm, message_type=_type(brokers))


def _leaders(topic: TopicSnapshot) -> dict[str, int]:
    """Return how many logical queues each broker of a static topic leads."""
    found = dict.fromkeys(topic.brokers, 0)
    for pieces in topic.pieces:
        if pieces:
            name = pieces[-1].item.broker_name
            found[name] = found.get(name, 0) + 1
    return found


def _held_of(pieces: Sequence[LogicalPiece]) -> int | None:
    """Return how many messages lie in a logical queue, which has gaps."""
    held = 0
    for piece in pieces:
        low, end = piece.low, piece.physical_end
        if low is None or end is None:
            return None
        held += max(0, end - max(low, piece.item.start_offset))
    return held


def _arrived(topic: TopicSnapshot) -> Column:
    """Return what grows by one with each message: of logical queues, not the offset."""
    if not topic.is_static:
        return topic.max
    return Column.of(_arrived_in(pieces) for pieces in topic.pieces)


def _arrived_in(pieces: Sequence[LogicalPiece]) -> int | Reason:
    arrived = 0
    for piece in pieces:
        if piece.physical_end is None:
            return Reason.NO_ANSWER
        arrived += piece.physical_end - piece.item.start_offset
    return arrived


def _add_unread(row: TopicRow, unread: Mapping[tuple[str, str], Unread]) -> None:
    for broker in row["brokers"]:
        found = unread.get((row["topic"], broker["name"]), _NOTHING)
        broker["unread"] = {
            "oldest_ms": found.oldest_ms,
            "partial": found.partial,
            "lost": found.lost,
        }


def _listed(column: Column, start: int, stop: int) -> list[int | None]:
    if column.complete:
        return list(column.values[start:stop])
    return [column[row] for row in range(start, stop)]


def _spans(keys: tuple[QueueKey, ...]) -> Iterator[tuple[str, int, int]]:
    """Return each broker with its first row and the one after its last."""
    start = 0
    for row in range(1, len(keys) + 1):
        if row == len(keys) or keys[row][1] != keys[start][1]:
            yield keys[start][1], start, row
            start = row


def _writable(brokers: Mapping[str, QueueData]) -> int:
    return sum(b.write_queue_nums for b in brokers.values() if Perm.WRITE in b.perm)


def _type(brokers: Mapping[str, QueueData]) -> str | None:
    types = {each.message_type or "NORMAL" for each in brokers.values()}
    return types.pop() if len(types) == 1 else None


def _held(topic: TopicSnapshot) -> int | None:
    if topic.is_static:
        held = [_held_of(pieces) for pieces in topic.pieces]
        return None if None in held else sum(each or 0 for each in held)
    if not (topic.max.complete and topic.min.complete):
        return None
    return topic.max.total() - topic.min.total()


def _last_mark(shown: TopicRow, topic: TopicSnapshot, at_ms: int) -> Mark | None:
    if topic.is_static:
        return None
    values = [
        value
        for broker in shown["brokers"]
        if not broker["reason"]
        for value in broker["max"]
    ]
    if len(values) != len(topic.keys) or None in values:
        return None
    return Mark(at_ms, topic.keys, Column.of(v for v in values if v is not None))


def _unasked(name: str, brokers: Mapping[str, QueueData]) -> TopicRow:
    """Return the row of a topic of RocketMQ's own, whose offsets are not asked for."""
    entries: list[TopicBroker] = [
        {
            "name": each,
            "read": data.read_queue_nums,
            "write": data.write_queue_nums,
            "perm": int(data.perm),
            "message_type": data.message_type,
            "ids": [],
            "min": [],
            "max": [],
            "rate": [],
            "reason": "not_asked",
            "as_of": None,
            "left_out": 0,
        }
        for each, data in brokers.items()
    ]
    status: Status = {"level": "ok", "word": "not_measured"}
    return {
        "topic": name,
        "kind": "system",
        "message_type": _type(brokers),
        "status": status,
        "brokers": entries,
        "queues": sum(max(b["read"], b["write"]) for b in entries),
        "held": None,
        "rate_in": None,
        "rate_partial": True,
        "skew": None,
        "hot": [],
        "trend": [],
        "quiet_since": None,
        "differs": differences(brokers),
        "groups": [],
        "group_count": 0,
        "oldest_ms": None,
        "oldest_partial": True,
    }
