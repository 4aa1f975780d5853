"""Who held a queue when, reconstructed from events and epochs, with error bars.

Theory. Nobody sees a queue change hands: there are two looks, one that still showed the
old owner and one that first showed the new. So a beginning and an end are intervals
(`Moment`), and a piece (`Held`) is certain only between them.

Three things are known of a group: ownership events (queue, owners before, owners after,
interval), epochs (members and queues, with intervals of their own), and who owns which
queue now. They are combined by these rules:

- Between two events, a queue has the owners that both name. If the later one names
  others, a change was missed between them: its interval is the whole time.
- Only members own queues: pieces are cut to the epochs in which their owner is a
  member, which makes their ends more exact than the event alone.
- A queue exists in the epochs that list it. There it is in somebody's hand, or in
  nobody's if members said so or there were no members at all; otherwise its owner is
  *unknown*, which is not a gap: another member may have held it while nobody was asked.
- Nothing is certain of a time in which the collector saw nothing (`unseen`).

Two processes with one client id are two members, and a queue that both hold is owned
twice: each connection of an id is a *hand* of its own, numbered from 0.

Stored rows may be out of order, contradict each other or be missing. Even so, the
certain parts of one hand's pieces never overlap, nor do nobody's and anybody's. Pure;
times are ms since the epoch. Cost: linear in events times epochs of one queue's owners,
which is small for a page of some hours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

QueueKey = tuple[str, str, int]

NOBODY: Final = ""

Hand = tuple[str, int]
"""A client id and the number of its connection, from 0; `NOBODY` has one."""

Stretch = tuple[int, int]
"""From one known time to another."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happened: after `after`, and not later than `by`."""

    after: int
    by: int

    @property
    def error_ms(self) -> int:
        """How long the interval is."""
        return self.by - self.after


@dataclass(frozen=True, slots=True)
class Held:
    """A span in which one hand, or nobody, holds a queue; `end` is None while it lasts.

    `connection` tells the connections of one client id apart.
    """

    owner: str
    begin: Moment
    end: Moment | None
    connection: int = 0

    @property
    def hand(self) -> Hand:
        """Who holds it, with connections of one client id told apart."""
        return self.owner, self.connection

    @property
    def certain(self) -> tuple[int, int | None] | None:
        """The time in which it is certain; None if there is none."""
        if self.end is not None and self.end.after <= self.begin.by:
            return None
        return self.begin.by, None if self.end is None else self.end.after

    def certain_within(self, since: int, until: int) -> Stretch | None:
        """Return the part of its certain time within a span; None if there is none.

        A piece without an end lasts until the end of the span.
        """
        if self.certain is None:
            return None
        begin, end = self.certain
        found = max(begin, since), until if end is None else min(end, until)
        return found if found[0] < found[1] else None


@dataclass(frozen=True, slots=True)
class SeenEpoch:
    """An epoch as far as lanes need it.

    A client id is listed once for each connection. `divided` is False where queues had
    no single owners.
    """

    number: int
    cause: str
    began: Moment
    ended: Moment | None
    members: tuple[str, ...]
    queues: frozenset[QueueKey]
    divided: bool = True

    def has(self, key: QueueKey) -> bool:
        """Return whether the queue existed, to be owned by one member."""
        return self.divided and key in self.queues


@dataclass(frozen=True, slots=True)
class SeenEvent:
    """A change of a queue's owners."""

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
    """One queue's pieces in order of time; `known` is False if nobody reported.

    `doubles` are the times in which several hands hold it with certainty, `unknown`
    those in which it exists and nobody can say who holds it; both within the window.
    """

    key: QueueKey
    pieces: tuple[Held, ...]
    doubles: tuple[Stretch, ...]
    moves: int
    known: bool
    unknown: tuple[Stretch, ...] = ()


