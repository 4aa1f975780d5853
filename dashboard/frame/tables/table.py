"""The description of a table: its columns, its filters and its order.

A row may be of any type; columns, chips and facets are functions of it. A value of None
is unknown: it sorts last in either direction, and `unknown` says why it is None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Generic, TypeVar

Row = TypeVar("Row")

PAGE_ROWS: Final = 50
_DIGITS: Final = re.compile(r"(\d{1,18})")
_NAMES_KEPT: Final = 32_768


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column. `value` is what sorts and what files get, `draw` what pages show.

    `falls` makes the first click sort the largest first. A `fixed` column cannot be
    hidden; one that is not `shown` is hidden until the reader chooses it. `narrow`
    columns are shown on phones, too, where a fixed one leads its row and one of the
    class `beside` stands next to it. `css` is for the cell and its heading; a cell with
    `flash` flashes when its text changes. A value that is `partial` is a sum to which
    something may be missing: pages put ≥ in front, files name its column. A `term` is a
    key of `wording.terms`, which the heading explains. `copies` is the text that a
    button in the cell copies; there is no button for an empty one. `head` is the
    markup of a heading that is more than its title. `value` reads no other fields of a
    row than `reads`, if they are named; see `live.fields`.
    """

    key: str
    title: str
    value: Callable[[Row], Any]
    draw: Callable[[Row], str]
    css: str = ""
    falls: bool = False
    sorts: bool = True
    fixed: bool = False
    shown: bool = True
    narrow: bool = False
    flash: bool = False
    unknown: Callable[[Row], str] | None = None
    partial: Callable[[Row], bool] | None = None
    term: str = ""
    copies: Callable[[Row], str] | None = None
    head: str = ""
    reads: Sequence[str] = ()

    def at_least(self, row: Row) -> bool:
        """Tell whether the value is known and may be larger than it says."""
        return (
            self.partial is not None
            and self.value(row) is not None
            and self.partial(row)
        )


@dataclass(frozen=True, slots=True)
class Chip(Generic[Row]):
    """A part of the rows with a name, which can be picked (or hidden) by one click.

    `test` reads no other fields of a row than `reads`, if they are named. Where it says
    different things to different readers, it says the same to all with these `readers`.
    """

    key: str
    title: str
    test: Callable[[Row], bool]
    icon: str = ""
    reads: Sequence[str] = ()
    readers: Hashable = None


@dataclass(frozen=True, slots=True)
class Facet(Generic[Row]):
    """A property by which rows can be picked; a row may have several values of it.

    A part of a value picks rows, too, where no row has it as a whole value. The values
    of one that is `typed` are not listed, and only read while it is picked. `values`
    reads no other fields of a row than `reads`, if they are named.
    """

    key: str
    title: str
    values: Callable[[Row], Iterable[str]]
    typed: bool = False
    reads: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Setting(Generic[Row]):
    """A choice that picks no rows but changes what is said of them.

    Its key is its parameter in the address, `standing` the value that holds without
    one. `values` of the rows are offered, and others that it `accepts` are read.
    """

    key: str
    title: str
    values: Callable[[Row], Iterable[str]]
    accepts: Callable[[str], bool]
    standing: str


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """A whole table.

    `rank` orders the rows where no column does, worst first; it reads no other fields
    of a row than `rank_reads`, if these are named. `segments` exclude each other; rows
    of a chip in `hidden` are left out until the reader asks for them. A chip in `only`
    leaves out all other rows while it is on. `texts` are the words of a row that the
    filter searches in: those of the fields `texts_reads`, if these are named.
    """

    title: str
    filter_title: str
    columns: Sequence[Column[Row]]
    key: Callable[[Row], str]
    rank: Callable[[Row], Any]
    texts: Callable[[Row], Iterable[str]]
    segments: Sequence[Chip[Row]] = ()
    hidden: Sequence[Chip[Row]] = ()
    only: Sequence[Chip[Row]] = ()
    facets: Sequence[Facet[Row]] = ()
    settings: Sequence[Setting[Row]] = ()
    css: Callable[[Row], str] = field(default=lambda row: "")
    page_rows: int = PAGE_ROWS
    rank_reads: Sequence[str] = ()
    texts_reads: Sequence[str] = ()
    segment_name: str = "show"
    """The parameter of the address that names the segment."""

    def column(self, key: str) -> Column[Row] | None:
        """Return the column of that key, if there is one."""
        return next((each for each in self.columns if each.key == key), None)


@lru_cache(_NAMES_KEPT)
def natural(text: str) -> str:
    """Return what sorts text as people do: G2 before G10, whatever the case.

    Numbers are made equally long, and stand between characters that come before all
    others, so that what surrounds them is compared before and after them, not with
    them. Ten thousand texts are sorted sooner than as many tuples of parts.
    """
    folded = text.casefold()
    parts = _DIGITS.split(folded)
    if not folded.isascii():
        parts[1::2] = [str(int(each)) for each in parts[1::2]]
    parts[1::2] = [f"\0{each:0>18}\0" for each in parts[1::2]]
    return "".join(parts)
