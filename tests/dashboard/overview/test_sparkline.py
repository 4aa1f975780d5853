from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dashboard.overview.sparkline import HEIGHT, WIDTH, sparkline


def test_zero_is_the_ground_and_the_peak_the_top() -> None:
    assert sparkline([0, 4, 8]) == ["2.0,14.0 30.0,8.0 58.0,2.0"]


def test_a_gap_parts_the_line() -> None:
    first, second = sparkline([1, 1, None, 1, 1])
    assert first.count(",") == second.count(",") == 2


def test_a_lonely_point_is_a_stroke() -> None:
    assert sparkline([None, 3, None]) == ["29.0,2.0 31.0,2.0"]


def test_nothing_known_draws_nothing() -> None:
    assert sparkline([None] * 30) == []
    assert sparkline([]) == []


def test_all_zero_lies_on_the_ground() -> None:
    assert sparkline([0, 0]) == ["2.0,14.0 58.0,14.0"]


@given(st.lists(st.none() | st.integers(0, 10**15), max_size=60))
def test_every_point_stays_inside(points: list[int | None]) -> None:
    for run in sparkline(points):
        for pair in run.split():
            x, y = map(float, pair.split(","))
            assert 0 <= x <= WIDTH
            assert 0 <= y <= HEIGHT