def lanes(
    events: Iterable[SeenEvent],
    epochs: Sequence[SeenEpoch],
    owners_now: Mapping[QueueKey, tuple[str, ...]],
    *,
    since: int,
    until: int,
    now: int,
    unseen: Iterable[Moment] = (),
    away: Mapping[str, int] | None = None,
) -> list[Lane]:
    """Return a lane for each queue that existed between `since` and `until`.

    `events` and `epochs` reach from `since` to now, with epochs as `in_order` returns
    them; `owners_now` are the reported owners, without the queues that nobody reported.
    The collector saw nothing between the two times of each moment in `unseen`. Of
    queues on the brokers in `away` it has seen nothing since the time given there,
    unless a member reports them.
    """
    by_queue: dict[QueueKey, list[SeenEvent]] = {}
    for event in sorted(events, key=lambda each: (each.at.by, each.at.after)):
        by_queue.setdefault(event.key, []).append(event)
    shown = (
        epoch
        for epoch in epochs
        if epoch.began.by < until and (epoch.ended is None or epoch.ended.by > since)
    )
    keys = {key for epoch in shown if epoch.divided for key in epoch.queues}
    if not epochs:
        keys = {*by_queue, *owners_now}
    dark = _united(unseen)
    past = _Past(_Spans(epochs, since), since, until, now, dark, away or {})
    return [
        past.lane(key, by_queue.get(key, []), owners_now.get(key))
        for key in sorted(keys)
    ]


def in_order(epochs: Iterable[SeenEpoch]) -> list[SeenEpoch]:
    """Return epochs in order of time, each ended no later than the next began.

    A collector that is killed leaves an epoch open, and clocks are set back.
    """
    found: list[SeenEpoch] = []
    limit: Moment | None = None
    ordered = sorted(epochs, key=lambda each: (each.began.by, each.number))
    for epoch in reversed(ordered):
        began, ended = _not_after(epoch.began, limit), epoch.ended
        if ended is None and limit is not None:
            ended = Moment(began.by, limit.by)
        if ended is not None:
            ended = _both(began, _not_after(ended, limit))
        found.append(replace(epoch, began=began, ended=ended))
        limit = began
    return found[::-1]


@dataclass(frozen=True, slots=True)
class _Past:
    """The data that all lanes of a group share: its epochs, the window, the clock."""

    spans: _Spans
    since: int
    until: int
    now: int
    unseen: Sequence[Stretch]
    away: Mapping[str, int]

    def lane(
        self,
        key: QueueKey,
        events: Sequence[SeenEvent],
        owners_now: tuple[str, ...] | None,
    ) -> Lane:
        """Return the lane of one queue; its events are in order of time."""
        places = self.spans.existing(key)
        dark = self.unseen if owners_now is not None else self._dark(key)
        raw = list(_held(_states(events, owners_now, self.since, self.now)))
        pieces = [
            part
            for piece in raw
            for part in _cut(piece, self.spans.of(places, piece.owner))
        ]
        alone = self.spans.without_members(places)
        pieces += [Held(NOBODY, span.begin, span.end) for span in alone]
        pieces = _joined_pieces(
            part for piece in pieces for part in _cut(piece, self._seen(dark))
        )
        pieces = [piece for piece in pieces if self._possible(piece) is not None]
        return Lane(
            key,
            tuple(pieces),
            tuple(union(self._doubles(pieces))),
            sum(self.since < event.at.by <= self.until for event in events),
            known=bool(raw),
            unknown=tuple(self._unknown(places, pieces, dark)),
        )

    @property
    def _end(self) -> int:
        return min(self.until, self.now)

    def _dark(self, key: QueueKey) -> list[Stretch]:
        """Return when the collector saw nothing of a queue that nobody reports."""
        away = self.away.get(key[1], self.now)
        return union([*self.unseen, *([(away, self.now)] if away < self.now else [])])

    def _seen(self, dark: Sequence[Stretch]) -> list[Span]:
        """Return the spans in which the collector saw something."""
        found, begin = [], Moment(0, 0)
        for after, by in dark:
            found.append(Span(begin, Moment(after, by)))
            begin = Moment(after, by)
        if begin.by < self.now:
            found.append(Span(begin, None))
        return found

    def _possible(self, piece: Held) -> Stretch | None:
        end = self._end if piece.end is None else piece.end.by
        return self._within(piece.begin.after, end)

    def _within(self, begin: int, end: int) -> Stretch | None:
        found = max(begin, self.since), min(end, self._end)
        return found if found[0] < found[1] else None

    def _doubles(self, pieces: Iterable[Held]) -> Iterator[Stretch]:
        """Return when several hands hold the queue with certainty."""
        changes: Counter[int] = Counter()
        for piece in pieces:
            sure = piece.certain_within(self.since, self._end)
            if piece.owner != NOBODY and sure is not None:
                changes[sure[0]] += 1
                changes[sure[1]] -= 1
        hands = 0
        for begin, end in pairwise(sorted(time for time in changes if changes[time])):
            hands += changes[begin]
            if hands > 1:
                yield begin, end

    def _unknown(
        self,
        places: tuple[int, ...],
        pieces: Iterable[Held],
        dark: Sequence[Stretch],
    ) -> Iterator[Stretch]:
        """Return when the queue exists and nobody can say who holds it."""
        there = [
            within
            for begin, end in self.spans.there(places, self._end)
            if (within := self._within(begin, end)) is not None
        ]
        told = [
            within for piece in pieces if (within := self._possible(piece)) is not None
        ]
        return less(union(there), list(less(union(told), dark)))


