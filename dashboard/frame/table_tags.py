"""Tags of `templates/frame/table.html`, which draws a table of `frame.tables`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from dashboard.wording.markup import escaped, fill

from .tables import Column, TablePage, TableQuery
from .tags import copy_button, explain

register = template.Library()


@register.simple_tag
def table_url(query: TableQuery, **changes: Any) -> str:
    """Return the address of the table with some parts of the query changed."""
    return query.url(**changes)


@register.simple_tag
def cleared_url(query: TableQuery, *parts: str) -> str:
    """Return the address with some parts of the query at their defaults."""
    return query.url(**{part: getattr(TableQuery(), part) for part in parts})


@register.simple_tag
def toggled_url(query: TableQuery, key: str) -> str:
    """Return the address with a hidden chip turned on or off."""
    on = query.unhidden
    kept = tuple(each for each in on if each != key) if key in on else (*on, key)
    return query.url(unhidden=kept)


@register.simple_tag
def turned_url(query: TableQuery, key: str) -> str:
    """Return the address with a chip that leaves only its rows turned on or off."""
    on = query.only
    kept = tuple(each for each in on if each != key) if key in on else (*on, key)
    return query.url(only=kept)


@register.simple_tag
def table_head(page: TablePage[Any], column: Column[Any]) -> SafeString:
    """Draw a column's heading; a second click on it reverses the order."""
    title = _sorting_link(page.query, column) if column.sorts else column.title
    title = column.head or title
    return fill(
        '<th scope="col" class="{}"{}>{}{}</th>',
        *(_css(column), _order(page.query, column), title),
        fill(" {}", explain(column.term)) if column.term else "",
    )


def _sorting_link(query: TableQuery, column: Column[Any]) -> SafeString:
    first = f"-{column.key}" if column.falls else column.key
    if query.sort.removeprefix("-") != column.key:
        return fill('<a href="{}">{}</a>', query.url(sort=first), column.title)
    falling = query.sort.startswith("-")
    turned = column.key if falling else f"-{column.key}"
    return fill(
        '<a href="{}">{} {}</a>',
        *(query.url(sort=turned), column.title, "▾" if falling else "▴"),
    )


def _order(query: TableQuery, column: Column[Any]) -> SafeString | str:
    if not column.sorts or query.sort.removeprefix("-") != column.key:
        return ""
    falling = query.sort.startswith("-")
    return fill(' aria-sort="{}"', "descending" if falling else "ascending")


@register.simple_tag
def table_rows(page: TablePage[Any]) -> SafeString:
    """Draw the rows of a page; each is drawn once for all who see the same of it."""
    frames = [_CellFrame.of(column) for column in page.columns]
    shown = ",".join(column.key for column in page.columns)
    drawn = (
        page.index.drawn(at, shown, lambda row: _row(page, frames, row))
        for at in page.places
    )
    # Each part was escaped where it was drawn.
    return mark_safe("".join(drawn))  # noqa: S308


@dataclass(frozen=True, slots=True)
class _CellFrame:
    """What all cells of a column have in common: the markup around them."""

    column: Column[Any]
    start: str
    middle: str

    @classmethod
    def of(cls, column: Column[Any]) -> _CellFrame:
        told = column.narrow and not column.fixed and "beside" not in column.css
        head = column.title if told else ""
        return cls(
            column,
            fill('<td class="{}', _css(column)),
            fill(
                '"{}{}>',
                fill(' data-head="{}"', head) if head else "",
                mark_safe(" data-flash") if column.flash else "",
            ),
        )

    def cell(self, row: Any) -> str:
        """Draw a cell; its text is escaped unless the column returned markup."""
        column = self.column
        drawn = escaped(column.draw(row))
        at_least = "≥ " if column.partial and column.at_least(row) else ""
        copied = column.copies(row) if column.copies else ""
        if not copied:
            return f"{self.start}{self.middle}{at_least}{drawn}</td>"
        button = copy_button(copied, f"{column.title} {copied}")
        return f"{self.start} copies{self.middle}{at_least}{drawn}{button}</td>"


def _row(page: TablePage[Any], frames: Sequence[_CellFrame], row: Any) -> str:
    table = page.table
    start = fill('<tr data-key="{}" class="{}">', table.key(row), table.css(row))
    return f"{start}{''.join([frame.cell(row) for frame in frames])}</tr>\n"


@register.filter
def chosen_filters(query: TableQuery) -> int:
    """Count the choices that a reader made in the menu of filters."""
    return len(query.facets) + len(query.settings)


@register.simple_tag
def beside_filters(query: TableQuery) -> list[tuple[str, str]]:
    """Return the parameters that the menu of filters keeps: all but its own."""
    return replace(query, facets={}, settings={}).pairs()


@register.filter
def facet_choices(page: TablePage[Any]) -> tuple[tuple[Hashable, ...], ...]:
    """Return key, title, values, the one picked, and whether they are listed.

    None of them is markup, and all are in the reader's language.
    """
    return tuple(
        (each.facet.key, each.facet.title, tuple(each.values), each.picked, each.listed)
        for each in page.facets
    )


@register.filter
def column_choices(page: TablePage[Any]) -> tuple[tuple[str, str, bool], ...]:
    """Return key, title and whether it is shown, for columns that may be hidden."""
    # They are the table's own: to compare all that two columns say would be wasted.
    return tuple(
        (column.key, column.title, any(each is column for each in page.columns))
        for column in page.table.columns
        if not column.fixed
    )


@register.simple_tag
def kept_fields(query: TableQuery, without: str) -> list[tuple[str, str]]:
    """Return the parameters that a form of the table keeps: all but its own."""
    own = set(without.split(","))
    return [(name, value) for name, value in query.pairs() if name not in own]


def _css(column: Column[Any]) -> str:
    """Return the classes of a column; on phones a fixed one leads its row."""
    if column.fixed:
        return f"{column.css} lead".strip()
    return column.css if column.narrow else f"{column.css} wide-only".strip()
