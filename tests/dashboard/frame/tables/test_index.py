from __future__ import annotations

from dataclasses import replace

from dashboard.frame.tables import Chip, Index, Table, TableQuery, page_of

from .test_paging import FRUIT, TABLE, Fruit


def test_a_kept_index_answers_as_a_new_one_does() -> None:
    kept = Index(TABLE, FRUIT)
    asked = [
        TableQuery(),
        TableQuery(text="P"),
        TableQuery(text="a\0b"),
        TableQuery(sort="-weight"),
        TableQuery(sort="weight", text="e"),
        TableQuery(unhidden=("rotten",)),
        TableQuery(facets={"colour": "green"}),
        TableQuery(facets={"colour": "e"}),
    ]
    for query in asked * 2:
        page, fresh = page_of(TABLE, FRUIT, query, kept), page_of(TABLE, FRUIT, query)
        assert page.chosen == fresh.chosen, query
        assert [each.count for each in page.segments] == [
            each.count for each in fresh.segments
        ]
        assert page.facets == fresh.facets


def test_rows_are_found_by_text_whatever_is_in_their_names() -> None:
    for name in "Straße", "two\nlines", "\u0130", "a\0b":
        rows = [replace(FRUIT[0], name="before"), replace(FRUIT[0], name=name)]
        for asked in name, name.upper(), name[:1]:
            index = Index(TABLE, rows)
            assert index.with_text(asked) >> 8 & 1, asked


def test_a_kept_index_does_not_look_at_rows_again() -> None:
    looked: list[str] = []

    def rank(row: Fruit) -> str:
        looked.append(row.name)
        return row.name

    table = replace(TABLE, rank=rank)
    kept = Index(table, FRUIT)
    page_of(table, FRUIT, TableQuery(), kept)
    page_of(table, FRUIT, TableQuery(text="a"), kept)
    assert len(looked) == len(FRUIT)


def test_a_chip_is_kept_for_those_readers_to_whom_it_says_the_same() -> None:
    kept = Index(TABLE, FRUIT)

    def names(*mine: str) -> list[str]:
        chip: Chip[Fruit] = Chip(
            "mine", "Mine", lambda row: row.name in mine, readers=mine
        )
        table: Table[Fruit] = replace(TABLE, only=[chip])
        page = page_of(
            table, FRUIT, TableQuery(only=("mine",), unhidden=("rotten",)), kept
        )
        return [row.name for row in page.chosen]

    first, second = FRUIT[0].name, FRUIT[1].name
    assert names(first) == [first]
    assert names(second) == [second]


def test_a_row_is_drawn_once_for_the_same_columns() -> None:
    kept = Index(TABLE, FRUIT)
    assert kept.drawn(0, "a", lambda row: "first") == "first"
    assert kept.drawn(0, "a", lambda row: "second") == "first"
    assert kept.drawn(0, "a,b", lambda row: "third") == "third"
    assert kept.drawn(1, "a", lambda row: "fourth") == "fourth"