State = tuple[tuple[str, ...], Moment, "Moment | None"]


def _states(
    events: Sequence[SeenEvent],
    owners_now: tuple[str, ...] | None,
    since: int,
    now: int,
) -> list[State]:
    """Return the owners one after another, each with a begin and an end.

    Boundaries never go back, whatever the events say.
    """
    begin = Moment(since, since)
    if not events:
        return [] if owners_now is None else [(owners_now, begin, None)]
    owners = events[0].before
    found: list[State] = []
    for event in events:
        if not _alike(event.before, owners):
            missed = _missed(begin, event.at.after)
            found.append((owners, begin, missed))
            owners, begin = event.before, missed
        at = _both(begin, _not_after(event.at, None))
        found.append((owners, begin, at))
        owners, begin = event.after, at
    if owners_now is None or _alike(owners_now, owners):
        return [*found, (owners, begin, None)]
    missed = _missed(begin, now)
    return [*found, (owners, begin, missed), (owners_now, missed, None)]


def _missed(begin: Moment, until: int) -> Moment:
    """Return when an unseen change happened: at any time since the one before."""
    return Moment(begin.by, max(begin.by, until))


def _alike(one: Iterable[str], other: Iterable[str]) -> bool:
    return sorted(one) == sorted(other)


def _held(states: Sequence[State]) -> Iterator[Held]:
    """Yield the pieces: what stays in one hand from state to state is one piece."""
    open_: dict[Hand, Moment] = {}
    for place, (owners, begin, end) in enumerate(states):
        last = place + 1 == len(states)
        stay = set() if last else hands_of(states[place + 1][0])
        for hand in sorted(hands_of(owners)):
            open_.setdefault(hand, begin)
            if hand not in stay:
                yield Held(hand[0], open_.pop(hand), end, hand[1])


def hands_of(owners: Iterable[str]) -> set[Hand]:
    """Return the hands of the listed owners; an id listed twice has two hands."""
    times = Counter(owner for owner in owners if owner)
    hands = {(owner, nth) for owner, count in times.items() for nth in range(count)}
    return hands or {(NOBODY, 0)}


class _Spans:
    """The spans in which members were in the group and queues existed, by the epochs.

    Most queues exist in the same epochs; spans are cached by epochs, not by queue.
    """

    def __init__(self, epochs: Sequence[SeenEpoch], since: int) -> None:
        self._epochs = epochs
        self._always = [Span(Moment(since, since), None)]
        self._known: dict[tuple[tuple[int, ...], str], list[Span]] = {}

    def existing(self, key: QueueKey) -> tuple[int, ...]:
        """Return the positions of the epochs in which a queue is to be owned."""
        return tuple(
            place for place, epoch in enumerate(self._epochs) if epoch.has(key)
        )

    def of(self, existing: tuple[int, ...], client_id: str) -> list[Span]:
        """Return when a member was present in those epochs; for nobody, all of them."""
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

    def there(self, existing: tuple[int, ...], now: int) -> Iterator[Stretch]:
        """Yield when the queue certainly existed, as far as can be told.

        If epochs are missing between two that list it, it counts as existing.
        """
        for span in self.of(existing, NOBODY):
            yield span.begin.by, now if span.end is None else span.end.after
        for place, following in pairwise(existing):
            one, other = self._epochs[place], self._epochs[following]
            if place + 1 == following and other.number > one.number + 1:
                ended = one.began if one.ended is None else one.ended
                yield ended.after, other.began.by


