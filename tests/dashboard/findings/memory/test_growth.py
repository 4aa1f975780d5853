from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from dashboard.findings.memory.growth import WINDOW_MS, Growth, GrowthMeter


def test_what_was_there_before_is_no_growth() -> None:
    meter = GrowthMeter()
    assert meter.take(40, 0) == Growth(total=40)
    assert meter.take(43, 1_000) == Growth(3, 43, 1_000, 1_000)


def test_growth_is_forgotten_after_an_hour() -> None:
    meter = GrowthMeter()
    meter.take(0, 0)
    meter.take(5, 1_000)
    assert meter.take(5, 1_000 + WINDOW_MS).grown == 5
    assert meter.take(5, 1_001 + WINDOW_MS) == Growth(total=5)


def test_unknown_and_a_topic_made_anew_are_no_growth() -> None:
    meter = GrowthMeter()
    meter.take(5, 0)
    assert meter.take(None, 1_000).grown == 0
    assert meter.take(2, 2_000).grown == 0
    assert meter.take(4, 3_000).grown == 2


@given(st.lists(st.one_of(st.none(), st.integers(0, 50)), max_size=30))
def test_growth_within_the_window_is_the_sum_of_the_steps_up(
    totals: list[int | None],
) -> None:
    meter = GrowthMeter()
    growth = Growth()
    for at, total in enumerate(totals):
        growth = meter.take(total, at)
    known = [total for total in totals if total is not None]
    steps = [b - a for a, b in itertools.pairwise(known)]
    assert growth.grown == sum(step for step in steps if step > 0)
