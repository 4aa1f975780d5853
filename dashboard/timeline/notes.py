"""The sentences above the timeline: when something changed, what, and what it moved.

Pure. Labels that would collide are merged into one that leads to its own span. How wide
a label is depends on its text and on the picture; both are estimated, generously.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .holdings import QueueKey, SeenEpoch, SeenEvent
from .lanes import Window

PANEL_ROOM: Final = 0.8
PAGE_ROOM: Final = 0.55
"""Per cent of the width that a letter takes, in the small picture and on the page."""

MOVING: Final = frozenset({"moved", "taken", "lost"})
AROUND: Final = 0.15
"""The share of a merged label's span that is shown before and after it."""
LEAST_AROUND_MS: Final = 2_000
FIRST: Final = "first_seen"

_TIME: Final = 9
_WHAT: Final = 18
_WHO: Final = 8
_NAMED: Final = 3
_MOVED: Final = 17
_SEVERAL: Final = 24
"""Letters of a time, of a cause, of a verb beside names, of "12 queues moved", and of
"3 changes in 2 m 40 s"."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something that happened at `at` (ms).

    `cause` is an epoch's, with the members that joined and left and how many queues
    changed hands, or more if `at_least`; or `broker` did not answer as before, and
    `cause` is its state.
    """

    at: int
    cause: str
    joined: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    moved: int = 0
    at_least: bool = False
    broker: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A label for one change, or for several that lie close together.

    `x` is in per cent, `at_end` says that the text ends there. `since` and `until` are
    the span in which all of the changes can be seen.
    """

    x: float
    at_end: bool
    changes: tuple[Change, ...]
    since: int
    until: int

    @property
    def span_ms(self) -> int:
        """The time between the first change and the last."""
        return self.changes[-1].at - self.changes[0].at


def notes(changes: Sequence[Change], window: Window, room: float) -> list[Note]:
    """Return the labels of the window's changes, none over another.

    `room` is the width of a letter in per cent.
    """
    inside = [each for each in changes if window.since < each.at <= window.until]
    found: list[list[Change]] = []
    for change in sorted(inside, key=lambda each: each.at):
        found.append([change])
        while len(found) > 1 and _collide(found[-2], found[-1], window, room):
            found[-2:] = [found[-2] + found[-1]]
    return [_note(each, window, room) for each in found]


def epoch_changes(
    epochs: Sequence[tuple[SeenEpoch, tuple[str, ...], tuple[str, ...]]],
    events: Sequence[SeenEvent],
    settles_ms: int,
    *,
    told_from: int | None = None,
    told_until: int | None = None,
) -> list[Change]:
    """Return the beginnings of epochs (oldest first, with who joined and who left).

    Moves belong to the newest epoch begun before them, and to none if they came more
    than `settles_ms` later. Not all of them are known up to `told_from` (ms), nor after
    `told_until`.
    """
    begun = [epoch for epoch, *_who in epochs]
    moved: Mapping[int, set[QueueKey]] = {each.number: set() for each in begun}
    for event in events:
        if event.kind in MOVING and (epoch := epoch_of(event, begun, settles_ms)):
            moved[epoch.number].add(event.key)

    def is_part(epoch: SeenEpoch) -> bool:
        early = told_from is not None and epoch.began.after <= told_from
        late = told_until is not None and epoch.began.by + settles_ms > told_until
        return early or late

    return [
        Change(
            epoch.began.by,
            epoch.cause,
            joined,
            left,
            len(moved[epoch.number]),
            at_least=is_part(epoch),
        )
        for epoch, joined, left in epochs
        if epoch.cause != FIRST
    ]


def epoch_of(
    event: SeenEvent, epochs: Sequence[SeenEpoch], settles_ms: int
) -> SeenEpoch | None:
    """Return the newest epoch, of some in order, that had begun before an event.

    None if there is none, or if the event came more than `settles_ms` later.
    """
    place = bisect_right(epochs, event.at.by, key=lambda each: each.began.after)
    if not place:
        return None
    epoch = epochs[place - 1]
    return epoch if event.at.after - epoch.began.by <= settles_ms else None


def _collide(
    left: Sequence[Change], right: Sequence[Change], window: Window, room: float
) -> bool:
    return _extent(right, window, room)[0] < _extent(left, window, room)[1]


def _extent(
    changes: Sequence[Change], window: Window, room: float
) -> tuple[float, float]:
    """Return where a label begins and ends; one near the right edge ends at its x."""
    x, width = window.x(changes[0].at), _letters(changes) * room
    return (x - width, x) if x > 100 - width else (x, x + width)


def _letters(changes: Sequence[Change]) -> int:
    """Estimate how long a label is, in letters."""
    if len(changes) > 1:
        return _TIME + _SEVERAL
    (change,) = changes
    if change.broker:
        return _TIME + len(change.broker) + _WHAT
    who = [min(len(each), _NAMED) for each in (change.joined, change.left) if each]
    what = sum(_WHO + 3 * each for each in who) or _WHAT
    at_least = len("≥ ") if change.at_least else 0
    return _TIME + what + (_MOVED + at_least if change.moved else 0)


def _note(changes: Sequence[Change], window: Window, room: float) -> Note:
    first, last = changes[0].at, changes[-1].at
    around = max(LEAST_AROUND_MS, round((last - first) * AROUND))
    x = window.x(first)
    at_end = _extent(changes, window, room)[0] < x
    return Note(x, at_end, tuple(changes), first - around, last + around)
