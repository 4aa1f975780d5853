"""The last hour of a rate, drawn."""

from __future__ import annotations

from dashboard.frame.hours import hour_chart


def test_a_rate_is_said_to_be_now_only_if_the_last_bar_has_one() -> None:
    assert "peak 4.0/s, now 2.0/s" in hour_chart([4.0, None, 2.0])
    assert "peak 4.0/s, now not measured" in hour_chart([4.0, 2.0, None])
