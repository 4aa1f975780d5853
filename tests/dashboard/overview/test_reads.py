from __future__ import annotations

from typing import Any

import pytest

from dashboard.brokers.reach import reach_of
from dashboard.overview.reads import SORTS, ListQuery, list_groups
from tests.dashboard.documents import NOW_MS, overview, overview_row
from tests.dashboard.missing import (
    SINCE_MS,
    name_server,
    overview_missing,
    overview_unnamed,
)

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


def test_what_looks_healthy_and_is_known_in_part_stands_among_the_unknown() -> None:
    rows = [
        overview_row("half-healthy", complete=False),
        overview_row("worst", status={"level": "crit", "word": "stalled"}),
        overview_row("unsure", status={"level": "unk", "word": "unknown"}),
        overview_row("whole", complete=True),
    ]
    found = list_groups(overview(groups=rows), ListQuery())
    named = [row["group"] for row in found.rows]
    assert named == ["worst", "half-healthy", "unsure", "whole"]
    assert found.counts == {"crit": 1, "warn": 0, "unk": 1, "ok": 2}


def test_how_far_a_sweep_reached() -> None:
    reach = reach_of(overview_missing())
    states = {broker.name: (broker.state, broker.since) for broker in reach.brokers}
    assert states == {
        "hz1@broker-a": ("answered", None),
        "hz2@broker-b": ("silent", NOW_MS - 40_000),
        "hz2@broker-c": ("missing", NOW_MS - SINCE_MS),
    }
    assert [broker.unlisted_by for broker in reach.brokers] == [0, 0, 2]
    assert (reach.answering, reach.servers, reach.no_server) == (1, 2, False)
    assert (reach.partial_groups, reach.partial_lags) == (3, 3)


def test_documents_of_older_versions_tell_who_did_not_answer() -> None:
    reach = reach_of(DOCUMENT)
    (silent,) = reach.troubles
    assert (silent.name, silent.state) == ("hz2@broker-c", "silent")
    assert silent.since == NOW_MS - 96_000
    assert (reach.answering, reach.partial_groups) == (2, 2)
    assert reach_of(overview(groups=[overview_row("a")])).partial_groups == 0


def test_a_broker_that_a_name_server_does_not_list_may_answer_all_the_same() -> None:
    made = overview_missing()
    made["brokers"][2].update(answered=True)
    made["nameservers"] = [name_server(1, unlisted=["hz2@broker-c"]), name_server(2)]
    reach = reach_of(made)
    assert reach.answering == 2
    assert [broker.unlisted_by for broker in reach.brokers] == [0, 0, 1]


def test_name_servers_that_do_not_answer_are_told_from_brokers() -> None:
    reach = reach_of(overview_unnamed())
    assert reach.no_server
    assert (len(reach.unheard), reach.answering, reach.troubles) == (2, 3, [])


@pytest.mark.parametrize(
    ("address", "error", "told"),
    [
        ("10.0.0.1:1", "10.0.0.1:1 did not answer", "10.0.0.1:1 did not answer"),
        ("10.0.0.1:1", "refused", "10.0.0.1:1 · refused"),
        ("10.0.0.1:1", None, "10.0.0.1:1"),
        (None, "refused", "refused"),
        (None, None, ""),
    ],
)
def test_an_address_is_named_once(
    address: str | None, error: str | None, told: str
) -> None:
    made = overview()
    made["brokers"][2].update(address=address, error=error)
    assert reach_of(made).brokers[2].told == told
