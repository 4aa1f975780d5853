"""The rebalance timeline of a group: who held what when, over a span of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from dashboard.charts.holdings import (
    NOBODY,
    Lane,
    Moment,
    QueueKey,
    SeenEpoch,
    SeenEvent,
    lanes,
)
from dashboard.charts.lanes import (
    Band,
    Row,
    Tick,
    Window,
    bands,
    member_rows,
    place_slots,
    queue_rows,
    ticks,
)
from dashboard.collector.group_document import label_of
from dashboard.live.documents import GroupState
from dashboard.models import Cluster, Epoch, OwnershipEvent

MINUTES: Final = (5, 15, 60, 360, 1440)
DEFAULT_MINUTES: Final = 15
"""As long as members that left keep their hue."""

BY_QUEUE_UP_TO: Final = 32
"""With more queues the lanes are members, unless asked otherwise."""
MOST_LANES: Final = 128
MOST_PIECES: Final = 1_500
"""Pieces of lanes that are drawn; a page of many more is slow to make and to read."""
MOST_EVENTS: Final = 8_000
MOST_EPOCHS: Final = 1_000
EVENTS_LISTED: Final = 200
SETTLES_MS: Final = 60_000
"""A change of hands so long after an epoch began is put down to it."""

LOCK_LOST: Final = "lock_lost"


@dataclass(frozen=True, slots=True)
class EventRow:
    """One change of hands as the table lists it; `why` is the word of its cause."""

    event: SeenEvent
    why: str


@dataclass(frozen=True, slots=True)
class EpochRow:
    """One epoch as the table lists it, with who came and who went."""

    epoch: SeenEpoch
    joined: tuple[str, ...]
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything that a page of the timeline shows.

    `cut` says that events were left out because there are too many; `hidden_lanes`
    counts queues without a change that were left out.
    """

    window: Window
    now: int
    by: str
    rows: tuple[Row, ...]
    bands: tuple[Band, ...]
    ticks: tuple[Tick, ...]
    events: tuple[EventRow, ...]
    epochs: tuple[EpochRow, ...]
    lanes: tuple[Lane, ...]
    slots: Mapping[str, int]
    labels: Mapping[str, str]
    hidden_lanes: int
    hidden_events: int
    cut: bool
    gaps: int
    doubles: int


def read_timeline(
    cluster: Cluster,
    group: str,
    state: GroupState | None,
    *,
    now: int,
    minutes: int,
    until: int | None = None,
    by: str = "",
) -> Timeline:
    """Return the timeline of the `minutes` that end at `until` (ms), or now."""
    end = min(until or now, now)
    window = Window(end - minutes * 60_000, end)
    events, cut = _read_events(cluster, group, window.since)
    epochs, last_owners = _read_epochs(cluster, group, window.since)
    # Where events tell the owners, an epoch that has ended has nothing to add.
    told = {event.key for event in events}
    unchanged = {k: owners for k, owners in last_owners.items() if k not in told}
    all_lanes = lanes(
        events,
        epochs,
        unchanged | _owners_now(state),
        since=window.since,
        until=window.until,
        now=now,
    )
    slots, labels = _slots(state, epochs), _labels(state, epochs)
    wanted = by or ("queues" if len(all_lanes) <= BY_QUEUE_UP_TO else "members")
    drawn = _chosen(all_lanes) if wanted == "queues" else all_lanes
    rows = (
        queue_rows(drawn, window, slots)
        if wanted == "queues"
        else member_rows(drawn, epochs, window, slots, labels)
    )
    inside = [e for e in events if window.since < e.at.by <= window.until]
    orderly = bool(state and state["orderly"])
    listed = inside[-EVENTS_LISTED:][::-1]
    return Timeline(
        window,
        now,
        wanted,
        tuple(rows),
        tuple(bands(epochs, window)),
        tuple(ticks(window)),
        tuple(EventRow(e, _why(e, epochs, orderly=orderly)) for e in listed),
        tuple(_epoch_rows(epochs, window)),
        tuple(all_lanes),
        slots,
        labels,
        len(all_lanes) - len(drawn),
        len(inside) - len(listed),
        cut,
        sum(
            piece.owner == NOBODY and piece.certain is not None
            for lane in all_lanes
            for piece in lane.pieces
        ),
        sum(len(lane.doubles) for lane in all_lanes),
    )


def _read_events(
    cluster: Cluster, group: str, since: int
) -> tuple[list[SeenEvent], bool]:
    rows = OwnershipEvent.objects.filter(
        cluster=cluster, group=group, at_by__gte=_time(since)
    ).order_by("-at_by", "-pk")[: MOST_EVENTS + 1]
    found = [
        SeenEvent(
            (row.topic, row.broker, row.queue_id),
            row.kind,
            _moment(row.at_after, row.at_by),
            tuple(row.owners_before),
            tuple(row.owners_after),
            row.epoch,
        )
        for row in rows
    ]
    return found[:MOST_EVENTS][::-1], len(found) > MOST_EVENTS


