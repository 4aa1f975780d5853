"""Tags of `templates/frame/table.html`, which draws a table of `frame.tables`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

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
    return format_html(
        '<th scope="col" class="{}"{}>{}{}</th>',
        *(_css(column), _order(page.query, column), title),
        format_html(" {}", explain(column.term)) if column.term else "",
    )


def _sorting_link(query: TableQuery, column: Column[Any]) -> SafeString:
    first = f"-{column.key}" if column.falls else column.key
    if query.sort.removeprefix("-") != column.key:
        return format_html('<a href="{}">{}</a>', query.url(sort=first), column.title)
    falling = query.sort.startswith("-")
    turned = column.key if falling else f"-{column.key}"
    return format_html(
        '<a href="{}">{} {}</a>',
        *(query.url(sort=turned), column.title, "▾" if falling else "▴"),
    )


def _order(query: TableQuery, column: Column[Any]) -> SafeString | str:
    if not column.sorts or query.sort.removeprefix("-") != column.key:
        return ""
    falling = query.sort.startswith("-")
    return format_html(' aria-sort="{}"', "descending" if falling else "ascending")


@register.simple_tag
def table_cell(column: Column[Any], row: Any) -> SafeString:
    """Draw a cell; its text is escaped unless the column returned markup."""
    told = column.narrow and not column.fixed and "beside" not in column.css
    head, drawn = column.title if told else "", column.draw(row)
    copied = column.copies(row) if column.copies else ""
    return format_html(
        '<td class="{}{}"{}{}>{}{}</td>',
        _css(column),
        " copies" if copied else "",
        format_html(' data-head="{}"', head) if head else "",
        mark_safe(" data-flash") if column.flash else "",
        format_html("≥ {}", drawn) if column.at_least(row) else drawn,
        copy_button(copied, f"{column.title} {copied}") if copied else "",
    )


@register.filter
def chosen_filters(query: TableQuery) -> int:
    """Count the choices that a reader made in the menu of filters."""
    return len(query.facets) + len(query.settings)


@register.simple_tag
def beside_filters(query: TableQuery) -> list[tuple[str, str]]:
    """Return the parameters that the menu of filters keeps: all but its own."""
    return replace(query, facets={}, settings={}).pairs()


@register.filter
def key_of(page: TablePage[Any], row: Any) -> str:
    return page.table.key(row)


@register.filter
def css_of(page: TablePage[Any], row: Any) -> str:
    return page.table.css(row)


@register.filter
def has_column(page: TablePage[Any], column: Column[Any]) -> bool:
    return column in page.columns


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
