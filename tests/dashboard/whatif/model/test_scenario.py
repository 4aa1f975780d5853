"""A scenario checks itself."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from dashboard.whatif.model import QueueCount, Scenario
from rmqcore.errors import ArgumentError, UnknownStrategyError
from tests.dashboard.whatif.made import queue, queues


def test_nothing_is_changed_by_default() -> None:
    assert Scenario().changes_nothing
    assert Scenario(strategy="AVG", member_rate=5.0).changes_nothing
    edits: list[dict[str, Any]] = [
        {"add": ("x",)},
        {"remove": ("x",)},
        {"rename": (("x", "y"),)},
        {"queue_counts": (QueueCount("T", "b", 1),)},
        {"rates": (("T", 1.0),)},
        {"rate_factor": 2.0},
    ]
    for edit in edits:
        assert not Scenario(**edit).changes_nothing


def test_config_lists_are_tidied() -> None:
    first, second = queues(2)
    found = Scenario(
        config=(("A", (second, first, second)), ("B", ()), ("A", (first,)))
    )
    assert found.config == (("A", (first, second)),)


@pytest.mark.parametrize("name", ["strategy", "inner"])
def test_unknown_strategies_are_refused(name: str) -> None:
    with pytest.raises(UnknownStrategyError, match="'STICKY'"):
        Scenario(**{name: "STICKY"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"add": ("",)}, "a member needs a client id"),
        ({"remove": ("",)}, "a member needs a client id"),
        ({"rename": (("A", ""),)}, "a member needs a client id"),
        ({"add": ("x",) * 5001}, "members to add: 5001, it must be from 0 to 5,000"),
        ({"rate_factor": -1.0}, "rate_factor is -1"),
        ({"rate_factor": nan}, "rate_factor is nan"),
        ({"member_rate": inf}, "member_rate is inf"),
        ({"rates": (("T", -2.0),)}, "rate of topic 'T' is -2"),
        ({"queue_counts": (QueueCount("", "b", 1),)}, "needs topic and broker"),
        ({"queue_counts": (QueueCount("T", "", 1),)}, "needs topic and broker"),
        ({"queue_counts": (QueueCount("T", "b", -1),)}, "queues of T: -1"),
        (
            {
                "queue_counts": (
                    QueueCount("T", "b", 60_000),
                    QueueCount("T", "c", 60_000),
                )
            },
            "queues asked for: 120000, it must be from 0 to 100,000",
        ),
        ({"virtual_nodes": 1001}, "virtual_nodes: 1001, it must be from 0 to 1,000"),
        ({"config": (("", (queue(0),)),)}, "a CONFIG list needs a client id"),
        ({"config": (("A", (queue(-1),)),)}, "queue id of .* -1, it must be"),
        ({"config": (("A", (queue(0),) * 100_001),)}, "queues in CONFIG lists: 100001"),
    ],
)
def test_what_is_out_of_bounds_is_refused(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        Scenario(**changes)
