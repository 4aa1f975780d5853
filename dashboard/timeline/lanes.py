"""The rebalance timeline as a picture: pieces of lanes placed in per cent of the width.

Pure: it takes lanes and epochs, and returns positions. A piece is drawn as its certain
part between two error bars, the intervals in which it may have begun and ended. By
queue, a lane is one queue; by member, it is one member, and its height is the number of
queues that the member certainly holds. Connections of one client id are separate
members.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from .holdings import (
    NOBODY,
    Hand,
    Held,
    Lane,
    Moment,
    QueueKey,
    SeenEpoch,
    Stretch,
    hands_of,
    joined,
    less,
    union,
)

LEAST_WIDTH: Final = 0.12
"""Per cent; anything shorter is drawn as wide as this, so that it is visible."""
TICKS: Final = 6
_STEPS_S: Final = (5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400)
MOST_STEPS: Final = 2_000
"""Limit on the steps of all members; those too short are joined to the next."""
LABELLED_FROM: Final = 5.0
"""Per cent of the width from which an epoch's band has room for its name."""

Part = Literal["sure", "maybe", "gap", "gap-maybe", "double", "unknown"]


@dataclass(frozen=True, slots=True)
class Window:
    """The span that is drawn, in ms since the epoch."""

    since: int
    until: int

    def x(self, time: int) -> float:
        """Return the position of a time in per cent, within the picture."""
        share = (time - self.since) / (self.until - self.since)
        return round(min(100.0, max(0.0, share * 100)), 3)

    def place(
        self, begin: int, end: int, least: float = LEAST_WIDTH
    ) -> tuple[float, float]:
        """Return the position and the width of a span, which is at least `least`."""
        x = self.x(begin)
        width = round(max(least, self.x(end) - x), 3)
        return min(x, round(100 - width, 3)), width


