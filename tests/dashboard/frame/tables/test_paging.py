from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.frame.tables import Chip, Column, Facet, Table, TableQuery, page_of
from dashboard.frame.tables.paging import MOST_LISTED
from dashboard.frame.tables.table import natural


@dataclass(frozen=True, slots=True)
class Fruit:
    name: str
    weight: int | None
    colours: tuple[str, ...] = ()
    rotten: bool = False


FRUIT = [
    Fruit("pear 10", 180, ("green",)),
    Fruit("pear 2", None, ("green", "brown"), rotten=True),
    Fruit("Apple", 120, ("red",)),
    Fruit("cherry", 8, ("red",)),
]
TABLE: Table[Fruit] = Table(
    title="Fruit",
    filter_title="Filter fruit",
    columns=[
        Column("name", "Name", lambda row: row.name, lambda row: row.name, fixed=True),
        Column(
            "weight",
            "Weight",
            lambda row: row.weight,
            lambda row: f"{row.weight} g",
            falls=True,
            unknown=lambda row: "never weighed",
        ),
        Column(
            "colours", "Colours", lambda row: row.colours, lambda row: "", shown=False
        ),
    ],
    key=lambda row: row.name,
    rank=lambda row: natural(row.name),
    texts=lambda row: [row.name, *row.colours],
    segments=[Chip("heavy", "Heavy", lambda row: (row.weight or 0) > 100)],
    hidden=[Chip("rotten", "Rotten", lambda row: row.rotten)],
    facets=[Facet("colour", "Colour", lambda row: row.colours)],
    page_rows=2,
)
IN_PART = replace(
    TABLE,
    columns=[
        replace(each, partial=lambda row: row.name != "ash")
        if each.key == "weight"
        else each
        for each in TABLE.columns
    ],
    page_rows=9,
)
"""The same table, where a weight is a part, but for that of "ash"."""
WITH_ROTTEN = ("rotten",)


def names(**asked: Any) -> list[str]:
    return [row.name for row in page_of(TABLE, FRUIT, TableQuery(**asked)).chosen]


def test_rows_stand_in_the_tables_own_order() -> None:
    assert names(unhidden=WITH_ROTTEN) == ["Apple", "cherry", "pear 2", "pear 10"]


def test_rows_of_a_hidden_chip_are_counted_and_shown_on_request() -> None:
    page = page_of(TABLE, FRUIT, TableQuery())
    assert [row.name for row in page.chosen] == ["Apple", "cherry", "pear 10"]
    assert [(each.chip.key, each.count, each.on) for each in page.hidden] == [
        ("rotten", 1, False)
    ]
    assert (page.counted, page.total) == (3, 4)


def test_a_column_sorts_both_ways_and_unknown_stands_last() -> None:
    by_weight = ["cherry", "Apple", "pear 10", "pear 2"]
    assert names(sort="weight", unhidden=WITH_ROTTEN) == by_weight
    falling = ["pear 10", "Apple", "cherry", "pear 2"]
    assert names(sort="-weight", unhidden=WITH_ROTTEN) == falling


def test_numbers_in_names_sort_as_numbers() -> None:
    assert names(sort="-name", unhidden=WITH_ROTTEN)[:2] == ["pear 10", "pear 2"]
    assert natural("G2") < natural("g10") < natural("ga")


def _parts(text: str) -> list[str | int]:
    parts: list[str | int] = list(re.split(r"(\d{1,18})", text.casefold()))
    parts[1::2] = map(int, parts[1::2])
    return parts


@given(st.lists(st.text("aB-_.0123456789 \U0001d7d8é%"), min_size=2))
def test_texts_sort_by_their_parts_in_turn(texts: list[str]) -> None:
    assert sorted(texts, key=natural) == sorted(texts, key=_parts)


def test_text_segments_and_facets_narrow_the_rows() -> None:
    assert names(text="APPLE") == ["Apple"]
    assert names(segment="heavy") == ["Apple", "pear 10"]
    assert names(facets={"colour": "red"}) == ["Apple", "cherry"]
    assert names(facets={"colour": "blue"}) == []


def test_a_facet_offers_the_values_that_rows_have() -> None:
    page = page_of(TABLE, FRUIT, TableQuery(facets={"colour": "blue"}))
    assert page.facets[0].values == ["blue", "brown", "green", "red"]
    assert page.filtered


def test_pages_are_cut_and_a_page_too_far_is_the_last() -> None:
    page = page_of(TABLE, FRUIT, TableQuery(page=99))
    assert [row.name for row in page.rows] == ["pear 10"]
    assert (page.first, page.last, page.pages, page.query.page) == (3, 3, 2, 2)


def test_an_empty_table_is_one_empty_page() -> None:
    page = page_of(TABLE, [], TableQuery())
    assert (page.first, page.last, page.pages, page.found) == (0, 0, 1, 0)
    assert not page.filtered


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        ((), ["name", "weight"]),
        (("colours",), ["name", "colours"]),
    ],
)
def test_columns_are_chosen_and_a_fixed_one_stays(
    columns: tuple[str, ...], shown: list[str]
) -> None:
    page = page_of(TABLE, FRUIT, TableQuery(columns=columns))
    assert [each.key for each in page.columns] == shown


def test_a_part_of_a_value_picks_rows_where_no_row_has_it_whole() -> None:
    assert names(facets={"colour": "GRE"}) == ["pear 10"]
    assert names(facets={"colour": "blue"}) == []


def test_a_value_that_some_row_has_is_no_part_whatever_else_is_picked() -> None:
    rows = [Fruit("fig", 1, ("red",)), Fruit("plum", 2, ("dark red",))]
    query = TableQuery(text="plum", facets={"colour": "red"})
    assert page_of(TABLE, rows, query).chosen == []


def test_many_values_and_those_to_be_typed_are_not_listed() -> None:
    many = [Fruit(str(n), n, (f"shade {n}",)) for n in range(MOST_LISTED + 1)]
    facets = page_of(TABLE, many, TableQuery(facets={"colour": "shade 7"})).facets
    assert [(each.values, each.picked) for each in facets] == [((), "shade 7")]
    typed = replace(TABLE, facets=[Facet("colour", "Colour", never, typed=True)])
    assert page_of(typed, FRUIT, TableQuery()).facets[0].values == ()


def never(fruit: Fruit) -> list[str]:
    raise AssertionError(f"nobody asked for the colours of {fruit.name}")
