from __future__ import annotations

from dataclasses import replace

from django.template.loader import render_to_string
from django.utils.html import format_html

from dashboard.frame.tables import Column, Table, TableQuery, page_of

from .tables.test_paging import FRUIT, IN_PART, TABLE, WITH_ROTTEN, Fruit


def drawn(query: TableQuery, table: Table[Fruit] = TABLE) -> str:
    page = page_of(table, FRUIT, query)
    return render_to_string("frame/table.html", {"page": page, "empty": "No fruit."})


def test_headings_sort_the_largest_first_where_that_is_wanted() -> None:
    assert 'href="?sort=-weight">Weight</a>' in drawn(TableQuery())
    falling = drawn(TableQuery(sort="-weight"))
    assert 'aria-sort="descending"><a href="?sort=weight">Weight ▾</a>' in falling


def test_a_hidden_chip_says_what_it_hides_and_leads_to_it() -> None:
    html = drawn(TableQuery())
    assert 'aria-checked="false" href="?with=rotten">Rotten 1' in html
    assert 'aria-checked="true" href="?">Rotten 1' in drawn(
        TableQuery(unhidden=("rotten",))
    )


def test_forms_keep_what_they_do_not_set() -> None:
    html = drawn(TableQuery(text="pear", sort="-weight"))
    assert '<input type="hidden" name="sort" value="-weight">' in html
    assert '<input type="hidden" name="q" value="pear">' in html


def test_names_are_text_and_a_columns_own_markup_stays() -> None:
    table = Table(
        title="Fruit",
        filter_title="Filter",
        columns=[
            Column("a", "A", lambda row: 1, lambda row: "<b>"),
            Column("b", "B", lambda row: 1, lambda row: format_html("<i>{}</i>", "&")),
        ],
        key=lambda row: row.name,
        rank=lambda row: row.name,
        texts=lambda row: [row.name],
    )
    html = drawn(TableQuery(), table)
    assert "&lt;b&gt;" in html
    assert "<i>&amp;</i>" in html


def test_a_sum_that_lacks_a_part_is_marked_and_what_is_unknown_is_not() -> None:
    html = drawn(TableQuery(unhidden=WITH_ROTTEN), IN_PART)
    assert html.count("≥") == 3
    assert "≥ 180 g</td>" in html


def test_an_empty_table_says_why() -> None:
    assert "Nothing matches “kiwi”." in drawn(TableQuery(text="kiwi"))
    page = page_of(TABLE, [], TableQuery())
    html = render_to_string("frame/table.html", {"page": page, "empty": "No fruit."})
    assert "No fruit." in html


def test_a_cell_can_be_copied_and_says_what_that_gives() -> None:
    name = replace(TABLE.columns[0], copies=lambda row: row.name.rstrip("e"))
    html = drawn(TableQuery(text="apple"), replace(TABLE, columns=[name]))
    assert '<td class="lead copies">Apple<button class="copy"' in html
    assert 'data-copy="Appl" aria-label="Copy: Name Appl"' in html
    none = replace(name, copies=lambda row: "")
    html = drawn(TableQuery(text="apple"), replace(TABLE, columns=[none]))
    assert '<td class="lead">Apple</td>' in html
