"""What a move of offsets would do, queue by queue; nothing here asks or writes.

A message counts as *seen again* if the offset goes back past it, and as *skipped* if
the offset goes forward past it. Messages that the broker no longer holds count as
neither: nobody can read them, whatever is committed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from dashboard.gateway.offsets import Move, Place, Standing, Way
from dashboard.wording.numbers import count

from .wanted import Wanted

Note = Literal[
    "",
    "unanswered",
    "not_found",
    "source_unanswered",
    "not_chosen",
    "nothing_given",
    "source_has_none",
    "had_none",
    "not_moved",
    "members_unknown",
    "only_by_time",
    "resets_unknown",
    "below",
    "above",
    "first_kept",
    "starts",
]
"""Why a queue stays as it is, or what is special about its new offset."""

CLIPPED: Final = frozenset({"below", "above", "first_kept"})

Targets = Mapping[str, int | str | None]
"""The offset wanted by key: None where there is none, a text for an error."""


@dataclass(frozen=True, slots=True)
class Row:
    """One queue before and after. Without `after` it is left as it is, see `note`.

    `again` and `skipped` are None where nothing was committed before.
    """

    place: Place
    after: int | None = None
    way: Way | None = None
    again: int | None = None
    skipped: int | None = None
    note: Note = ""
    detail: str = ""

    @property
    def moves(self) -> bool:
        return self.after is not None

    @property
    def unknown(self) -> bool:
        """Whether the queue stays only because something is not known."""
        return self.note in {
            "unanswered",
            "not_found",
            "source_unanswered",
            "members_unknown",
            "resets_unknown",
        }

    @property
    def lag_after(self) -> int | None:
        at = self.place.committed if self.after is None else self.after
        if at is None or self.place.error:
            return None
        return max(0, self.place.high - max(at, self.place.low))

    @property
    def lag_before(self) -> int | None:
        at = self.place.committed
        if at is None or self.place.error:
            return None
        return max(0, self.place.high - max(at, self.place.low))


@dataclass(frozen=True, slots=True)
class Plan:
    """The rows, worst first: skipped for good, clipped, unknown, then by queue."""

    wanted: Wanted
    rows: Sequence[Row]

    @property
    def moving(self) -> Sequence[Row]:
        return [row for row in self.rows if row.moves]

    @property
    def left(self) -> Sequence[Row]:
        return [row for row in self.rows if not row.moves]

    @property
    def unknown(self) -> Sequence[Row]:
        return [row for row in self.rows if row.unknown]

    @property
    def skipping(self) -> Sequence[Row]:
        return [row for row in self.rows if row.skipped]

    @property
    def again(self) -> int:
        return sum(row.again or 0 for row in self.rows)

    @property
    def skipped(self) -> int:
        return sum(row.skipped or 0 for row in self.rows)

    @property
    def uncounted(self) -> int:
        """Queues that move although nobody knows what was seen of them before."""
        return sum(row.moves and row.again is None for row in self.rows)

    @property
    def lag_before(self) -> int | None:
        return _sum(row.lag_before for row in self.rows)

    @property
    def lag_after(self) -> int | None:
        return _sum(row.lag_after for row in self.rows)

    @property
    def lag_partial(self) -> bool:
        return any(row.lag_after is None for row in self.rows)

    @property
    def before_partial(self) -> bool:
        return any(row.lag_before is None for row in self.rows)

    @property
    def scale(self) -> int:
        """How many of its newest offsets each queue's bar shows; the same for all."""
        spans = [
            row.place.high - min(_ends(row))
            for row in self.rows
            if not row.place.error and _ends(row)
        ]
        return _round_up(max(spans, default=1))

    @property
    def token(self) -> str:
        """A digest of what the plan does; another plan has another.

        Ends of queues and another group's offsets move on by themselves, so they do
        not count.
        """
        floating = self.wanted.kind in {"latest", "group"}
        parts = [
            f"{row.place.key}={'' if floating else row.after}"
            for row in sorted(self.moving, key=lambda row: row.place.key)
        ]
        text = "\n".join([self.wanted.query, *parts])
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    def moves(self, standing: Standing) -> list[Move]:
        """Return what has to be sent for the rows, given where the group stands."""
        return [
            Move(
                row.place.broker,
                address,
                row.place.queue_id,
                row.after,
                row.way,
            )
            for row in self.rows
            if row.after is not None
            and row.way is not None
            and (address := standing.brokers[row.place.broker].address) is not None
        ]


def plan_of(wanted: Wanted, standing: Standing, targets: Targets) -> Plan:
    """Return what moving to `targets` does to a group that stands as it does."""
    rows = [_row(wanted, standing, place, targets) for place in standing.places]
    return Plan(wanted, sorted(rows, key=_rank))


def _row(wanted: Wanted, standing: Standing, place: Place, targets: Targets) -> Row:
    if place.error:
        return Row(place, note="unanswered", detail=place.error)
    if wanted.queues and place.key not in wanted.queues:
        return Row(place, note="not_chosen")
    target = targets.get(place.key)
    if isinstance(target, str):
        copied = wanted.kind == "group"
        note: Note = "source_unanswered" if copied else "not_found"
        return Row(place, note=note, detail=target)
    if target is None:
        return Row(place, note=_WITHOUT.get(wanted.kind, "not_moved"))
    way = standing.way(place.broker)
    if way is None:
        lacking = standing.members is None
        return Row(place, note="members_unknown" if lacking else "resets_unknown")
    if way == "told" and not wanted.by_time:
        return Row(place, note="only_by_time")
    return _moved(wanted, place, target, way)


_WITHOUT: Final[Mapping[str, Note]] = {
    "offset": "nothing_given",
    "group": "source_has_none",
    "undo": "had_none",
}


def _moved(wanted: Wanted, place: Place, target: int, way: Way) -> Row:
    after = min(max(target, place.low), place.high)
    note = _note(wanted, place, target, after)
    if place.committed is None:
        return Row(place, after, way, note=note or "starts")
    before = min(max(place.committed, place.low), place.high)
    again, skipped = max(0, before - after), max(0, after - before)
    return Row(place, after, way, again, skipped, note, count(target))


def _note(wanted: Wanted, place: Place, target: int, after: int) -> Note:
    if target < after:
        return "below"
    if target > after:
        return "above"
    if wanted.kind == "time" and after == place.low > 0:
        return "first_kept"
    return ""


def _rank(row: Row) -> tuple[int, int, str, int]:
    place = row.place
    if row.skipped:
        return (0, -row.skipped, place.broker, place.queue_id)
    level = 1 if row.note in CLIPPED else 2 if row.unknown else 3
    return (level, 0, place.broker, place.queue_id)


def _ends(row: Row) -> list[int]:
    return [at for at in (row.place.committed, row.after) if at is not None]


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _round_up(span: int) -> int:
    """Return the next of 1, 2, 5, 10, 20, 50…, so that the scale can be named."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if span <= factor * step:
                return factor * step
        step *= 10
