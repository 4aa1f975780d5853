"""Who held a queue when, put together from events and epochs, with their error bars.

Theory. Nobody saw a queue change hands: two looks did, one that still showed the old
owner and one that first showed the new. So a beginning and an end are intervals
(`Moment`), and a piece (`Held`) is certain between them only.

Three things are known of a group: ownership events (queue, owners before, owners
after, interval), epochs (members and queues, with intervals of their own), and who owns
what now. They agree as far as they go:

- Between two events of a queue it has the owners that both name. Where the later one
  names others, a change was missed between them: the interval is the whole time.
- Nobody owns a queue who is not a member: pieces are cut to the epochs in which their
  owner is there, which makes their ends more exact than the event alone.
- A queue exists in the epochs that list it. What then is nobody's, with certainty, is a
  gap; what two hold, with certainty, is double ownership.

Pure; times are ms since the epoch. Cost: linear in events times epochs of one queue's
owners, which a page of some hours keeps small.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

QueueKey = tuple[str, str, int]

NOBODY: Final = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happened: after the one time and not after the other."""

    after: int
    by: int

    @property
    def error_ms(self) -> int:
        """How long the interval is."""
        return self.by - self.after


@dataclass(frozen=True, slots=True)
class Held:
    """A queue in one hand, or in nobody's; `end` is None while it lasts."""

    owner: str
    begin: Moment
    end: Moment | None

    @property
    def certain(self) -> tuple[int, int | None] | None:
        """The time in which it is certain, None where there is none."""
        if self.end is not None and self.end.after <= self.begin.by:
            return None
        return self.begin.by, None if self.end is None else self.end.after


@dataclass(frozen=True, slots=True)
class SeenEpoch:
    """An epoch as far as lanes need it."""

    number: int
    cause: str
    began: Moment
    ended: Moment | None
    members: tuple[str, ...]
    queues: frozenset[QueueKey]


@dataclass(frozen=True, slots=True)
class SeenEvent:
    """A queue's change of hands."""

    key: QueueKey
    kind: str
    at: Moment
    before: tuple[str, ...]
    after: tuple[str, ...]
    epoch: int | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time with ends as intervals; `end` is None while it lasts."""

    begin: Moment
    end: Moment | None


@dataclass(frozen=True, slots=True)
class Lane:
    """One queue's pieces in order of time; `known` is False where nobody reported."""

    key: QueueKey
    pieces: tuple[Held, ...]
    doubles: tuple[tuple[int, int], ...]
    moves: int
    known: bool


def lanes(
    events: Iterable[SeenEvent],
    epochs: Sequence[SeenEpoch],
    owners_now: Mapping[QueueKey, tuple[str, ...]],
    *,
    since: int,
    until: int,
    now: int,
) -> list[Lane]:
    """Return a lane for each queue there was between `since` and `until`.

    `events` and `epochs` reach from `since` to now, in order of time; `owners_now` are
    the reported owners, without the queues that nobody reported.
    """
    by_queue: dict[QueueKey, list[SeenEvent]] = {}
    for event in events:
        by_queue.setdefault(event.key, []).append(event)
    shown = [epoch for epoch in epochs if epoch.began.by < until]
    keys = {key for epoch in shown for key in epoch.queues}
    if not epochs:
        keys = {*by_queue, *owners_now}
    spans = _Spans(epochs, since)
    return [
        _lane(
            key,
            by_queue.get(key, []),
            owners_now.get(key),
            spans,
            window=(since, until, now),
        )
        for key in sorted(keys)
    ]


def _lane(
    key: QueueKey,
    events: list[SeenEvent],
    owners_now: tuple[str, ...] | None,
    spans: _Spans,
    window: tuple[int, int, int],
) -> Lane:
    since, until, now = window
    places = spans.existing(key)
    existing = spans.of(places, NOBODY)
    raw = list(_held(_states(events, owners_now, since, now)))
    pieces: list[Held] = []
    if not raw:
        # Nobody reported this queue; without members it is nobody's all the same.
        alone = spans.without_members(places)
        pieces = [Held(NOBODY, span.begin, span.end) for span in alone]
        pieces = [p for p in pieces if _in_window(p, since, until)]
        return Lane(key, tuple(pieces), (), 0, known=False)
    for piece in raw:
        pieces += _cut(piece, spans.of(places, piece.owner))
    pieces = _with_gaps(pieces, _gaps(pieces, existing, now))
    pieces = [p for p in pieces if _in_window(p, since, until)]
    pieces.sort(key=lambda piece: (piece.begin.by, piece.owner))
    moves = sum(since < event.at.by <= until for event in events)
    return Lane(key, tuple(pieces), tuple(_doubles(pieces, now)), moves, known=True)


State = tuple[tuple[str, ...], Moment, "Moment | None"]


def _states(
    events: list[SeenEvent],
    owners_now: tuple[str, ...] | None,
    since: int,
    now: int,
) -> list[State]:
    """Return the owners one after another, each with its begin and end."""
    begin = Moment(since, since)
    if not events:
        return [] if owners_now is None else [(owners_now, begin, None)]
    owners = events[0].before
    found: list[State] = []
    for event in events:
        if set(event.before) != set(owners):
            missed = Moment(begin.by, max(begin.by, event.at.after))
            found.append((owners, begin, missed))
            owners, begin = event.before, missed
        found.append((owners, begin, event.at))
        owners, begin = event.after, event.at
    if owners_now is None or set(owners_now) == set(owners):
        return [*found, (owners, begin, None)]
    missed = Moment(begin.by, max(begin.by, now))
    return [*found, (owners, begin, missed), (owners_now, missed, None)]