def _read_epochs(
    cluster: Cluster, group: str, since: int
) -> tuple[list[SeenEpoch], dict[QueueKey, tuple[str, ...]]]:
    """Return the epochs, and the owners last reported in those that have ended."""
    rows = Epoch.objects.filter(cluster=cluster, group=group).exclude(
        ended_by__lt=_time(since)
    )
    found: list[SeenEpoch] = []
    owners: dict[QueueKey, tuple[str, ...]] = {}
    for row in reversed(rows.order_by("-number")[:MOST_EPOCHS]):
        found.append(_epoch(row))
        for topic, broker, number, clients in row.owners:
            owners[topic, broker, number] = tuple(clients)
    return found, owners


def _epoch(row: Epoch) -> SeenEpoch:
    ended = None if row.ended_by is None else _moment(row.ended_after, row.ended_by)
    return SeenEpoch(
        row.number,
        row.cause,
        _moment(row.began_after, row.began_by),
        ended,
        tuple(member["client_id"] for member in row.members),
        frozenset((topic, broker, number) for topic, broker, number in row.queues),
    )


def _owners_now(state: GroupState | None) -> dict[QueueKey, tuple[str, ...]]:
    if state is None:
        return {}
    return {
        (queue["topic"], queue["broker"], queue["queue_id"]): tuple(queue["owners"])
        for queue in state["queues"]
        if queue["owner_source"] == "reported"
    }


def _slots(state: GroupState | None, epochs: Sequence[SeenEpoch]) -> dict[str, int]:
    known: dict[str, int] = {}
    if state is not None:
        known = dict(state.get("past_slots", {}))
        known |= {m["client_id"]: m["slot"] for m in state["members"]}
    # The newest first: who left last is the likeliest to be looked for.
    past = [member for epoch in reversed(epochs) for member in epoch.members]
    return place_slots(known, past)


def _labels(state: GroupState | None, epochs: Sequence[SeenEpoch]) -> dict[str, str]:
    """Return short names; where two would be alike, the whole client ids."""
    found = {member: label_of(member) for epoch in epochs for member in epoch.members}
    if state is not None:
        found |= {m["client_id"]: m["label"] for m in state["members"]}
    times = Counter(found.values())
    return {c: label if times[label] == 1 else c for c, label in found.items()}


def _chosen(found: list[Lane]) -> list[Lane]:
    """Return the lanes to draw: all of a few, of many those that changed first."""
    pieces = sum(len(lane.pieces) for lane in found)
    if len(found) <= MOST_LANES and pieces <= MOST_PIECES:
        return found
    chosen: list[Lane] = []
    room = MOST_PIECES
    for lane in sorted(found, key=lambda lane: (-lane.moves, lane.key))[:MOST_LANES]:
        room -= len(lane.pieces)
        if chosen and room < 0:
            break
        chosen.append(lane)
    return sorted(chosen, key=lambda lane: lane.key)


def _why(event: SeenEvent, epochs: Sequence[SeenEpoch], *, orderly: bool) -> str:
    """Return the cause: the epoch that had begun, else a lock, else not known."""
    for epoch in reversed(epochs):
        if epoch.began.after > event.at.by:
            continue
        if event.at.after - epoch.began.by <= SETTLES_MS:
            return epoch.cause
        break
    return LOCK_LOST if orderly and event.kind == "lost" else ""


def _epoch_rows(epochs: Sequence[SeenEpoch], window: Window) -> list[EpochRow]:
    found = []
    before: tuple[str, ...] | None = None
    for epoch in epochs:
        inside = epoch.began.by < window.until
        if inside:
            old = before if before is not None else epoch.members
            found.append(
                EpochRow(
                    epoch,
                    tuple(m for m in epoch.members if m not in old),
                    tuple(m for m in old if m not in epoch.members),
                )
            )
        before = epoch.members
    return found[::-1]


def timeline_document(timeline: Timeline) -> dict[str, Any]:
    """Return a timeline as JSON: lanes by queue, epochs and events."""
    return {
        "since": timeline.window.since,
        "until": timeline.window.until,
        "lanes": [
            {
                "queue": list(lane.key),
                "known": lane.known,
                "held": [
                    {
                        "owner": piece.owner or None,
                        "begin": _pair(piece.begin),
                        "end": None if piece.end is None else _pair(piece.end),
                    }
                    for piece in lane.pieces
                ],
                "double": [list(pair) for pair in lane.doubles],
            }
            for lane in timeline.lanes
        ],
        "epochs": [
            {
                "number": row.epoch.number,
                "cause": row.epoch.cause,
                "began": _pair(row.epoch.began),
                "ended": None if row.epoch.ended is None else _pair(row.epoch.ended),
                "members": list(row.epoch.members),
                "queues": len(row.epoch.queues),
                "joined": list(row.joined),
                "left": list(row.left),
            }
            for row in timeline.epochs
        ],
        "events": [
            {
                "queue": list(row.event.key),
                "kind": row.event.kind,
                "at": _pair(row.event.at),
                "before": list(row.event.before),
                "after": list(row.event.after),
                "cause": row.why or None,
            }
            for row in timeline.events
        ],
        "events_left_out": timeline.hidden_events,
        "cut": timeline.cut,
    }


def _pair(moment: Moment) -> list[int]:
    return [moment.after, moment.by]


def _moment(after: datetime | None, by: datetime) -> Moment:
    return Moment(_ms(after or by), _ms(by))


def _ms(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
