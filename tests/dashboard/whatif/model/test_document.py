"""A comparison as JSON."""

from __future__ import annotations

import json
from typing import Any

from dashboard.whatif.model import (
    QueueCount,
    QueueState,
    Scenario,
    Situation,
    compare,
    comparison_document,
    from_query,
    read_situation,
)
from rmqcore.allocation import BALANCED
from tests.dashboard.whatif.made import (
    group_document,
    queue,
    queues,
    situation,
)


def written(group: Situation, scenario: Scenario) -> dict[str, Any]:
    text = json.dumps(comparison_document(compare(group, scenario)), allow_nan=False)
    return json.loads(text)  # type: ignore[no-any-return]


def row(document: dict[str, Any], key: str) -> dict[str, Any]:
    return next(each for each in document["rows"] if each["key"] == key)


def test_the_whole_document() -> None:
    scenario = Scenario(add=("C",), strategy="AVG_BY_CIRCLE")
    document = written(read_situation(group_document()), scenario)
    assert document["cluster"] == "test"
    assert document["group"] == "G"
    assert document["taken_at"] == 1_780_000_000_000
    assert document["strategy"] == "AVG_BY_CIRCLE"
    assert from_query(document["query"]) == scenario
    assert document["clients"] == ["A", "B", "C"]
    assert document["members"] == {"now": [0, 1], "then": [0, 1, 2]}
    assert document["queues"] == [
        ["orders", "broker-a", 0, 0, 10.0],
        ["orders", "broker-a", 1, 0, 10.0],
        ["orders", "broker-a", 2, 7, 10.0],
    ]
    assert document["loads"] == {"unit": "rate", "assumed": 1, "assumed_of": [1]}
    assert document["member_rate"] == {"value": 25.0, "source": "observed"}
    assert document["notes"] == [
        {"code": "rates_assumed", "params": {"queues": 1, "all": 3}}
    ]
    assert (document["complete"], document["missing"]) == (True, [])


def test_a_row() -> None:
    document = written(read_situation(group_document()), Scenario(add=("C",)))
    assert row(document, "AVG") == {
        "key": "AVG",
        "strategy": "AVG",
        "reason": None,
        "assumed": {},
        "owners": [0, 1, 2],
        "moved": [1, 2],
        "gained": [],
        "lost": [],
        "unheard": [],
        "unassigned": 0,
        "twice": 0,
        "full": True,
        "idle": [],
        "members": {
            "client": [0, 1, 2],
            "queues": [1, 1, 1],
            "load": [10.0, 10.0, 10.0],
            "load_assumed": [False, True, False],
            "lag": [0, 0, 7],
            "lag_partial": [False, False, False],
            "drain_s": [0.0, None, 7 / 15],
        },
        "by_queues": {"max_over_mean": 1.0, "variation": 0.0, "gini": 0.0, "idle": 0},
        "by_load": dict.fromkeys(("max_over_mean", "variation", "gini", "idle")),
        "by_lag": row(document, "AVG")["by_lag"],
        "worst_drain_s": None,
        "remainder": {"worst": 0, "least_possible": 0},
    }
    assert row(document, "AVG")["by_lag"]["max_over_mean"] == 3.0


def test_reasons_and_assumptions() -> None:
    document = written(situation("AB", queues(2)), Scenario())
    config = row(document, "CONFIG")
    assert config == {
        "key": "CONFIG",
        "strategy": "CONFIG",
        "reason": {"code": "needs_options", "params": {"options": "config"}},
        "assumed": {},
    }
    assert row(document, "CONSISTENT_HASH")["assumed"] == {"virtual_nodes": 10}


def test_never_is_a_word() -> None:
    group = situation("A", queues(2), lags=[5, 0], member_rate=1.0)
    assert row(written(group, Scenario()), "AVG")["worst_drain_s"] == "never"


def test_owners_none_several_and_unknown_to_the_row() -> None:
    group = Situation(
        "c",
        "G",
        ("A", "B"),
        (
            QueueState(queue(0), ("A", "B")),
            QueueState(queue(1), ()),
            QueueState(queue(2), ("gone",), lag=4.0),
        ),
    )
    smaller = Scenario(queue_counts=(QueueCount("orders", "broker-a", 2),))
    document = written(group, smaller)
    assert document["clients"] == ["A", "B", "gone"]
    assert row(document, "NOW")["owners"] == [[0, 1], -1, 2]
    assert row(document, "AVG")["owners"] == [0, 1, None]
    assert document["queues"][2] == ["orders", "broker-a", 2, 4.0, None]
    assert row(document, BALANCED)["gained"] == [1]
    assert document["notes"] == [
        {"code": "lag_left_behind", "params": {"queues": 1, "lag": 4.0}}
    ]
    grown = Scenario(queue_counts=(QueueCount("orders", "broker-a", 4),))
    assert row(written(group, grown), "NOW")["owners"] == [[0, 1], -1, 2, None]


def test_where_the_rate_of_a_member_comes_from() -> None:
    group = situation("A", queues(1), rates=[None])
    assert written(group, Scenario())["member_rate"] == {"value": None, "source": None}
    loads = {"unit": "queues", "assumed": 0, "assumed_of": []}
    assert written(group, Scenario())["loads"] == loads
    entered = written(group, Scenario(member_rate=5.0))["member_rate"]
    assert entered == {"value": 5.0, "source": "entered"}
