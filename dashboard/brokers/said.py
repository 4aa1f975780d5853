"""Describes what is wrong with a broker, in words."""

from __future__ import annotations

from typing import Final

from dashboard.live.documents import BrokerCondition
from dashboard.wording.numbers import clock, duration
from dashboard.wording.words import word

BROKERS_NAMED: Final = 3
"""How many brokers a banner names one by one; the others are counted."""


def say_broker(
    name: str, state: BrokerCondition, since: int | None, now_ms: int
) -> tuple[str, str]:
    """Return what is wrong with a broker and since when, and for how long."""
    if since is None:
        return word("ui", f"broker_{state}_now", name=name), word("ui", "full_stop")
    what = word("ui", f"broker_{state}_since", name=name, time=clock(since))
    return what, word("ui", "for_span", span=duration(now_ms - since))
