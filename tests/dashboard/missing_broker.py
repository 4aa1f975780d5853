"""A group of which one broker is missing, as the collector writes it."""

from __future__ import annotations

from typing import Any

from dashboard.live.documents import GroupState

from .documents import BROKERS

SINCE = 1_780_000_000_000


def without_a_broker(state: GroupState, name: str = BROKERS[0]) -> GroupState:
    """Return a document whose queues on a broker keep their last values only."""
    for queue in state["queues"]:
        if queue["broker"] != name:
            continue
        old: Any = queue
        old["last"] = {
            "at": SINCE,
            **{key: old[key] for key in ("min", "max", "committed", "lag")},
            "owners": old["owners"],
            "owner_source": old["owner_source"],
        }
        old |= dict.fromkeys(
            (
                "min",
                "max",
                "committed",
                "pulled",
                "lag",
                "lag_ms",
                "rate_in",
                "rate_out",
            )
        )
        old |= {"owners": [], "owner_source": None}
        old["unknown"] = {"lag": "missing", "owners": "missing"}
    whole: Any = state
    whole["complete"] = False
    for broker in whole["brokers"]:
        gone = broker["name"] == name
        broker["state"] = "missing" if gone else "answered"
        broker["since"] = SINCE if gone else None
    return state
