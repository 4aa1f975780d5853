from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dashboard.collector.trend import POINTS, STEP_MS, LagTrend

START = 1_000 * STEP_MS


def test_each_span_keeps_its_peak() -> None:
    trend = LagTrend()
    for at, lag in ((0, 5), (10, 9), (20, 2), (STEP_MS, 4)):
        trend.add(START + at, lag)
    assert trend.points() == [None] * (POINTS - 2) + [9, 4]


def test_a_span_in_which_nothing_was_known_has_no_point() -> None:
    trend = LagTrend()
    trend.add(START, 5)
    trend.add(START + STEP_MS, None)
    trend.add(START + 3 * STEP_MS, 0)
    assert trend.points()[-4:] == [5, None, None, 0]


def test_what_is_older_than_the_hour_is_gone() -> None:
    trend = LagTrend()
    trend.add(START, 5)
    trend.add(START + POINTS * STEP_MS, 1)
    assert trend.points() == [None] * (POINTS - 1) + [1]


def test_a_new_leader_goes_on_where_the_last_one_was() -> None:
    trend = LagTrend.restored([1, 2], START)
    trend.add(START + STEP_MS, 3)
    assert trend.points()[-3:] == [1, 2, 3]


@given(st.lists(st.tuples(st.integers(0, 10_000_000), st.none() | st.integers(0))))
def test_the_number_of_points_never_changes(
    looks: list[tuple[int, int | None]],
) -> None:
    trend = LagTrend()
    for at, lag in sorted(looks, key=lambda look: look[0]):
        trend.add(START + at, lag)
        assert len(trend.points()) == POINTS


def test_groups_whose_lag_was_alike_share_their_points() -> None:
    one, other = LagTrend(), LagTrend.restored([None, 7], START)
    for trend in (one, other):
        trend.add(START, 7)
        trend.add(START + STEP_MS, 3)
    assert one.points() is other.points()
    assert one.points()[-2:] == [7, 3]
