"""Searches that were cut short, in words."""

from __future__ import annotations

from dashboard.frame.messages.cuts import cuts_said
from dashboard.gateway.queue_search import Cut


def test_places_that_were_cut_short_are_told_together() -> None:
    cuts = [Cut("limit", f"broker-a / {n}") for n in range(6)] + [Cut("key", "b")]
    (limit, key) = cuts_said(cuts)
    assert limit[1].endswith("broker-a / 2, broker-a / 3, ….")
    assert key == (
        "key",
        "b returned as many as it gives for one key: there may be older ones.",
    )
