from __future__ import annotations

from dataclasses import replace
from graphlib import TopologicalSorter

import pytest

from dashboard.findings import RULES, Finding, in_causal_order
from dashboard.findings.causes import ALSO, FOLLOWS
from dashboard.findings.finding import Level

QUEUES = tuple(("orders", "a", number) for number in range(4))


def finding(key: str, level: Level, queues: slice = slice(None)) -> Finding:
    return Finding(key, level, queues=QUEUES[queues])


def order(*findings: Finding) -> list[tuple[str, str | None]]:
    return [(found.key, cause) for found, cause in in_causal_order(findings)]


def test_a_cause_stands_before_a_symptom_that_is_worse() -> None:
    assert order(
        finding("stalled", "crit"),
        finding("hot_queue", "warn"),
        finding("mixed_strategies", "warn"),
    ) == [
        ("mixed_strategies", None),
        ("stalled", "mixed_strategies"),
        ("hot_queue", "mixed_strategies"),
    ]


def test_tags_that_differ_come_before_the_lag_that_follows() -> None:
    assert order(
        finding("losing_ground", "warn"), finding("inconsistent_subscriptions", "crit")
    ) == [
        ("inconsistent_subscriptions", None),
        ("losing_ground", "inconsistent_subscriptions"),
    ]


def test_effects_follow_their_own_cause() -> None:
    found = order(
        finding("lost_messages", "crit"),
        finding("losing_ground", "warn"),
        finding("dead_letters", "warn"),
        finding("retries", "warn"),
    )
    assert found == [
        ("retries", None),
        ("losing_ground", "retries"),
        ("lost_messages", "losing_ground"),
        ("dead_letters", "retries"),
    ]


def test_other_queues_are_no_effect() -> None:
    assert order(
        finding("losing_ground", "warn", slice(2, 4)),
        finding("different_topics", "crit", slice(2)),
    ) == [("different_topics", None), ("losing_ground", None)]


def test_a_cause_without_a_queue_in_common_is_none() -> None:
    none = slice(0)
    assert order(
        finding("stalled", "crit"), finding("mixed_strategies", "warn", none)
    ) == [("stalled", None), ("mixed_strategies", None)]
    assert order(
        finding("losing_ground", "warn", none), finding("different_topics", "crit")
    ) == [("different_topics", None), ("losing_ground", None)]


@pytest.mark.parametrize("cause", ["retries", "flapping"])
def test_what_concerns_the_whole_group_explains_every_queue(cause: str) -> None:
    found = order(finding("stalled", "crit"), finding(cause, "warn", slice(0)))
    assert found == [(cause, None), ("stalled", cause)]


def test_a_cause_that_was_not_checked_again_explains_nothing() -> None:
    held = replace(finding("mixed_strategies", "crit"), as_of_ms=1)
    found = order(finding("stalled", "crit"), held)
    assert [cause for _, cause in found] == [None, None]


def test_what_has_nothing_to_do_with_each_other_comes_worst_first() -> None:
    assert order(
        finding("broadcasting", "info"),
        finding("rewound", "warn"),
        finding("owned_twice", "crit"),
    ) == [("owned_twice", None), ("rewound", None), ("broadcasting", None)]


def test_no_finding_follows_from_itself_in_a_circle() -> None:
    assert set(FOLLOWS) == {rule.key for rule in RULES} >= set(ALSO)
    for causes in ALSO.values():
        assert set(causes) <= set(FOLLOWS)
    TopologicalSorter(FOLLOWS).prepare()
