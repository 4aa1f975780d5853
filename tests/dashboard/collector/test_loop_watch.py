from __future__ import annotations

from dashboard.collector.lateness import HELD_MS, LATE_MS, lateness, with_skipped
from dashboard.collector.loop_watch import LoopWatch


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_tells_the_longest_time_between_beats_beyond_their_period() -> None:
    clock = Clock()
    watch = LoopWatch(0.25, clock)
    for at in (3.0, 3.25, 5.5, 5.75, 6.1):
        clock.now = at
        watch.beat()
    assert watch.take_held_ms() == 2000
    assert watch.take_held_ms() == 0


def test_tells_how_long_nothing_ran() -> None:
    clock = Clock()
    watch = LoopWatch(0.25, clock)
    clock.now = 4.0
    assert watch.silent_s == 4.0
    watch.beat()
    clock.now = 65.0
    assert watch.silent_s == 61.0


def test_a_sweep_in_time_is_not_late() -> None:
    assert lateness(LATE_MS - 1, 0, HELD_MS - 1) is None
    assert with_skipped(None, 0) is None


def test_lateness_is_told_with_all_that_is_known_of_it() -> None:
    late = lateness(LATE_MS, 0, 40)
    assert late == {"late_ms": LATE_MS, "skipped": 0, "held_ms": 40}
    assert lateness(0, 1, 0) == {"late_ms": 0, "skipped": 1, "held_ms": 0}
    assert lateness(0, 0, HELD_MS) == {"late_ms": 0, "skipped": 0, "held_ms": HELD_MS}
    assert with_skipped(late, 2) == {"late_ms": LATE_MS, "skipped": 2, "held_ms": 40}
    assert with_skipped(None, 1) == {"late_ms": 0, "skipped": 1, "held_ms": 0}
