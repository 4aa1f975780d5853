"""A small picture of one division: a row per member, a column per queue.

Pure: it takes names and numbers, and returns positions in per cent. The template draws
it as SVG with relative widths, so that it fits a phone as well as a desktop.
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
    """One queue in a row; positions in per cent. If `shared`, others hold it too."""

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

    `nobody` is None where members divide nothing (BROADCASTING); then none is shared.
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

    Without `unowned`, each member is meant to hold all queues.
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