def _held(states: list[State]) -> Iterable[Held]:
    """Join what stays in one hand from state to state."""
    open_: dict[str, Moment] = {}
    for place, (owners, begin, end) in enumerate(states):
        hands = owners or (NOBODY,)
        for owner in hands:
            open_.setdefault(owner, begin)
        following = states[place + 1][0] if place + 1 < len(states) else None
        stays = set(following or (NOBODY,)) if following is not None else set()
        for owner in hands:
            if following is None or owner not in stays:
                yield Held(owner, open_.pop(owner), end)


class _Spans:
    """When a member was in the group and a queue existed, from the epochs.

    Most queues exist in the same epochs; spans are kept by those, not by queue.
    """

    def __init__(self, epochs: Sequence[SeenEpoch], since: int) -> None:
        self._epochs = epochs
        self._always = [Span(Moment(since, since), None)]
        self._known: dict[tuple[tuple[int, ...], str], list[Span]] = {}

    def existing(self, key: QueueKey) -> tuple[int, ...]:
        """Return the places of the epochs in which a queue exists."""
        return tuple(
            place for place, epoch in enumerate(self._epochs) if key in epoch.queues
        )

    def of(self, existing: tuple[int, ...], client_id: str) -> list[Span]:
        """Return when a member was there in those epochs; for nobody, all of them."""
        if not self._epochs:
            return self._always
        wanted = (existing, client_id)
        if wanted not in self._known:
            inside = (self._epochs[place] for place in existing)
            self._known[wanted] = joined(
                epoch
                for epoch in inside
                if client_id == NOBODY or client_id in epoch.members
            )
        return self._known[wanted]

    def without_members(self, existing: tuple[int, ...]) -> list[Span]:
        """Return when there was nobody in the group at all."""
        inside = (self._epochs[place] for place in existing)
        return joined(epoch for epoch in inside if not epoch.members)


def joined(epochs: Iterable[SeenEpoch]) -> list[Span]:
    """Return the spans that epochs make; those that follow each other become one."""
    found: list[Span] = []
    for epoch in epochs:
        end = found[-1].end if found else None
        if end is not None and epoch.began.after <= end.by:
            found[-1] = replace(found[-1], end=epoch.ended)
        else:
            found.append(Span(epoch.began, epoch.ended))
    return found


def _cut(piece: Held, spans: list[Span]) -> list[Held]:
    """Return what of a piece lies within the spans, with the more exact ends."""
    found = []
    for span in spans:
        begin = Moment(
            max(piece.begin.after, span.begin.after),
            max(piece.begin.by, span.begin.by),
        )
        ends = [end for end in (piece.end, span.end) if end is not None]
        end = (
            Moment(min(e.after for e in ends), min(e.by for e in ends))
            if ends
            else None
        )
        if end is None or end.by > begin.after:
            # An interval of one may reach into that of the other: order them.
            if end is not None and end.by < begin.by:
                begin = Moment(begin.after, end.by)
            found.append(Held(piece.owner, begin, end))
    return found


def _gaps(pieces: list[Held], existing: list[Span], now: int) -> list[Held]:
    """Return the times in which nobody can have held the queue."""
    covered = sorted((p for p in pieces), key=lambda piece: piece.begin.after)
    found = []
    for span in existing:
        last_end: Moment | None = span.begin
        for piece in covered:
            if last_end is None or _after(piece.begin.after, span.end, now):
                break
            if piece.end is not None and piece.end.by <= span.begin.after:
                continue
            if piece.begin.after > last_end.by:
                found.append(Held(NOBODY, last_end, piece.begin))
            if piece.end is None or piece.end.by > last_end.by:
                last_end = piece.end
        if last_end is not None and _after(
            span.end.after if span.end else now, last_end, now
        ):
            found.append(Held(NOBODY, last_end, span.end))
    return found


def _with_gaps(pieces: list[Held], gaps: list[Held]) -> list[Held]:
    """Add gaps; one that leads up to nobody's piece only tells when that began."""
    by_end = {gap.end: gap for gap in gaps if gap.end is not None}
    found = []
    for piece in pieces:
        leads = by_end.pop(piece.begin, None) if piece.owner == NOBODY else None
        found.append(piece if leads is None else replace(piece, begin=leads.begin))
    return [*found, *by_end.values(), *(gap for gap in gaps if gap.end is None)]


def _after(time: int, moment: Moment | None, now: int) -> bool:
    return time > (now if moment is None else moment.by)


def _in_window(piece: Held, since: int, until: int) -> bool:
    ends = until if piece.end is None else piece.end.by
    return piece.begin.after < until and ends > since


def _doubles(pieces: Sequence[Held], now: int) -> Iterable[tuple[int, int]]:
    """Return when two hold the queue with certainty."""
    certain = sorted(
        (begin, now if end is None else end)
        for piece in pieces
        if piece.owner != NOBODY and piece.certain is not None
        for begin, end in (piece.certain,)
    )
    for (_begin, end), (begin, other_end) in pairwise(certain):
        if begin < end:
            yield begin, min(end, other_end)
