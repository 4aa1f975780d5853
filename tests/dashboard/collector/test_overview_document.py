from __future__ import annotations

from dataclasses import replace
from typing import Any

from dashboard.collector.overview_document import overview_document as document_of
from dashboard.collector.overview_document import overview_row
from dashboard.collector.rates import Rates
from dashboard.collector.trend import LagTrend
from dashboard.live.documents import Overview, OverviewRow
from dashboard.live.numbering import Stamp
from rmqcore.model.columns import Reason
from rmqcore.model.snapshot import ClusterSnapshot, GroupKind

from .sights import NOW, broker, cluster, group, keys, member, sight, standing, table

QUEUES = keys(4)


def consumed(name: str, lag: int = 0):  # type: ignore[no-untyped-def]
    return group(
        table(QUEUES, high=[100 + lag, 100, 100, 100]),
        [member("c1", QUEUES)],
        expected=["c1"] * 4,
        name=name,
    )


def test_a_row_tells_the_group_in_short() -> None:
    members = [member("c1", QUEUES), member("c2", ())]
    seen = group(table(QUEUES), members, expected=["c1"] * 4, name="billing")
    row = overview_row(sight(seen), LagTrend())
    assert (row["group"], row["topics"]) == ("billing", ["orders"])
    assert (row["members"], row["queues"], row["idle"]) == (2, 4, 1)
    assert row["strategy"] == {"name": "AVG", "source": "assumed"}


def overview_document(
    name: str, seen: ClusterSnapshot, rows: list[OverviewRow], stamp: Stamp, now_ms: int
) -> Overview:
    return document_of(
        name, seen, rows, stamp, now_ms, standing=standing(*seen.brokers)
    )


def test_worst_first_then_most_lag_then_by_name() -> None:
    offline = group(table(QUEUES), name="offline", kind=GroupKind.OFFLINE)
    groups = [consumed("b"), consumed("a"), consumed("busy", 500), offline]
    rows = [overview_row(sight(each), LagTrend()) for each in groups]
    document = overview_document("east", cluster(*groups), rows, Stamp("r", 1), NOW)
    assert [row["group"] for row in document["groups"]] == ["offline", "busy", "a", "b"]
    assert document["totals"]["by_level"] == {"crit": 0, "warn": 0, "unk": 1, "ok": 3}


def test_sums_say_when_they_are_partial() -> None:
    half = group(
        table(QUEUES, high=[Reason.NO_ANSWER, 150, 100, 100]),
        [member("c1", QUEUES)],
        expected=["c1"] * 4,
    )
    brokers = [broker("a"), broker("b", answered=False)]
    document = overview_document(
        "east",
        cluster(half, brokers=brokers),
        [overview_row(sight(half), LagTrend())],
        Stamp("r", 1),
        NOW,
    )
    totals = document["totals"]
    assert (totals["lag"], totals["lag_partial"]) == (50, True)
    assert (totals["brokers"], totals["brokers_answered"]) == (2, 1)
    silent = document["brokers"][1]
    assert (silent["age_ms"], silent["error"]) == (None, "timed out after 3 s")


def test_readers_of_one_topic_do_not_count_its_messages_twice() -> None:
    groups = [consumed("a"), consumed("b")]
    rates = Rates(30.0, 12.5, (), ())
    rows = [overview_row(sight(each, rates=rates), LagTrend()) for each in groups]
    totals = overview_document("east", cluster(*groups), rows, Stamp("r", 1), NOW)[
        "totals"
    ]
    assert (totals["rate_in"], totals["rate_out"]) == (30.0, 25.0)


def test_the_oldest_message_names_its_group() -> None:
    old = group(
        table(QUEUES, high=[110, 100, 100, 100], lag_ms=[7000, 0, 0, 0]),
        [member("c1", QUEUES)],
        expected=["c1"] * 4,
        name="slow",
    )
    rows = [overview_row(sight(each), LagTrend()) for each in (old, consumed("quick"))]
    totals = overview_document("east", cluster(old), rows, Stamp("r", 1), NOW)["totals"]
    assert (totals["oldest_ms"], totals["oldest_group"]) == (7000, "slow")


def test_an_empty_cluster_has_unknown_sums() -> None:
    document = overview_document("east", cluster(), [], Stamp("r", 1), NOW)
    totals = document["totals"]
    assert (totals["lag"], totals["rate_in"], totals["oldest_group"]) == (
        None,
        None,
        None,
    )
    assert (totals["topics"], totals["queues"]) == (1, 4)


def test_a_row_carries_the_keys_of_its_findings() -> None:
    found: Any = [
        {"key": "stalled", "level": "crit"},
        {"key": "idle_members", "level": "info"},
    ]
    row = overview_row(replace(sight(consumed("a")), findings=found), LagTrend())
    assert row["findings"] == found
    assert row["status"] == {"level": "crit", "word": "stalled"}
