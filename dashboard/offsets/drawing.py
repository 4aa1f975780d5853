"""The rows of a preview as they are drawn: bars on one scale, and notes in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dashboard.wording.numbers import compact

from .plan import Plan, Row
from .said import note_of

WIDTH: Final = 200
"""Width of a bar's drawing, in its own units."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Where marks and the span are in a bar, in units of `WIDTH`."""

    before: str
    after: str
    start: str
    width: str
    kind: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """One row with its note and its bar, which is None if nothing is known."""

    row: Row
    bar: Bar | None
    note: str
    level: str


def rows_of(plan: Plan, most: int) -> Sequence[Drawn]:
    """Return the first rows, ready to be drawn."""
    scale = plan.scale
    return [
        Drawn(row, _bar(row, scale), note_of(row, plan.wanted), _level(row))
        for row in plan.rows[:most]
    ]


def legend_of(plan: Plan) -> str:
    """Return how many offsets a bar shows, in a few characters."""
    return compact(plan.scale)


def _bar(row: Row, scale: int) -> Bar | None:
    place = row.place
    if place.error or (place.committed is None and row.after is None):
        return None
    before = None if place.committed is None else _x(place.committed, row, scale)
    after = None if row.after is None else _x(row.after, row, scale)
    ends = [x for x in (before, after) if x is not None]
    both = before is not None and after is not None
    return Bar(
        before="" if before is None else f"{before:.1f}",
        after="" if after is None else f"{after:.1f}",
        start=f"{min(ends):.1f}",
        width=f"{max(ends) - min(ends):.1f}" if both else "0",
        kind="skipped" if row.skipped else "again",
    )


def _x(offset: int, row: Row, scale: int) -> float:
    """Return where an offset is in the bar; its right end is the queue's end."""
    from_end = row.place.high - offset
    return max(0.0, min(1.0, 1 - from_end / scale)) * WIDTH


def _level(row: Row) -> str:
    if row.skipped:
        return "crit"
    if row.note in {"below", "above", "first_kept", "only_by_time"}:
        return "warn"
    return "unk" if row.unknown else ""
