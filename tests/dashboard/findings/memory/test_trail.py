from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.findings.memory.trail import (
    APART_MS,
    KEPT_MS,
    Moment,
    Trail,
    TrailKeeper,
)
from rmqcore.model.columns import Reason
from rmqcore.model.snapshot import QueueTable
from tests.dashboard.collector.sights import keys, table


def moment(at_ms: int, committed: int = 0, high: int = 100) -> Moment:
    queues = table(keys(2), high=[high] * 2, committed=[committed] * 2)
    return Moment(at_ms, queues)


def taken(*times: int) -> Trail:
    keeper = TrailKeeper()
    trail = Trail([])
    for at_ms in times:
        trail = keeper.take(moment(at_ms))
    return trail


def test_moments_lie_some_seconds_apart_and_the_newest_is_always_there() -> None:
    trail = taken(*range(0, 30_000, 1_000))
    times = [each.at_ms for each in trail.moments]
    assert times[0] == 0
    assert times[-1] == 29_000
    gaps = [b - a for a, b in itertools.pairwise(times[:-1])]
    assert all(APART_MS <= gap < APART_MS + 1_000 for gap in gaps)


@given(st.lists(st.integers(1, 60_000), min_size=1, max_size=80))
def test_a_trail_is_bounded_in_time_and_in_number(steps: list[int]) -> None:
    times = [sum(steps[: n + 1]) for n in range(len(steps))]
    trail = taken(*times)
    assert trail.moments[-1].at_ms == times[-1]
    assert trail.span_ms <= KEPT_MS
    assert len(trail.moments) <= KEPT_MS // APART_MS + 3


def test_other_queues_begin_a_new_trail() -> None:
    keeper = TrailKeeper()
    keeper.take(moment(0))
    more: QueueTable = table(keys(3))
    assert len(keeper.take(Moment(10_000, more)).moments) == 1


def test_its_end_covers_what_is_asked_or_there_is_none() -> None:
    trail = taken(0, 10_000, 20_000, 30_000)
    end = trail.last(15_000)
    assert end is not None
    assert [each.at_ms for each in end.moments] == [10_000, 20_000, 30_000]
    assert trail.last(30_000) is not None
    assert trail.last(30_001) is None
    assert Trail([]).last(1) is None
    assert Trail([]).known_rows() == []


def test_a_row_counts_that_is_known_at_every_moment() -> None:
    hidden = table(keys(2), committed=[5, Reason.NO_ANSWER])
    trail = Trail([moment(0), Moment(10_000, hidden)])
    assert trail.known_rows() == [0]
    assert [point.committed for point in trail.course(0)] == [0, 5]


def test_rates_are_growth_over_the_whole_trail() -> None:
    trail = Trail([moment(0, 0, 100), moment(10_000, 50, 300)])
    assert trail.rate("committed", 0) == pytest.approx(5)
    assert trail.rate("max", 1) == pytest.approx(20)
    assert Trail([moment(0)]).rate("max", 0) is None
    assert Trail([moment(0, 50), moment(10_000, 0)]).rate("committed", 0) is None


def test_moments_with_other_queues_than_now_do_not_count() -> None:
    """Also where the first has them: queues that came, went and came again."""
    few, more = table(keys(2)), table(keys(3), committed=[1, Reason.NO_ANSWER, 1])
    trail = Trail([Moment(0, few), Moment(10_000, more), Moment(20_000, few)])
    assert [each.at_ms for each in trail.moments] == [0, 20_000]
    assert trail.known_rows() == [0, 1]
    assert len(trail.course(1)) == 2
    keeper = TrailKeeper()
    for at_ms, queues in ((0, more), (10_000, few), (20_000, more)):
        kept = keeper.take(Moment(at_ms, queues))
    assert kept.known_rows() == [0, 2]
    assert kept.rate("max", 2) == 0.0


def test_moments_at_which_some_rows_are_known() -> None:
    hidden = table(keys(2), committed=[5, Reason.NO_ANSWER])
    trail = Trail([moment(0), Moment(10_000, hidden), moment(20_000)])
    assert len(trail.knowing([0]).moments) == 3
    assert len(trail.knowing([0, 1]).moments) == 2
