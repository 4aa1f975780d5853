from __future__ import annotations

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
