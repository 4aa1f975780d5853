"""The rebalance timeline of a group: who held which queue when, over a span of time.

For a group whose queues have no single owners (BROADCASTING, POP, assigned by hand, or
mixed) only members are shown: no queue moves there, or is owned twice or by nobody,
whatever is stored about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter
from typing import Final

from django.db.models import QuerySet

from dashboard.clock.moments import as_ms, moment_of
from dashboard.live.documents import GroupState, Kind
from dashboard.models import Cluster, Epoch, OwnershipEvent
from dashboard.wording.names import label_of

from .choice import Choice
from .holdings import (
    NOBODY,
    Lane,
    Moment,
    QueueKey,
    SeenEpoch,
    SeenEvent,
    hands_of,
    in_order,
    lanes,
)
from .lanes import (
    Band,
    Mark,
    Row,
    Tick,
    Window,
    bands,
    member_rows,
    place_slots,
    queue_rows,
    ticks,
    unknown_marks,
)
from .notes import PAGE_ROOM, Change, Note, epoch_changes, epoch_of, notes

BY_QUEUE_UP_TO: Final = 32
"""With more queues the lanes are members, unless asked otherwise."""
MOST_LANES: Final = 128
MOST_PIECES: Final = 1_500
"""Pieces of lanes that are drawn; a page with many more is slow to make and to read."""
MOST_EVENTS: Final = 8_000
MOST_EPOCHS: Final = 1_000
EVENTS_LISTED: Final = 200
MOVES_LISTED: Final = 10
MOVES_LOOKED_AT: Final = 200
EPOCHS_LOOKED_AT: Final = 100
"""How far back to look for the time since which a queue is held as it is now."""
SETTLES_MS: Final = 60_000
"""A change of hands up to this long after an epoch began is attributed to it."""

LOCK_LOST: Final = "lock_lost"

DIVIDED: Final[tuple[Kind | None, ...]] = ("owned", "offline", None)
"""The kinds of groups whose queues have single owners; None is a group that is gone."""

STILL_SEEN_MS: Final = 20_000
"""Groups that nobody watches are swept every 10 s."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """One change of hands as the table lists it; `why` is the word of its cause."""

    event: SeenEvent
    why: str


@dataclass(frozen=True, slots=True)
class EpochRow:
    """One epoch as the table lists it, with the members that joined and left."""

    epoch: SeenEpoch
    joined: tuple[str, ...]
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything that a page of the timeline shows.

    `cut` says that events or epochs were left out because there are too many, and
    `events_left_out` and `epochs_left_out` how many of the window; `hidden_events` are
    those that are not listed, and `hidden_lanes` counts queues without a change that
    were left out. `unseen` are the times in which the collector saw nothing of the
    group. `connections` has the client ids that several processes used, with the most
    at once.
    """

    kind: Kind | None
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
    unseen: tuple[Mark, ...]
    connections: Mapping[str, int]
    notes: tuple[Note, ...] = ()
    events_left_out: int = 0
    epochs_left_out: int = 0

    @property
    def divided(self) -> bool:
        """Whether each queue has one owner at a time, or should have."""
        return self.kind in DIVIDED

    @property
    def all_events(self) -> int:
        return len(self.events) + self.hidden_events

    @property
    def all_epochs(self) -> int:
        return len(self.epochs) + self.epochs_left_out


@dataclass(frozen=True, slots=True)
class Past:
    """The stored past of a group from a time on, in order of time.

    `last_owners` are the owners last reported in epochs that have ended. `cut` says
    that the oldest events are left out; `events_left_out` and `epochs_left_out` count
    what is left out of a window.
    """

    events: Sequence[SeenEvent]
    epochs: Sequence[SeenEpoch]
    last_owners: Mapping[QueueKey, tuple[str, ...]]
    cut: bool = False
    events_left_out: int = 0
    epochs_left_out: int = 0


@dataclass(frozen=True, slots=True)
class Moves:
    """The last changes of a queue's owners, newest first, `MOVES_LISTED` at most.

    `left_out` counts the older ones. `since` is when the last of its present owners
    took it; None if that is not known.
    """

    events: Sequence[SeenEvent]
    left_out: int
    since: Moment | None


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
    return read_choice(cluster, group, state, Choice(minutes, until, by), now=now)


def read_choice(
    cluster: Cluster,
    group: str,
    state: GroupState | None,
    choice: Choice,
    *,
    now: int,
    room: float = PAGE_ROOM,
) -> Timeline:
    """Return the timeline that an address asks for.

    `room` is the width of a letter in labels, in per cent.
    """
    window = choice.window(now)
    past = _read_past(cluster, group, window)
    return timeline_of(past, state, window, now=now, by=choice.by, room=room)