@dataclass(frozen=True, slots=True)
class Mark:
    """One rectangle; `slot` is the hue, None for nobody and for marks without one."""

    x: float
    width: float
    part: Part
    slot: int | None
    owner: str
    piece: Held | None
    height: float = 100.0
    letter: bool = False
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One lane: its name and its marks, in the order in which they are painted.

    `known` is False if the row can only say that nothing is known. `connection` is the
    number of the owner's connection, from 0.
    """

    label: str
    owner: str
    slot: int | None
    marks: tuple[Mark, ...]
    known: bool
    moves: int
    connection: int = 0


@dataclass(frozen=True, slots=True)
class Band:
    """One epoch over all lanes, with the interval in which it may have begun."""

    x: float
    width: float
    error: float
    epoch: SeenEpoch
    labelled: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """A time on the axis, in ms since the epoch."""

    x: float
    at: int


def queue_rows(
    lanes: Sequence[Lane], window: Window, slots: Mapping[str, int]
) -> list[Row]:
    """Return a row per queue."""
    topics = {lane.key[0] for lane in lanes}
    return [
        Row(
            queue_label(lane.key, with_topic=len(topics) > 1),
            "",
            None,
            tuple(_marks(lane, window, slots)),
            lane.known or bool(lane.pieces),
            lane.moves,
        )
        for lane in lanes
    ]


def queue_label(key: QueueKey, *, with_topic: bool) -> str:
    """Name a queue as the tables do."""
    topic, broker, number = key
    return f"{topic} · {broker} / {number}" if with_topic else f"{broker} / {number}"


def member_rows(
    lanes: Sequence[Lane],
    epochs: Sequence[SeenEpoch],
    window: Window,
    slots: Mapping[str, int],
    labels: Mapping[str, str],
    *,
    unseen: Iterable[Stretch] = (),
) -> list[Row]:
    """Return a row per member of the window; heights are numbers of queues held.

    During `unseen`, not even the members are known.
    """
    hands = _hands(lanes, epochs, window)
    shortest = (window.until - window.since) * max(1, len(hands)) // MOST_STEPS
    steps = {
        hand: _joined_steps(_steps(lanes, hand, window), shortest) for hand in hands
    }
    most = max((n for each in steps.values() for _a, _b, n in each), default=1) or 1
    dark = union([*unseen, *_unknown_to_all(lanes, window)])
    unknown = unknown_marks(dark, window)
    rows = []
    for hand in hands:
        member, connection = hand
        slot = slots.get(member)
        marks = [
            *_presence(hand, epochs, window, slot),
            *(
                Mark(
                    *window.place(begin, end),
                    "sure",
                    slot,
                    member,
                    None,
                    height=round(100 * count / most, 1),
                    count=count,
                )
                for begin, end, count in steps[hand]
                if count
            ),
            *unknown,
        ]
        moves = sum(_taken(lane, hand, window) for lane in lanes)
        label = labels.get(member, member)
        rows.append(Row(label, member, slot, tuple(marks), True, moves, connection))
    return rows


def _taken(lane: Lane, hand: Hand, window: Window) -> int:
    """Return how often a hand took a queue; continuing to hold it does not count."""
    own = [piece for piece in lane.pieces if piece.hand == hand]
    ends = {piece.end for piece in own}
    return sum(
        window.since < piece.begin.by <= window.until and piece.begin not in ends
        for piece in own
    )


def bands(epochs: Iterable[SeenEpoch], window: Window) -> list[Band]:
    """Return the epochs of the window."""
    found = []
    for epoch in epochs:
        end = window.until if epoch.ended is None else epoch.ended.by
        if epoch.began.by >= window.until or end <= window.since:
            continue
        x = window.x(epoch.began.by)
        width = window.x(end) - x
        error = x - window.x(epoch.began.after)
        found.append(Band(x, width, round(error, 3), epoch, width >= LABELLED_FROM))
    return found


def ticks(window: Window) -> list[Tick]:
    """Return round times for the axis, about six of them."""
    span_s = (window.until - window.since) / 1000
    step = next((s for s in _STEPS_S if span_s / s <= TICKS), _STEPS_S[-1]) * 1000
    first = -(-window.since // step) * step
    return [Tick(window.x(at), at) for at in range(first, window.until, step)]


def place_slots(
    known: Mapping[str, int], others: Iterable[str], places: int = 12
) -> dict[str, int]:
    """Give hues to past members that the map no longer has.

    Members on the map keep the map's hues; the others get the least used ones in turn.
    """
    slots = dict(known)
    used = [list(known.values()).count(place) for place in range(places)]
    for client_id in others:
        if client_id and client_id not in slots:
            place = min(range(places), key=lambda each: (used[each], each))
            slots[client_id] = place
            used[place] += 1
    return slots


def _marks(lane: Lane, window: Window, slots: Mapping[str, int]) -> Iterable[Mark]:
    for piece in lane.pieces:
        yield from _piece_marks(piece, window, slots.get(piece.owner))
    for begin, end in lane.doubles:
        yield Mark(*window.place(begin, end), "double", None, NOBODY, None)
    yield from unknown_marks(lane.unknown, window)


def unknown_marks(stretches: Iterable[Stretch], window: Window) -> list[Mark]:
    """Return the marks of times about which nothing can be said."""
    return [
        Mark(
            *window.place(begin, end),
            "unknown",
            None,
            NOBODY,
            Held(NOBODY, Moment(begin, begin), Moment(end, end)),
        )
        for begin, end in stretches
        if begin < window.until and end > window.since
    ]


def _unknown_to_all(lanes: Sequence[Lane], window: Window) -> list[Stretch]:
    """Return when it is not known of any queue who holds it."""
    whole = [(window.since, window.until)]
    told = union(x for lane in lanes for x in less(whole, lane.unknown))
    return list(less(whole, told)) if lanes else []


def _piece_marks(piece: Held, window: Window, slot: int | None) -> Iterable[Mark]:
    nobody = piece.owner == NOBODY
    sure: Part = "gap" if nobody else "sure"
    maybe: Part = "gap-maybe" if nobody else "maybe"

    def mark(begin: int, end: int, part: Part, *, least: float = 0.0) -> Mark | None:
        x, width = window.place(begin, end, least)
        if width <= 0 or end <= window.since or begin >= window.until:
            return None
        return Mark(x, width, part, slot, piece.owner, piece, letter=part == "sure")

    end = Moment(window.until, window.until) if piece.end is None else piece.end
    if piece.certain is None:
        found = [mark(piece.begin.after, end.by, maybe, least=LEAST_WIDTH)]
    else:
        found = [
            mark(piece.begin.after, piece.begin.by, maybe),
            mark(piece.begin.by, end.after, sure, least=LEAST_WIDTH),
            mark(end.after, end.by, maybe),
        ]
    yield from (each for each in found if each is not None)


def _hands(
    lanes: Sequence[Lane], epochs: Sequence[SeenEpoch], window: Window
) -> list[Hand]:
    inside = [
        epoch
        for epoch in epochs
        if epoch.began.by < window.until
        and (epoch.ended is None or epoch.ended.by > window.since)
    ]
    hands = {hand for epoch in inside for hand in hands_of(epoch.members)}
    hands |= {piece.hand for lane in lanes for piece in lane.pieces}
    return sorted(hand for hand in hands if hand[0] != NOBODY)


def _presence(
    hand: Hand, epochs: Sequence[SeenEpoch], window: Window, slot: int | None
) -> Iterable[Mark]:
    """Draw the time in which a member was present as a thin line."""
    member, connection = hand
    there = (epoch for epoch in epochs if epoch.members.count(member) > connection)
    for span in joined(there):
        end = window.until if span.end is None else span.end.by
        if span.begin.after >= window.until or end <= window.since:
            continue
        piece = Held(member, span.begin, span.end, connection)
        place = window.place(span.begin.after, end)
        yield Mark(*place, "maybe", slot, member, piece)


def _steps(
    lanes: Sequence[Lane], hand: Hand, window: Window
) -> list[tuple[int, int, int]]:
    """Return (begin, end, queues): how many queues a hand certainly held."""
    changes: dict[int, int] = {}
    for lane in lanes:
        for piece in lane.pieces:
            sure = piece.certain_within(window.since, window.until)
            if piece.hand != hand or sure is None:
                continue
            begin, end = sure
            changes[begin] = changes.get(begin, 0) + 1
            changes[end] = changes.get(end, 0) - 1
    found, count = [], 0
    for begin, end in pairwise(sorted(changes)):
        count += changes[begin]
        found.append((begin, end, count))
    return found


def _joined_steps(
    steps: list[tuple[int, int, int]], shortest: int
) -> list[tuple[int, int, int]]:
    """Join steps too short to be seen, with their largest count; the last one stays."""
    found: list[tuple[int, int, int]] = []
    for begin, end, count in steps:
        is_last = (begin, end, count) == steps[-1]
        if found and not is_last and found[-1][1] - found[-1][0] < shortest:
            found[-1] = (found[-1][0], end, max(found[-1][2], count))
        else:
            found.append((begin, end, count))
    return found
