"""A drawing of what each lab is about, and the themes under which labs are listed.

A drawing has a row per member, queue or place, and a cell per queue or message. Its
cells are letters: `a` to `c` are held or consumed by that member, `2` by two at once,
`x` has no owner, `-` is missed, `!` hangs or fails, `r` is retried, `d` is a dead
letter, `l` waits for a lock, and `.` is empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

CELL: Final = 14
ROW: Final = 16
_KINDS: Final = {
    "a": "held slot-0",
    "b": "held slot-1",
    "c": "held slot-2",
    "2": "held held-twice slot-0",
    "x": "held-none",
    "-": "missed",
    "!": "hangs",
    "r": "retried",
    "d": "dead",
    "l": "locked",
}

THEMES: Final[Sequence[tuple[Promise, tuple[str, ...]]]] = (
    (_("Who gets which queue"), ("F1", "F5", "F3b", "F4", "F4b")),
    (_("Broadcasting and its files"), ("F2", "F2b", "F3")),
    (_("Progress, order and retries"), ("F6", "F7", "F8")),
)

DRAWINGS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "F1": (("c1", "aaaa...."), ("c2", "....bbbb")),
    "F2": (("c1", "aaaaaaaa"), ("c2", "bbbbbbbb")),
    "F2b": (("c1", "aaa--aaa"),),
    "F3": (("c1", "aaa--aaa"), ("c1", "bbbbbbbb")),
    "F3b": (("c1", "2222...."), ("c1", "2222...."), ("–", "....xxxx")),
    "F4": (("A", "a-a-...."), ("B", "....-b-b")),
    "F4b": (("T1", "aaaaxxxx"), ("T2", "xxxxbbbb")),
    "F5": (("c1", "aaa....."), ("c2", "...bbb.."), ("c3", "......cc")),
    "F6": (("c1", "aaa!aaaa"),),
    "F7": (("c1", "aaaallll"), ("c2", "....bbbb")),
    "F8": (("c1", "aa!aaaaa"), ("10s", "..r....."), ("DLQ", "..d.....")),
}


@dataclass(frozen=True, slots=True)
class Mark:
    """One cell: its place in pixels, and the classes by which it is drawn."""

    x: int
    y: int
    kind: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing in pixels: `names` are (y, text) of the rows."""

    width: int
    height: int
    names: tuple[tuple[int, str], ...]
    marks: tuple[Mark, ...]


LEFT: Final = 30


def drawing_of(lab: str) -> Drawing:
    """Return the drawing of a lab."""
    rows = DRAWINGS[lab]
    marks = tuple(
        Mark(LEFT + column * CELL, number * ROW, _KINDS[cell])
        for number, (_name, cells) in enumerate(rows)
        for column, cell in enumerate(cells)
        if cell != "."
    )
    names = tuple((at * ROW + 11, name) for at, (name, _cells) in enumerate(rows))
    width = LEFT + CELL * max(len(cells) for _name, cells in rows)
    return Drawing(width, len(rows) * ROW, names, marks)