def timeline_of(
    past: Past,
    state: GroupState | None,
    window: Window,
    *,
    now: int,
    by: str = "",
    room: float = PAGE_ROOM,
) -> Timeline:
    """Return the timeline of a window that ends at `now` or before."""
    kind = None if state is None else state["kind"]
    divided = kind in DIVIDED
    epochs, events = past.epochs, past.events if divided else ()
    # If events name the owners of a queue, an ended epoch has nothing to add.
    told = {event.key for event in events}
    unchanged = {k: owners for k, owners in past.last_owners.items() if k not in told}
    unseen = _unseen(past, state, now)
    dark = [(each.after, each.by) for each in unseen]
    all_lanes = (
        lanes(
            events,
            epochs,
            unchanged | _owners_now(state),
            since=window.since,
            until=window.until,
            now=now,
            unseen=unseen,
            away=_away(state),
        )
        if divided
        else []
    )
    slots = _slots(state, epochs, _owners_of(events, all_lanes))
    labels = _labels(state, epochs)
    few = 0 < len(all_lanes) <= BY_QUEUE_UP_TO
    wanted = (by if divided else "") or ("queues" if few else "members")
    drawn = _chosen(all_lanes) if wanted == "queues" else all_lanes
    rows = (
        queue_rows(drawn, window, slots)
        if wanted == "queues"
        else member_rows(drawn, epochs, window, slots, labels, unseen=dark)
    )
    inside = _inside(events, window)
    events_left_out = past.events_left_out if divided else 0
    orderly = bool(state and state["orderly"])
    listed = inside[-EVENTS_LISTED:][::-1]
    epoch_rows = _epoch_rows(epochs, window)
    oldest_first = [(row.epoch, row.joined, row.left) for row in epoch_rows[::-1]]
    moves = epoch_changes(
        oldest_first,
        events,
        SETTLES_MS,
        told_from=events[0].at.by if past.cut and events else None,
        told_until=min([*_away(state).values(), *(at for at, _ in dark)], default=None),
    )
    changes = [*moves, *_troubles(state)]
    return Timeline(
        kind,
        window,
        now,
        wanted,
        tuple(rows),
        tuple(bands(epochs, window)),
        tuple(ticks(window)),
        tuple(EventRow(e, _why(e, epochs, orderly=orderly)) for e in listed),
        tuple(epoch_rows),
        tuple(all_lanes),
        slots,
        labels,
        len(all_lanes) - len(drawn),
        len(inside) - len(listed) + events_left_out,
        (past.cut and divided) or past.epochs_left_out > 0,
        sum(
            piece.owner == NOBODY
            and piece.certain_within(window.since, window.until) is not None
            for lane in all_lanes
            for piece in lane.pieces
        ),
        sum(len(lane.doubles) for lane in all_lanes),
        tuple(unknown_marks(dark, window)),
        _connections(past),
        tuple(notes(changes, window, room)),
        events_left_out,
        past.epochs_left_out,
    )


def _troubles(state: GroupState | None) -> list[Change]:
    """Return since when brokers of the group have not answered as they should."""
    if state is None:
        return []
    return [
        Change(since, broker["state"], broker=broker["name"])
        for broker in state["brokers"]
        if broker.get("state", "answered") != "answered"
        and (since := broker.get("since")) is not None
    ]


def _read_past(cluster: Cluster, group: str, window: Window) -> Past:
    events, cut = _read_events(cluster, group, window.since)
    rows = list(_epoch_rows_since(cluster, group, window.since, MOST_EPOCHS + 1))
    read = rows[-MOST_EPOCHS:]
    found = _past(events, read, cut=cut)
    begin, end = moment_of(window.since), moment_of(window.until)
    left_out = epochs_left_out = 0
    if cut:
        all_events = _events_of(cluster, group).filter(at_by__gt=begin, at_by__lte=end)
        left_out = all_events.count() - len(_inside(events, window))
    if len(rows) > MOST_EPOCHS:
        begun = _epochs_since(cluster, group, window.since).filter(began_by__lt=end)
        epochs_left_out = begun.count() - sum(row.began_by < end for row in read)
    return replace(found, events_left_out=left_out, epochs_left_out=epochs_left_out)


def _inside(events: Iterable[SeenEvent], window: Window) -> list[SeenEvent]:
    return [e for e in events if window.since < e.at.by <= window.until]


