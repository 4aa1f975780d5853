"""A rule is played over the values of a group as it would have been live."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.errors import JobError
from analytics.holding import QUIET, Standing, step
from analytics.requests import JobRequest
from analytics.trial import (
    BUCKETS,
    NOT_IN_LAKE,
    Opening,
    Rule,
    Values,
    opening_document,
    play,
    series,
)

STEP_MS = 10_000
T0 = 1_773_360_000_000


def values(
    *given: float | None,
    partial: tuple[int, ...] = (),
    left_out: tuple[int, ...] = (),
    step_ms: int = STEP_MS,
) -> Values:
    kept = [n for n in range(len(given)) if n not in left_out]
    return Values(
        [T0 + (n + 1) * step_ms for n in kept],
        [given[n] for n in kept],
        [n in partial for n in kept],
        step_ms,
    )


def at(n: int) -> int:
    """The end of step n."""
    return T0 + (n + 1) * STEP_MS


LAG = Rule("lag", 100, 80, hold_ms=20_000, clear_ms=10_000)


def test_it_fires_after_it_held_and_ends_after_it_was_clear() -> None:
    played = play(values(5, 200, 300, 250, 90, 70, 60, 5), LAG)
    assert played.openings == [Opening(at(1), at(3), at(6), 300, True)]
    assert (played.count, played.open_ms, played.still_open) == (1, 30_000, False)
    assert (played.unknown, played.unknown_ms) == ([], 0)


def test_what_still_holds_is_open_at_the_end() -> None:
    played = play(values(200, 200, 200, 900), LAG)
    assert played.openings == [Opening(at(0), at(2), None, 900, True)]
    assert (played.still_open, played.open_ms) == (True, 10_000)
    blind = play(values(200, 200, 200, None), LAG)
    assert blind.openings == [Opening(at(0), at(2), None, 200, False)]


def test_time_that_was_not_measured_is_said_and_does_not_fire() -> None:
    played = play(values(200, None, None, None, 200, 5), LAG)
    assert played.count == 0
    assert played.unknown == [(at(0), at(3))]
    assert played.unknown_ms == 30_000


def test_steps_left_out_are_not_measured_either() -> None:
    long = [200.0, *[0.0] * 9, 200.0, 200.0]
    played = play(values(*long, left_out=tuple(range(1, 10))), LAG)
    assert played.unknown == [(at(0), at(9))]
    assert played.openings == []


def test_a_part_that_passes_the_limit_is_known() -> None:
    played = play(values(200, 200, 200, 50, 5, 5, partial=(0, 1, 2, 3)), LAG)
    assert played.openings == [Opening(at(0), at(2), at(5), 200, True)]
    assert played.unknown == [(at(2), at(3))]


def test_steps_of_an_hour_follow_each_other_without_a_gap() -> None:
    hour = 3_600_000
    rule = Rule("lag", 100, hold_ms=hour)
    assert play(values(200, 200, 5, step_ms=hour), rule).count == 1


def test_below_the_limit_the_least_is_the_worst() -> None:
    played = play(values(3, 2, 1, 2, 3), Rule("members", 3))
    assert [each.peak for each in played.openings] == [1]


def test_a_stop_is_a_rate_of_nothing() -> None:
    played = play(values(3, 0, 0, 0.001, math.inf, 0), Rule("in_stops"))
    assert [each.opened_ms for each in played.openings] == [at(1), at(5)]


@pytest.mark.parametrize(
    ("rule", "limits"),
    [
        (Rule("lag", 40_000), {27_000: None, 60_000: None}),
        (Rule("lag", 100, 80), {67: 53.6, 150: 120}),
        (Rule("members", 3, 4), {2: 3, 4: 5}),
        (Rule("members", 1), {2: None}),
        (Rule("in_stops"), {}),
        (Rule("lag", 0), {}),
    ],
)
def test_other_limits(rule: Rule, limits: dict[float, float | None]) -> None:
    found = rule.alternatives()
    assert list(found) == list(limits)
    for limit, clear in limits.items():
        assert found[limit].limit == limit
        expected = None if clear is None else pytest.approx(clear)
        assert found[limit].clear_limit == expected


@pytest.mark.parametrize("kind", NOT_IN_LAKE)
def test_what_the_lake_cannot_answer_is_said(kind: str) -> None:
    with pytest.raises(JobError, match=f"'{kind}' cannot be tried: the lake has"):
        Rule(kind, 1)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"kind": "weather"}, "unknown kind of rule 'weather'"),
        ({"kind": "lag", "limit": -1}, "limit is -1"),
        ({"kind": "lag", "limit": math.nan}, "limit is nan"),
        ({"kind": "lag", "limit": 1e300}, "must be 0 to 1e\\+15"),
        ({"kind": "lag", "limit": 1, "clear_limit": 2}, "limit for closing is 2"),
        ({"kind": "lag", "hold_ms": -1}, "hold_ms is -1"),
        ({"kind": "lag", "clear_ms": 10**10}, "clear_ms is 10000000000"),
        ({"kind": "members", "limit": 0}, "fewer than 0 members"),
        ({"kind": "lag", "colour": 1}, "a rule has no member colour"),
        ({"limit": 3}, "not a rule"),
        ({"kind": "lag", "limit": "much"}, "not a rule"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(
    document: dict[str, Any], message: str
) -> None:
    with pytest.raises(JobError, match=message):
        JobRequest("trial", "lake", "out", rule=document)


def test_a_chart_has_the_worst_value_of_each_span() -> None:
    given = [float(n) for n in range(BUCKETS * 2)]
    end = T0 + len(given) * STEP_MS
    found = series(values(*given), Rule("lag", 1), T0, end)
    assert found["bucket_ms"] == 2 * STEP_MS
    assert found["values"] == given[1::2]
    assert found["marks"] == "." * BUCKETS
    least = series(values(*given), Rule("members", 1), T0, end)
    assert least["values"] == given[::2]


def test_a_chart_marks_what_is_not_measured_and_what_has_no_end() -> None:
    found = series(values(1, None, math.inf), Rule("drain", 1), T0, at(2))
    assert (found["values"], found["marks"]) == ([1, None, None], ".?^")


def test_a_peak_without_end_is_said_in_json() -> None:
    opening = play(values(math.inf), Rule("drain", 60)).openings[0]
    document = opening_document("g", opening)
    assert (document["peak"], document["endless"]) == (None, True)


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(0, 20)),
            st.booleans(),
            st.integers(1, 9),
        ),
        max_size=60,
    ),
    st.integers(0, 4),
    st.integers(0, 4),
)
def test_it_does_what_the_live_state_machine_does(
    steps: list[tuple[int | None, bool, int]], hold: int, clear: int
) -> None:
    """Also over gaps: some steps come up to nine steps later than the one before."""
    rule = Rule("lag", 10, 6, hold * STEP_MS, clear * STEP_MS)
    standing: Standing = QUIET
    times, opened, closed, at_ms = [], [], [], T0
    for value, partial, later in steps:
        at_ms += later * STEP_MS
        times.append(at_ms)
        before = standing.fires
        reading = rule.threshold.read(value, partial=partial)
        standing = step(
            standing, reading, at_ms, hold_ms=rule.hold_ms, clear_ms=rule.clear_ms
        )
        if standing.fires and not before:
            opened.append(at_ms)
        if before and not standing.fires:
            closed.append(at_ms)
    given = Values(times, [v for v, _, _ in steps], [p for _, p, _ in steps], STEP_MS)
    played = play(given, rule)
    assert [each.opened_ms for each in played.openings] == opened
    ends = [each.closed_ms for each in played.openings if each.closed_ms is not None]
    assert ends == closed
    assert played.still_open is standing.fires
    assert played.unknown_ms == sum(end - begin for begin, end in played.unknown)


def test_a_standstill_is_as_long_as_its_limit_and_then_holds() -> None:
    rule = Rule("out_stops", 30_000, hold_ms=20_000)
    assert rule.held_ms == 50_000
    assert Rule("lag", 30_000, hold_ms=20_000).held_ms == 20_000
