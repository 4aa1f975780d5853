"""How rules fared, as a group's document carries it."""

from __future__ import annotations

from dashboard.live.documents import RulesState


def fared() -> RulesState:
    """Return a look at which two brokers were silent, and one rule failed."""
    return {
        "checked": 18,
        "unchecked": [
            {
                "key": "losing_ground",
                "why": "brokers",
                "names": ["broker-a", "broker-b"],
            },
            {"key": "gone", "why": "brokers", "names": ["broker-a", "broker-b"]},
            {"key": "stalled", "why": "time", "names": []},
        ],
        "failed": [{"key": "rewound", "error": "KeyError: 'offset'"}],
    }
