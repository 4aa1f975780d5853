"""A small picture of one division: a row per member, a column per queue.

Pure: names and numbers in, places in per cent out. The template draws it as SVG whose
widths are shares of the room there is, so that it fits a phone as it fits a desk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

HUES: Final = 12
NUMBERED_UP_TO: Final = 32
"""With more queues their numbers would run into each other."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One queue in a row; places in per cent. `shared` says that others hold it too."""

    queue_id: int
    x: float
    width: float
    middle: float
    shared: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One member's queues; `slot` is its hue and letter."""

    member: str
    slot: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Divided:
    """Who holds which queues of a topic; `nobody` are those that nobody holds.

    It is None where members divide nothing (BROADCASTING): none of theirs is shared.
    """

    topic: str
    rows: tuple[Row, ...]
    nobody: tuple[Cell, ...] | None
    queues: int
    numbered: bool


def divided(
    topic: str, parts: Mapping[str, Sequence[int]], unowned: Sequence[int] | None
) -> Divided:
    """Place the queues of each member; ids run from 0 without gaps in a lab.

    Without `unowned` each member is meant to hold all.
    """
    held = {number for ids in parts.values() for number in ids}
    numbers = sorted(held.union(unowned or ()))
    places = {number: place for place, number in enumerate(numbers)}
    width = 100 / max(1, len(numbers))

    def cell(number: int) -> Cell:
        holders = sum(number in ids for ids in parts.values())
        x = places[number] * width
        shared = unowned is not None and holders > 1
        return Cell(number, x, width, x + width / 2, shared)

    return Divided(
        topic,
        tuple(
            Row(member, slot % HUES, tuple(cell(number) for number in sorted(ids)))
            for slot, (member, ids) in enumerate(sorted(parts.items()))
        ),
        None if unowned is None else tuple(map(cell, sorted(unowned))),
        len(numbers),
        len(numbers) <= NUMBERED_UP_TO,
    )
