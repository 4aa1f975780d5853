from __future__ import annotations

from typing import Any

import pytest

from dashboard.fleet.wishes import check
from rmqcore.errors import ArgumentError

GOOD: dict[str, Any] = {
    "group": "billing",
    "topics": [("orders", "TagA || TagB")],
    "mode": "CLUSTERING",
    "strategy": "CONSISTENT_HASH",
    "strategy_options": {"virtual_nodes": 20},
    "start_position": "CONSUME_FROM_FIRST_OFFSET",
    "listener": "work",
    "listener_options": {"ms": 5},
}


def test_what_can_be_hosted_passes() -> None:
    check(**GOOD)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"topics": []}, "needs a topic, got none"),
        ({"topics": [("", "*")]}, "got an empty one"),
        (
            {"mode": "SOLO"},
            "mode is 'SOLO'; the known ones are CLUSTERING, BROADCASTING",
        ),
        ({"strategy": "FAIR"}, "unknown allocation strategy 'FAIR'"),
        ({"strategy": "AVG"}, "AVG takes no option 'virtual_nodes'"),
        (
            {"strategy": "CONFIG", "strategy_options": {"config": {"1": ["q"]}}},
            "config['1'] has 'q'; an entry is topic, broker and queue ids",
        ),
        ({"start_position": "NOON"}, "unknown start position 'NOON'"),
        ({"listener": "sing"}, "unknown listener 'sing'"),
        ({"listener_options": {"ms": -1}}, "ms is -1"),
    ],
)
def test_what_cannot_is_named(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        check(**{**GOOD, **changes})
    assert said in str(caught.value)
