"""Filters, sorts and cuts the rows of a table; everything is counted on the way.

A table of 10,000 rows is answered in a few passes over a list; only the rows of the
page are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic

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
    """One page of a table. `chosen` are all rows that match, in order.

    `found` counts them, `counted` those before the segment is picked; `total` counts
    all rows there are. `hidden` tells how many rows each hidden chip leaves out, `only`
    how many each chip that leaves out others leaves.
    """

    table: Table[Row]
    query: TableQuery
    chosen: Sequence[Row]
    rows: Sequence[Row]
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
        return len(self.chosen)

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1 if self.rows else 0

    @property
    def filtered(self) -> bool:
        """Whether the reader's choice may be why no row is shown."""
        query = self.query
        return bool(query.text or query.segment or query.facets or query.only)


def page_of(
    table: Table[Row], rows: Iterable[Row], query: TableQuery
) -> TablePage[Row]:
    """Return the page that `query` asks for; one beyond the last gives the last."""
    all_rows = list(rows)
    matching = [row for row in all_rows if _has_text(table, row, query.text)]
    for facet in table.facets:
        if picked := query.facets.get(facet.key):
            matching = _picked(facet, matching, picked, all_rows)
    only = [
        Counted(chip, sum(chip.test(row) for row in matching), chip.key in query.only)
        for chip in table.only
    ]
    kept = [each.chip for each in only if each.on]
    matching = [row for row in matching if all(chip.test(row) for chip in kept)]
    hidden = [
        Counted(
            chip,
            sum(chip.test(row) for row in matching),
            chip.key in query.unhidden,
        )
        for chip in table.hidden
    ]
    off = [each.chip for each in hidden if not each.on]
    listed = [row for row in matching if not any(chip.test(row) for chip in off)]
    segments = [
        Counted(chip, sum(chip.test(row) for row in listed), chip.key == query.segment)
        for chip in table.segments
    ]
    chosen = _sorted(table, _in_segment(table, listed, query.segment), query.sort)
    pages = max(1, -(-len(chosen) // table.page_rows))
    number = min(query.page, pages)
    start = (number - 1) * table.page_rows
    shown = chosen[start : start + table.page_rows]
    return TablePage(
        table=table,
        query=replace(query, page=number),
        chosen=chosen,
        rows=shown,
        columns=_columns(table, query),
        segments=segments,
        hidden=[each for each in hidden if each.count],
        only=only,
        facets=[
            choice
            for facet in table.facets
            if (choice := _choice(facet, all_rows, query)).values or not choice.listed
        ],
        settings=[_offered(each, all_rows, query) for each in table.settings],
        counted=len(listed),
        total=len(all_rows),
        pages=pages,
        first=start + 1 if shown else 0,
    )


def _has_text(table: Table[Row], row: Row, text: str) -> bool:
    wanted = text.casefold()
    return not wanted or any(wanted in text.casefold() for text in table.texts(row))


def _picked(
    facet: Facet[Row], rows: list[Row], value: str, all_rows: list[Row]
) -> list[Row]:
    """Return the rows with a value; if no row at all has it, those with a part."""
    if any(value in facet.values(row) for row in all_rows):
        return [row for row in rows if value in facet.values(row)]
    part = value.casefold()
    return [row for row in rows if any(part in v.casefold() for v in facet.values(row))]


def _in_segment(table: Table[Row], rows: list[Row], segment: str) -> list[Row]:
    for chip in table.segments:
        if chip.key == segment:
            return [row for row in rows if chip.test(row)]
    return rows


def _sorted(table: Table[Row], rows: list[Row], sort: str) -> list[Row]:
    ranked = sorted(rows, key=table.rank)
    column = table.column(sort.removeprefix("-")) if sort else None
    if column is None:
        return ranked
    valued = [(column.value(row), row) for row in ranked]
    known = [(_key(value), row) for value, row in valued if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=sort.startswith("-"))
    return [row for _value, row in known] + [
        row for value, row in valued if value is None
    ]


def _key(value: Any) -> Any:
    return natural(value) if isinstance(value, str) else value


def _columns(table: Table[Row], query: TableQuery) -> list[Column[Row]]:
    if not query.columns:
        return [each for each in table.columns if each.shown or each.fixed]
    return [each for each in table.columns if each.fixed or each.key in query.columns]


def _choice(facet: Facet[Row], rows: list[Row], query: TableQuery) -> Choice[Row]:
    picked = query.facets.get(facet.key, "")
    if facet.typed:
        return Choice(facet, (), picked, listed=False)
    values = {value for row in rows for value in facet.values(row)}
    if picked:
        values.add(picked)
    if len(values) > MOST_LISTED:
        return Choice(facet, (), picked, listed=False)
    return Choice(facet, sorted(values, key=natural), picked)


def _offered(setting: Setting[Row], rows: list[Row], query: TableQuery) -> Offered[Row]:
    picked = query.settings.get(setting.key, "")
    values = {value for row in rows for value in setting.values(row)} | {picked}
    return Offered(
        setting, sorted(values - {"", setting.standing}, key=natural), picked
    )
