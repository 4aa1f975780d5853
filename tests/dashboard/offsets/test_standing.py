"""What has become of a move, judged from what stands now."""

from __future__ import annotations

import pytest

from dashboard.offsets.standing import outcomes_of


@pytest.mark.parametrize(
    ("before", "asked", "now", "state"),
    [
        (80, 50, 50, "stands"),
        (80, 50, 60, "going_on"),
        (80, 50, 80, "past"),
        (20, 50, 30, "back"),
        (20, 50, 70, "going_on"),
        (None, 50, 70, "going_on"),
    ],
)
def test_a_queue_is_told_by_where_it_is(
    before: int | None, asked: int, now: int, state: str
) -> None:
    row = {"broker": "a", "queue_id": 0, "before": before, "asked": asked}
    row |= {"stood": asked, "problem": ""}
    assert outcomes_of([row], {"a/0": now})[0].state == state
    assert outcomes_of([row], {})[0].state == "unknown"
    assert outcomes_of([row], {"a/0": None})[0].state == "none"
    assert outcomes_of([row | {"problem": "full"}], {"a/0": now})[0].state == "failed"
