"""A condition fires once it has held for long enough, and not on what is not known."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.holding import GAP_MS, QUIET, Reading, Standing, Threshold, step

HOLDS, BETWEEN = Reading.HOLDS, Reading.BETWEEN
CLEAR, UNKNOWN = Reading.CLEAR, Reading.UNKNOWN
START_MS = 1_000_000


def played(
    readings: Iterable[Reading],
    *,
    hold_s: int = 0,
    clear_s: int = 0,
    every_s: int = 10,
    standing: Standing = QUIET,
) -> list[str]:
    """Return the states after readings that are `every_s` seconds apart."""
    states, at_ms = [], max(START_MS, standing.read_ms + every_s * 1000)
    for reading in readings:
        standing = step(
            standing, reading, at_ms, hold_ms=hold_s * 1000, clear_ms=clear_s * 1000
        )
        states.append(standing.state)
        at_ms += every_s * 1000
    return states


def test_without_a_time_to_hold_the_first_reading_fires() -> None:
    assert played([CLEAR, HOLDS, CLEAR]) == ["quiet", "firing", "quiet"]


def test_it_fires_when_it_has_held_for_the_time_asked() -> None:
    assert played([HOLDS] * 4, hold_s=20) == ["pending", "pending", "firing", "firing"]


def test_a_short_rest_begins_the_time_anew() -> None:
    states = played([HOLDS, HOLDS, BETWEEN, HOLDS, HOLDS, HOLDS], hold_s=20)
    assert states == ["pending", "pending", "quiet", "pending", "pending", "firing"]


def test_between_the_limits_an_alert_stays_open() -> None:
    states = played([HOLDS, BETWEEN, BETWEEN, CLEAR])
    assert states == ["firing", "firing", "firing", "quiet"]


def test_it_is_over_when_it_has_been_clear_for_the_time_asked() -> None:
    states = played([HOLDS, CLEAR, HOLDS, CLEAR, CLEAR, CLEAR], clear_s=20)
    assert states == [
        *("firing", "clearing", "firing", "clearing", "clearing", "quiet"),
    ]


def test_what_is_not_known_neither_fires_nor_clears() -> None:
    assert played([UNKNOWN] * 9, hold_s=20) == ["quiet"] * 9
    assert played([HOLDS, *[UNKNOWN] * 9], hold_s=20) == ["pending"] * 10
    assert played([HOLDS, CLEAR, *[UNKNOWN] * 9], clear_s=20)[1:] == ["clearing"] * 10


def test_time_that_is_not_known_is_no_time_in_which_it_held() -> None:
    # Known for 10 s before the gap, and from the reading after it on.
    states = played([HOLDS, HOLDS, *[UNKNOWN] * 9, HOLDS, HOLDS, HOLDS], hold_s=30)
    assert states[-3:] == ["pending", "pending", "firing"]


def test_a_pause_without_readings_is_time_that_is_not_known() -> None:
    before = step(QUIET, HOLDS, START_MS, hold_ms=90_000, clear_ms=0)
    after = step(before, HOLDS, START_MS + GAP_MS + 1, hold_ms=90_000, clear_ms=0)
    assert after.state == "pending"
    assert after.began_ms == START_MS
    assert after.since_ms == START_MS + GAP_MS + 1
    near = step(before, HOLDS, START_MS + GAP_MS, hold_ms=GAP_MS, clear_ms=0)
    assert near.state == "firing"


def test_readings_of_long_steps_have_a_gap_of_their_own() -> None:
    hour_ms = 3_600_000
    before = step(QUIET, HOLDS, START_MS, hold_ms=hour_ms, clear_ms=0, gap_ms=hour_ms)
    times = {"hold_ms": hour_ms, "clear_ms": 0}
    at_ms = START_MS + hour_ms
    assert step(before, HOLDS, at_ms, **times).state == "pending"
    assert step(before, HOLDS, at_ms, **times, gap_ms=hour_ms).state == "firing"
    later = step(before, HOLDS, at_ms + 1, **times, gap_ms=hour_ms)
    assert later.state == "pending"


def test_an_older_reading_changes_nothing() -> None:
    now = step(QUIET, HOLDS, START_MS, hold_ms=0, clear_ms=0)
    assert step(now, CLEAR, START_MS, hold_ms=0, clear_ms=0) is now


def test_since_when_it_is_not_known() -> None:
    now = step(QUIET, CLEAR, START_MS, hold_ms=0, clear_ms=0)
    for _ in range(3):
        now = step(now, UNKNOWN, now.read_ms + 10_000, hold_ms=0, clear_ms=0)
    assert now.unknown_ms == START_MS
    assert step(now, CLEAR, now.read_ms + 1, hold_ms=0, clear_ms=0).unknown_ms is None


@given(
    st.lists(st.sampled_from(Reading), max_size=40),
    st.integers(0, 5),
    st.integers(0, 5),
)
def test_openings_and_ends_take_turns_and_rest_on_readings(
    readings: list[Reading], hold: int, clear: int
) -> None:
    standing, at_ms = QUIET, START_MS
    for reading in readings:
        before = standing.fires
        standing = step(
            standing, reading, at_ms, hold_ms=hold * 10_000, clear_ms=clear * 10_000
        )
        if standing.fires and not before:
            assert reading is HOLDS
            assert at_ms - standing.began_ms >= hold * 10_000
        if before and not standing.fires:
            assert reading is CLEAR
        at_ms += 10_000


@pytest.mark.parametrize(
    ("value", "partial", "expected"),
    [
        (None, False, UNKNOWN),
        (101, False, HOLDS),
        (101, True, HOLDS),  # there is at least as much
        (100, False, BETWEEN),
        (81, False, BETWEEN),
        (80, False, CLEAR),
        (80, True, UNKNOWN),  # there may be more
    ],
)
def test_values_above_a_limit(
    value: float | None, partial: bool, expected: Reading
) -> None:
    assert Threshold(100, clear_limit=80).read(value, partial=partial) is expected


@pytest.mark.parametrize(
    ("value", "partial", "expected"),
    [
        (2, False, HOLDS),
        (2, True, UNKNOWN),  # there may be more
        (3, False, BETWEEN),
        (4, False, CLEAR),
        (4, True, CLEAR),  # there is at least as much
    ],
)
def test_values_below_a_limit(value: float, partial: bool, expected: Reading) -> None:
    below = Threshold(3, clear_limit=4, below=True)
    assert below.read(value, partial=partial) is expected


def test_without_a_second_limit_there_is_nothing_between() -> None:
    assert Threshold(100).read(100) is CLEAR
    assert Threshold(3, below=True).read(3) is CLEAR


@pytest.mark.parametrize(("below", "clear"), [(False, 101), (True, 99)])
def test_a_limit_for_closing_on_the_wrong_side_is_refused(
    below: bool, clear: float
) -> None:
    with pytest.raises(ValueError, match=f"closing is {clear}.* 100"):
        Threshold(100, clear_limit=clear, below=below)