def _past(
    events: Sequence[SeenEvent], stored: Iterable[Epoch], *, cut: bool = False
) -> Past:
    rows = list(stored)
    broadcast = {row.number for row in rows if _all_owned_all(row)}
    owners: dict[QueueKey, tuple[str, ...]] = {}
    for row in rows:
        if row.number in broadcast:
            continue
        for topic, broker, number, clients in row.owners:
            owners[topic, broker, number] = tuple(clients)
    return Past(
        [event for event in events if event.epoch not in broadcast],
        in_order(_epoch(row, divided=row.number not in broadcast) for row in rows),
        owners,
        cut,
    )


def _all_owned_all(row: Epoch) -> bool:
    """Return whether an epoch's group was BROADCASTING, by the owners stored with it.

    Only rows of older versions store owners of such a group: all members for each
    queue.
    """
    members = {member["client_id"] for member in row.members}
    return (
        len(members) > 1
        and bool(row.owners)
        and all(set(clients) == members for *_key, clients in row.owners)
    )


def _unseen(past: Past, state: GroupState | None, now: int) -> list[Moment]:
    """Return when the collector saw nothing of the group.

    Only the latest such time is known: the document says until when it is valid.
    """
    seen_ms = _newest(past, now) if state is None else _good_until(state, now)
    return [Moment(seen_ms, now)] if seen_ms < now else []


def _newest(past: Past, now: int) -> int:
    """Return the time of the newest record of a group without a document."""
    if past.epochs and past.epochs[-1].ended is not None:
        return now
    begun = [epoch.began.by for epoch in past.epochs]
    return max([*begun, *(event.at.by for event in past.events)], default=now)


def _good_until(state: GroupState, now: int) -> int:
    held = state.get("held")
    if held is not None:
        return min(now, held["as_of"])
    taken_at = state["taken_at"]
    return taken_at if now - taken_at > STILL_SEEN_MS else now


def _away(state: GroupState | None) -> dict[str, int]:
    """Return, by broker, since when it cannot tell what is on it."""
    if state is None:
        return {}
    return {
        broker["name"]: since
        for broker in state["brokers"]
        if (since := broker.get("since")) is not None
    }


def _connections(past: Past) -> dict[str, int]:
    listed: list[Iterable[str]] = [epoch.members for epoch in past.epochs]
    listed += [each for e in past.events for each in (e.before, e.after)]
    listed += past.last_owners.values()
    most: dict[str, int] = {}
    for owner, connection in (hand for each in listed for hand in hands_of(each)):
        most[owner] = max(most.get(owner, 0), connection + 1)
    return {owner: count for owner, count in most.items() if count > 1}


def _read_events(
    cluster: Cluster, group: str, since: int
) -> tuple[list[SeenEvent], bool]:
    rows = _events_of(cluster, group).filter(at_by__gte=moment_of(since))
    newest = rows.order_by("-at_by", "-pk")[: MOST_EVENTS + 1]
    found = [_event(row) for row in newest]
    return found[:MOST_EVENTS][::-1], len(found) > MOST_EVENTS


def _events_of(cluster: Cluster, group: str) -> QuerySet[OwnershipEvent]:
    return OwnershipEvent.objects.filter(cluster=cluster, group=group)


def read_moves(
    cluster: Cluster, group: str, key: QueueKey, state: GroupState | None, *, now: int
) -> Moves:
    """Return the last changes of a queue's owners, and since when it is held as now."""
    topic, broker, number = key
    rows = _events_of(cluster, group).filter(
        topic=topic, broker=broker, queue_id=number
    )
    newest = rows.order_by("-at_by", "-pk")[:MOVES_LOOKED_AT]
    events = [_event(row) for row in newest]
    total = len(events) if len(events) < MOVES_LOOKED_AT else rows.count()
    since = _held_since(cluster, state, key, events, now) if state else None
    listed = events[:MOVES_LISTED]
    return Moves(listed, total - len(listed), since)


