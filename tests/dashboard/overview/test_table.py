from __future__ import annotations

from typing import Any

import pytest

from dashboard.brokers.reach import reach_of
from dashboard.frame.tables import TableQuery, page_of
from dashboard.live.documents import Overview
from dashboard.overview.table import groups_table
from tests.dashboard.documents import NOW_MS, looked_at, overview, overview_row
from tests.dashboard.missing import (
    SINCE_MS,
    name_server,
    overview_missing,
    overview_unnamed,
)

DOCUMENT = overview()


def listed(document: Overview = DOCUMENT, **asked: Any) -> list[str]:
    query = TableQuery(segment_name="level", **asked)
    page = page_of(groups_table("hangzhou"), document["groups"], query)
    return [row["group"] for row in page.chosen]


def test_the_documents_own_order_is_worst_first() -> None:
    assert listed()[:3] == ["order-settlement", "invoice-pdf", "payment-events"]


def test_groups_and_topics_are_searched_in_any_case() -> None:
    assert listed(text="INVOICE") == ["invoice-pdf"]
    assert listed(text="payments") == ["payment-events"]
    assert listed(text="no such") == []


def test_a_level_filters_and_every_level_stays_counted() -> None:
    table = groups_table("hangzhou")
    page = page_of(table, DOCUMENT["groups"], TableQuery(segment="crit"))
    assert [row["group"] for row in page.chosen] == ["order-settlement", "invoice-pdf"]
    counts = {each.chip.key: each.count for each in page.segments}
    assert counts == {"crit": 2, "warn": 1, "unk": 2, "ok": 15}
    assert [(each.chip.key, each.count) for each in page.hidden] == [("offline", 1)]


def test_every_column_that_sorts_has_a_value_of_one_type() -> None:
    for column in groups_table("hangzhou").columns:
        if column.sorts:
            assert sorted(listed(sort=column.key)) == sorted(listed())
            assert sorted(listed(sort=f"-{column.key}")) == sorted(listed())


def test_a_group_at_rest_is_hidden_until_it_is_asked_for() -> None:
    idle = {"level": "unk", "word": "no_members"}
    late = {"level": "crit", "word": "no_members"}
    rows = [
        overview_row("at-rest", kind="offline", status=idle),
        overview_row("left-behind", kind="offline", status=late),
        overview_row("healthy"),
    ]
    document = overview(groups=rows)
    assert listed(document) == ["left-behind", "healthy"]
    assert listed(document, unhidden=("offline",)) == [
        "left-behind",
        "at-rest",
        "healthy",
    ]


def test_groups_are_picked_by_their_strategy() -> None:
    rows = [
        overview_row("one", strategy={"name": "AVG", "source": "reported"}),
        overview_row("two", strategy={"name": None, "source": None}),
    ]
    assert listed(overview(groups=rows), facets={"strategy": "AVG"}) == ["one"]


def test_numbers_in_names_sort_as_numbers() -> None:
    rows = [overview_row(f"G{number}") for number in (10, 2, 1)]
    assert listed(overview(groups=rows), sort="group") == ["G1", "G2", "G10"]


def test_an_address_of_earlier_versions_means_the_same() -> None:
    params = {"q": " a ", "level": "warn", "sort": "-lag", "page": "3"}
    query = TableQuery.from_params(params, groups_table("hangzhou"))
    assert (query.text, query.segment) == ("a", "warn")
    assert query.url(page=4) == "?q=a&level=warn&sort=-lag&page=4"


def test_what_looks_healthy_and_is_known_in_part_stands_among_the_unknown() -> None:
    rows = [
        overview_row("worst", status={"level": "crit", "word": "stalled"}),
        overview_row("half-healthy", complete=False),
        overview_row("unsure", status={"level": "unk", "word": "unknown"}),
        overview_row("whole", complete=True),
    ]
    order = ["worst", "half-healthy", "unsure", "whole"]
    assert listed(overview(groups=rows)) == order


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


def test_what_is_not_listed_is_unsure_while_a_broker_does_not_answer_in_full() -> None:
    away = reach_of(overview_missing())
    assert away.unsure == "Not known: hz2@broker-b, hz2@broker-c do not answer in full."
    assert reach_of(looked_at()).unsure == ""
    assert reach_of(looked_at(error="refused")).unsure.endswith("sweep failed.")


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


@pytest.mark.parametrize(
    ("facet", "value", "found"),
    [
        ("topic", "payments", ["payments-eu"]),
        ("broker", "broker-b", ["payments-eu"]),
        ("version", "4.9.7", ["stock"]),
        ("owner", "10.0.0.7@1#2", ["stock"]),
        ("owner", "10.0.0", ["payments-eu", "stock"]),
        ("owner", "10.9", []),
    ],
)
def test_groups_are_picked_by_what_they_read_and_who_owns(
    facet: str, value: str, found: list[str]
) -> None:
    rows = [
        overview_row("payments-eu", topics=["payments"], brokers=["broker-b"]),
        overview_row("stock", brokers=["broker-a"], versions=["V4_9_7"]),
        overview_row("of-an-older-collector"),
    ]
    owners = {"stock": ["10.0.0.7@1#2"], "payments-eu": ["10.0.0.8@1#2"]}
    table = groups_table("hangzhou", lambda: owners)
    page = page_of(table, rows, TableQuery(facets={facet: value}))
    assert [row["group"] for row in page.chosen] == found
