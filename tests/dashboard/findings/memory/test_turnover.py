from __future__ import annotations

from dashboard.findings.memory.turnover import (
    SETTLING_MS,
    SHORT_STAY_MS,
    WINDOW_MS,
    Turnover,
)

QUEUE = ("orders", "a", 0)


def test_who_leaves_soon_after_joining_made_a_short_stay() -> None:
    turnover = Turnover()
    turnover.take(0, joined=["new", "other"])
    turnover.take(SHORT_STAY_MS, left=["new"])
    turnover.take(SHORT_STAY_MS + 1, left=["other"])
    assert turnover.stays == ["new"]


def test_who_was_there_from_the_start_made_none() -> None:
    turnover = Turnover()
    turnover.take(0, left=["old"])
    assert turnover.stays == []


def test_stays_and_moves_are_forgotten_after_the_window() -> None:
    turnover = Turnover()
    turnover.take(0, joined=["new"])
    turnover.take(1, left=["new"])
    turnover.take(2 + SETTLING_MS, moved=[QUEUE])
    assert turnover.moves == {QUEUE: 1}
    turnover.take(3 + SETTLING_MS + WINDOW_MS)
    assert (turnover.stays, dict(turnover.moves)) == ([], {})


def test_moves_that_follow_a_change_of_members_do_not_count() -> None:
    turnover = Turnover()
    turnover.take(0, moved=[QUEUE])
    turnover.take(1_000, joined=["new"], moved=[QUEUE])
    turnover.take(20_000, moved=[QUEUE])
    turnover.take(30_000, left=["old"])
    turnover.take(30_000 + SETTLING_MS, moved=[QUEUE])
    assert turnover.moves == {QUEUE: 1}
    turnover.take(30_001 + SETTLING_MS, moved=[QUEUE])
    assert turnover.moves == {QUEUE: 2}
