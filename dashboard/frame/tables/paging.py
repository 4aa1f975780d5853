"""Filters, sorts and cuts the rows of a table; everything is counted on the way.

A table of 10,000 rows is answered in a few passes over a list; only the rows of the
page are drawn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic

from .index import Index, Marks
from .query import TableQuery
from .table import Chip, Column, Facet, Row, Setting, Table, natural

MOST_LISTED: Final = 300
"""Values of a facet that are listed; with more, one types the value."""


@dataclass(frozen=True, slots=True)
class Counted(Generic[Row]):
    """A chip, how many rows it has, and whether it is on."""

    chip: Chip[Row]
    count: int
    on: bool


@dataclass(frozen=True, slots=True)
class Choice(Generic[Row]):
    """A facet with the values that rows have, and the one picked.

    They are not listed, so that `values` is empty, where the facet is to be typed or
    has more than 300.
    """

    facet: Facet[Row]
    values: Sequence[str]
    picked: str
    listed: bool = True


@dataclass(frozen=True, slots=True)
class Offered(Generic[Row]):
    """A setting, the values to choose from, and the one picked if any is."""

    setting: Setting[Row]
    values: Sequence[str]
    picked: str


@dataclass(frozen=True, slots=True)
class TablePage(Generic[Row]):
    """One page of a table. `order` are the places of all rows that match.

    `places` are those of the page's rows.

    `found` counts them, `counted` those before the segment is picked; `total` counts
    all rows there are. `hidden` tells how many rows each hidden chip leaves out, `only`
    how many each chip that leaves out others leaves.
    """

    table: Table[Row]
    query: TableQuery
    index: Index[Row]
    order: Sequence[int]
    places: Sequence[int]
    columns: Sequence[Column[Row]]
    segments: Sequence[Counted[Row]]
    hidden: Sequence[Counted[Row]]
    only: Sequence[Counted[Row]]
    facets: Sequence[Choice[Row]]
    settings: Sequence[Offered[Row]]
    counted: int
    total: int
    pages: int
    first: int

    @property
    def found(self) -> int:
        return len(self.order)

    @property
    def chosen(self) -> Sequence[Row]:
        """All rows that match, in order."""
        return [self.index.rows[at] for at in self.order]

    @property
    def rows(self) -> Sequence[Row]:
        """The rows of the page."""
        return [self.index.rows[at] for at in self.places]

    @property
    def last(self) -> int:
        return self.first + len(self.places) - 1 if self.places else 0

    @property
    def filtered(self) -> bool:
        """Whether the reader's choice may be why no row is shown."""
        query = self.query
        return bool(query.text or query.segment or query.facets or query.only)


def page_of(
    table: Table[Row],
    rows: Iterable[Row],
    query: TableQuery,
    index: Index[Row] | None = None,
) -> TablePage[Row]:
    """Return the page that `query` asks for; one beyond the last gives the last.

    An `index` of the same rows is for tables that many readers ask for.
    """
    index = index or Index(table, list(rows))
    matching = index.with_text(query.text)
    for facet in table.facets:
        if picked := query.facets.get(facet.key):
            matching = _picked(index, facet, matching, picked)
    only = _counted(index, table.only, matching, query.only)
    for each in only:
        if each.on:
            matching &= index.of_chip(each.chip)
    hidden = _counted(index, table.hidden, matching, query.unhidden)
    listed = matching
    for each in hidden:
        if not each.on and each.count:
            listed &= ~index.of_chip(each.chip)
    segments = _counted(index, table.segments, listed, [query.segment])
    wanted = listed
    for each in segments:
        if each.on:
            wanted = listed & index.of_chip(each.chip)
    in_order = index.in_order(wanted, query.sort)
    pages = max(1, -(-len(in_order) // table.page_rows))
    number = min(query.page, pages)
    start = (number - 1) * table.page_rows
    places = in_order[start : start + table.page_rows]
    return TablePage(
        table=table,
        query=replace(query, page=number),
        index=index,
        order=in_order,
        places=places,
        columns=_columns(table, query),
        segments=segments,
        hidden=[each for each in hidden if each.count],
        only=only,
        facets=[
            choice
            for facet in table.facets
            if (choice := _choice(index, facet, query)).values or not choice.listed
        ],
        settings=[_offered(each, index.rows, query) for each in table.settings],
        counted=listed.bit_count(),
        total=len(index.rows),
        pages=pages,
        first=start + 1 if places else 0,
    )


def _counted(
    index: Index[Row], chips: Sequence[Chip[Row]], marks: Marks, on: Collection[str]
) -> list[Counted[Row]]:
    return [
        Counted(chip, (index.of_chip(chip) & marks).bit_count(), chip.key in on)
        for chip in chips
    ]


def _picked(index: Index[Row], facet: Facet[Row], marks: Marks, value: str) -> Marks:
    """Return the rows with a value; if no row at all has it, those with a part."""
    found = index.with_values(facet, [value])
    if not found:
        found = index.with_part(facet, value)
    return marks & found


def _columns(table: Table[Row], query: TableQuery) -> list[Column[Row]]:
    if not query.columns:
        return [each for each in table.columns if each.shown or each.fixed]
    return [each for each in table.columns if each.fixed or each.key in query.columns]


def _choice(index: Index[Row], facet: Facet[Row], query: TableQuery) -> Choice[Row]:
    picked = query.facets.get(facet.key, "")
    if facet.typed:
        return Choice(facet, (), picked, listed=False)
    values = index.values_of(facet, MOST_LISTED)
    if values is not None and picked:
        values |= {picked}
    if values is None or len(values) > MOST_LISTED:
        return Choice(facet, (), picked, listed=False)
    return Choice(facet, sorted(values, key=natural), picked)


def _offered(
    setting: Setting[Row], rows: Sequence[Row], query: TableQuery
) -> Offered[Row]:
    picked = query.settings.get(setting.key, "")
    values = {value for row in rows for value in setting.values(row)} | {picked}
    return Offered(
        setting, sorted(values - {"", setting.standing}, key=natural), picked
    )