def joined(epochs: Iterable[SeenEpoch]) -> list[Span]:
    """Return the spans of epochs; consecutive epochs become one span."""
    found: list[Span] = []
    for epoch in epochs:
        end = found[-1].end if found else None
        if end is not None and epoch.began.after <= end.by:
            found[-1] = replace(found[-1], end=epoch.ended)
        else:
            found.append(Span(epoch.began, epoch.ended))
    return found


def _cut(piece: Held, spans: Iterable[Span]) -> Iterator[Held]:
    """Yield the parts of a piece within the spans, with the more exact ends."""
    for span in spans:
        begin = _both(piece.begin, span.begin)
        ends = [end for end in (piece.end, span.end) if end is not None]
        if not ends:
            yield replace(piece, begin=begin, end=None)
            continue
        end = Moment(min(e.after for e in ends), min(e.by for e in ends))
        if end.by > begin.after:
            # The interval of one end may reach into that of the other: order them.
            yield replace(
                piece,
                begin=_not_after(begin, Moment(begin.after, end.by)),
                end=Moment(max(end.after, begin.after), end.by),
            )


def _joined_pieces(pieces: Iterable[Held]) -> list[Held]:
    """Return pieces in order, those of one hand joined where their certain parts meet.

    That nobody holds a queue may be known twice: because members say so, and because
    there are none.
    """
    certain: dict[Hand, list[Held]] = {}
    found: list[Held] = []
    for piece in sorted(pieces, key=lambda each: each.begin.by):
        if piece.certain is None:
            found.append(piece)
            continue
        own = certain.setdefault(piece.hand, [])
        if own and _meet(own[-1], piece):
            own[-1] = _one(own[-1], piece)
        else:
            own.append(piece)
    found += (piece for own in certain.values() for piece in own)
    return sorted(found, key=lambda each: (each.begin.by, each.begin.after, each.hand))


def _meet(one: Held, other: Held) -> bool:
    return one.end is None or other.begin.by <= one.end.after


def _one(one: Held, other: Held) -> Held:
    """Join two pieces that meet; `one` is certain first."""
    begin = Moment(min(one.begin.after, other.begin.after), one.begin.by)
    ends = [end for end in (one.end, other.end) if end is not None]
    end = None if len(ends) < 2 else _both(*ends)
    return replace(one, begin=begin, end=end)


def _both(one: Moment, other: Moment) -> Moment:
    """Return when both have happened."""
    return Moment(max(one.after, other.after), max(one.by, other.by))


def _not_after(moment: Moment, limit: Moment | None) -> Moment:
    """Return a moment as an interval with its ends in order, and within a limit."""
    by = moment.by if limit is None else min(moment.by, limit.by)
    after = moment.after if limit is None else min(moment.after, limit.after)
    return Moment(min(after, by), by)


def _united(moments: Iterable[Moment]) -> list[Stretch]:
    return union((m.after, m.by) for m in moments if m.after < m.by)


def union(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return stretches in order, with those that meet joined."""
    found: list[Stretch] = []
    for begin, end in sorted(stretches):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def less(stretches: Iterable[Stretch], taken: Sequence[Stretch]) -> Iterator[Stretch]:
    """Yield the parts of stretches outside others; both are as `union` returns them."""
    for begin, end in stretches:
        at = begin
        for off, on in taken:
            if on <= at or off >= end:
                continue
            if off > at:
                yield at, off
            at = on
        if at < end:
            yield at, end
