"""Tags of `templates/frame/table.html`, which draws a table of `frame.tables`."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from .tables import Column, TablePage, TableQuery

register = template.Library()


@register.simple_tag
def table_url(query: TableQuery, **changes: Any) -> str:
    """Return the address of the table with some parts of the query changed."""
    return query.url(**changes)


@register.simple_tag
def cleared_url(query: TableQuery, part: str) -> str:
    """Return the address with one part of the query as it is at first."""
    return query.url(**{part: getattr(TableQuery(), part)})


@register.simple_tag
def toggled_url(query: TableQuery, key: str) -> str:
    """Return the address with a hidden chip turned on or off."""
    on = query.unhidden
    kept = tuple(each for each in on if each != key) if key in on else (*on, key)
    return query.url(unhidden=kept)


@register.simple_tag
def table_head(page: TablePage[Any], column: Column[Any]) -> SafeString:
    """Draw a column's heading; a second click on it reverses the order."""
    css = _css(column)
    if not column.sorts:
        return format_html('<th scope="col" class="{}">{}</th>', css, column.title)
    query = page.query
    first = f"-{column.key}" if column.falls else column.key
    if query.sort.removeprefix("-") != column.key:
        return format_html(
            '<th scope="col" class="{}"><a href="{}">{}</a></th>',
            *(css, query.url(sort=first), column.title),
        )
    falling = query.sort.startswith("-")
    turned = column.key if falling else f"-{column.key}"
    return format_html(
        '<th scope="col" class="{}" aria-sort="{}"><a href="{}">{} {}</a></th>',
        *(css, "descending" if falling else "ascending"),
        *(query.url(sort=turned), column.title, "▾" if falling else "▴"),
    )


@register.simple_tag
def table_cell(column: Column[Any], row: Any) -> SafeString:
    """Draw a cell; its text is escaped unless the column made markup of it."""
    told = column.narrow and not column.fixed and "beside" not in column.css
    head = column.title if told else ""
    return format_html(
        '<td class="{}"{}{}>{}</td>',
        _css(column),
        format_html(' data-head="{}"', head) if head else "",
        mark_safe(" data-flash") if column.flash else "",
        column.draw(row),
    )


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