def _held_since(
    cluster: Cluster,
    state: GroupState,
    key: QueueKey,
    newest_first: Sequence[SeenEvent],
    now: int,
) -> Moment | None:
    """Return when the last of a queue's owners took it; None if nobody saw that.

    The newest event that brought one of them is where to begin. Without one, and in the
    oldest epoch that is read, they may hold it for longer than is known.
    """
    owners = _owners_now(state).get(key)
    if owners is None or state["kind"] not in DIVIDED:
        return None
    hands = hands_of(owners)
    brought = (e.at.after - 1 for e in newest_first if hands - hands_of(e.before))
    since = next(brought, 0)
    if not since and len(newest_first) == MOVES_LOOKED_AT:
        return None
    rows = _epoch_rows_since(cluster, state["group"], since, EPOCHS_LOOKED_AT)
    past = _past([e for e in newest_first[::-1] if e.at.by > since], rows)
    found = lanes(
        past.events,
        [replace(each, queues=each.queues & {key}) for each in past.epochs],
        {key: owners},
        since=since,
        until=now,
        now=now,
        unseen=_unseen(past, state, now),
        away=_away(state),
    )
    held = [p for lane in found for p in lane.pieces if p.end is None]
    begin = max(
        (p.begin for p in held if p.hand in hands), key=attrgetter("by"), default=None
    )
    oldest = max([since, *(each.began.by for each in past.epochs[:1])])
    return None if begin is None or begin.by <= oldest else begin


def _event(row: OwnershipEvent) -> SeenEvent:
    return SeenEvent(
        (row.topic, row.broker, row.queue_id),
        row.kind,
        _moment(row.at_after, row.at_by),
        tuple(row.owners_before),
        tuple(row.owners_after),
        row.epoch,
    )


def _epoch_rows_since(
    cluster: Cluster, group: str, since: int, most: int
) -> Iterable[Epoch]:
    rows = _epochs_since(cluster, group, since)
    return reversed(rows.order_by("-number")[:most])


def _epochs_since(cluster: Cluster, group: str, since: int) -> QuerySet[Epoch]:
    rows = Epoch.objects.filter(cluster=cluster, group=group)
    return rows.exclude(ended_by__lt=moment_of(since))


def _epoch(row: Epoch, *, divided: bool) -> SeenEpoch:
    ended = None if row.ended_by is None else _moment(row.ended_after, row.ended_by)
    return SeenEpoch(
        row.number,
        row.cause,
        _moment(row.began_after, row.began_by),
        ended,
        tuple(member["client_id"] for member in row.members),
        frozenset((topic, broker, number) for topic, broker, number in row.queues),
        divided,
    )


def _owners_now(state: GroupState | None) -> dict[QueueKey, tuple[str, ...]]:
    if state is None:
        return {}
    return {
        (queue["topic"], queue["broker"], queue["queue_id"]): tuple(queue["owners"])
        for queue in state["queues"]
        if queue["owner_source"] == "reported"
    }


def _owners_of(events: Sequence[SeenEvent], lanes: Iterable[Lane]) -> list[str]:
    """Return whom events and lanes name: an epoch may have missed them, or come later.

    The newest events are first.
    """
    told = [each for e in reversed(events) for each in (*e.after, *e.before)]
    return told + [piece.owner for lane in lanes for piece in lane.pieces]


def _slots(
    state: GroupState | None, epochs: Sequence[SeenEpoch], owners: Iterable[str]
) -> dict[str, int]:
    known: dict[str, int] = {}
    if state is not None:
        known = dict(state.get("past_slots", {}))
        known |= {m["client_id"]: m["slot"] for m in state["members"]}
    # The newest first: members that left last are the likeliest to be looked for.
    past = [member for epoch in reversed(epochs) for member in epoch.members]
    return place_slots(known, [*past, *owners])


def _labels(state: GroupState | None, epochs: Sequence[SeenEpoch]) -> dict[str, str]:
    """Return short names, or whole client ids where short names would be the same."""
    found = {member: label_of(member) for epoch in epochs for member in epoch.members}
    if state is not None:
        found |= {m["client_id"]: m["label"] for m in state["members"]}
    times = Counter(found.values())
    return {c: label if times[label] == 1 else c for c, label in found.items()}


def _chosen(found: list[Lane]) -> list[Lane]:
    """Return the lanes to draw: all if they are few, else those that changed most."""
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
    """Return the cause: that of the epoch begun before, else a lock, else not known."""
    if epoch := epoch_of(event, epochs, SETTLES_MS):
        return epoch.cause
    return LOCK_LOST if orderly and event.kind == "lost" else ""


def _epoch_rows(epochs: Sequence[SeenEpoch], window: Window) -> list[EpochRow]:
    found = []
    before: tuple[str, ...] | None = None
    for epoch in epochs:
        inside = epoch.began.by < window.until
        if inside:
            old = before if before is not None else epoch.members
            found.append(
                EpochRow(epoch, _more(epoch.members, old), _more(old, epoch.members))
            )
        before = epoch.members
    return found[::-1]


def _more(members: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Return the members that others lack, a client id once for each connection."""
    return tuple((Counter(members) - Counter(others)).elements())


def _moment(after: datetime | None, by: datetime) -> Moment:
    return Moment(as_ms(after or by), as_ms(by))
