"""The rate of a run, without a cluster."""

from __future__ import annotations

from dashboard.dead_letters.playing import Pace


class Time:
    """A clock that the pauses move on, and that says how long they were."""

    def __init__(self) -> None:
        self.now = 100.0
        self.pauses: list[float] = []
        self.ends = False

    def pause(self, seconds: float) -> bool:
        self.pauses.append(round(seconds, 3))
        self.now += seconds
        return self.ends


def test_letters_are_sent_at_most_at_the_rate() -> None:
    time = Time()
    pace = Pace(4, time.pause, lambda: time.now)
    assert [pace.wait() for _ in range(4)] == [True] * 4
    assert time.pauses == [0.0, 0.25, 0.25, 0.25]


def test_what_a_slow_broker_cost_is_not_made_up_in_a_burst() -> None:
    time = Time()
    pace = Pace(4, time.pause, lambda: time.now)
    pace.wait()
    time.now += 10
    pace.wait()
    pace.wait()
    assert time.pauses == [0.0, 0.0, 0.25]


def test_a_worker_that_ends_does_not_wait_for_the_next_turn() -> None:
    time = Time()
    pace = Pace(1, time.pause, lambda: time.now)
    time.ends = True
    assert pace.wait() is False
