from __future__ import annotations

from typing import Any

import pytest

from dashboard.selectors.overview import (
    SORTS,
    ListQuery,
    list_groups,
    partial_groups,
    silent_brokers,
)
from tests.dashboard.documents import overview, overview_row

DOCUMENT = overview()


def names(**asked: Any) -> list[str]:
    return [row["group"] for row in list_groups(DOCUMENT, ListQuery(**asked)).rows]


def test_the_documents_own_order_is_worst_first() -> None:
    assert names()[:3] == ["order-settlement", "invoice-pdf", "payment-events"]


def test_groups_and_topics_are_searched_in_any_case() -> None:
    assert names(text="INVOICE") == ["invoice-pdf"]
    assert names(text="payments") == ["payment-events"]
    assert names(text="no such") == []


def test_a_level_filters_and_every_level_stays_counted() -> None:
    found = list_groups(DOCUMENT, ListQuery(level="crit"))
    assert [row["group"] for row in found.rows] == ["order-settlement", "invoice-pdf"]
    assert found.counts == {"crit": 2, "warn": 1, "unk": 3, "ok": 15}
    assert (found.found, found.counted) == (2, 21)


@pytest.mark.parametrize("sort", [*SORTS, *(f"-{name}" for name in SORTS)])
def test_every_column_sorts_and_unknown_stands_last(sort: str) -> None:
    rows = list_groups(DOCUMENT, ListQuery(sort=sort), page_rows=100).rows
    values = [SORTS[sort.removeprefix("-")](row) for row in rows]
    known = [value for value in values if value is not None]
    assert known == sorted(known, reverse=sort.startswith("-"))
    assert values[len(known) :] == [None] * (len(values) - len(known))
    assert len(values) == 21


def test_pages_are_cut_and_a_page_too_far_is_the_last() -> None:
    second = list_groups(DOCUMENT, ListQuery(page=2), page_rows=10)
    assert (second.first, second.last, second.pages) == (11, 20, 3)
    last = list_groups(DOCUMENT, ListQuery(page=99), page_rows=10)
    assert (last.first, last.last, last.query.page) == (21, 21, 3)


def test_an_empty_list_is_one_empty_page() -> None:
    empty = list_groups({**DOCUMENT, "groups": []}, ListQuery(page=3))
    assert (empty.first, empty.last, empty.pages, list(empty.rows)) == (0, 0, 1, [])


@pytest.mark.parametrize(
    ("params", "query"),
    [
        ({}, ListQuery()),
        (
            {"q": " a ", "level": "warn", "sort": "-lag", "page": "3"},
            ListQuery("a", "warn", "-lag", 3),
        ),
        ({"level": "x", "sort": "x", "page": "-1"}, ListQuery()),
        ({"page": "9" * 5000}, ListQuery(page=1)),
        ({"page": "²"}, ListQuery()),
        ({"q": "x" * 300}, ListQuery(text="x" * 255)),
    ],
)
def test_what_cannot_be_read_falls_back(
    params: dict[str, str], query: ListQuery
) -> None:
    assert ListQuery.from_params(params) == query


def test_an_address_names_only_what_is_not_the_default() -> None:
    query = ListQuery("a b", "warn", "-lag", 3)
    assert query.url(page=4) == "?q=a+b&level=warn&sort=-lag&page=4"
    assert query.url(level="") == "?q=a+b&sort=-lag"
    assert ListQuery().url() == "?"


def test_what_is_missing_is_counted() -> None:
    assert silent_brokers(DOCUMENT) == ["hz2@broker-c"]
    assert partial_groups(DOCUMENT) == 2
    assert partial_groups(overview(groups=[overview_row("a")])) == 0
