"""Scores of evenness, against their definitions."""

from __future__ import annotations

from math import inf, nan, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.allocation import (
    Scores,
    gini,
    idle_count,
    max_over_mean,
    member_loads,
    scores,
    share_loads,
    skew,
    variation,
)
from rmqcore.errors import ArgumentError

loads_of_members = st.lists(
    st.floats(0, 1e9, allow_subnormal=False), min_size=1, max_size=30
)


@pytest.mark.parametrize(
    ("loads", "expected"),
    [
        ([], Scores(None, None, None, 0)),
        ([0], Scores(1.0, 0.0, 0.0, 1)),
        ([0, 0, 0], Scores(1.0, 0.0, 0.0, 3)),
        ([5, 5], Scores(1.0, 0.0, 0.0, 0)),
        ([0, 4], Scores(2.0, 1.0, 0.5, 1)),
        ([0, 0, 0, 8], Scores(4.0, sqrt(3), 0.75, 3)),
    ],
)
def test_known_values(loads: list[float], expected: Scores) -> None:
    assert scores(loads) == expected


def test_six_five_five() -> None:
    # 16 queues over 3 members, worked by hand: mean 16/3, variance 2/9.
    assert max_over_mean([6, 5, 5]) == pytest.approx(18 / 16)
    assert variation([6, 5, 5]) == pytest.approx(sqrt(2 / 9) / (16 / 3))
    # Mean of all absolute differences is 4/9, over twice the mean.
    assert gini([6, 5, 5]) == pytest.approx((4 / 9) / (2 * 16 / 3))


@given(loads_of_members)
def test_gini_is_half_the_relative_mean_difference(loads: list[float]) -> None:
    total, count = sum(loads), len(loads)
    if total == 0:
        return
    pairs = sum(abs(a - b) for a in loads for b in loads)
    assert gini(loads) == pytest.approx(pairs / (2 * count * total), abs=1e-9)


@given(loads_of_members)
def test_bounds(loads: list[float]) -> None:
    count = len(loads)
    found = scores(loads)
    assert found.max_over_mean is not None
    assert found.variation is not None
    assert found.gini is not None
    assert 1 - 1e-9 <= found.max_over_mean <= count + 1e-9
    assert 0 <= found.variation <= sqrt(count - 1) + 1e-6
    assert 0 <= found.gini <= 1 - 1 / count + 1e-9
    assert idle_count(loads) == loads.count(0)


@pytest.mark.parametrize("bad", [-1.0, nan, inf])
@pytest.mark.parametrize("score", [max_over_mean, variation, gini, idle_count])
def test_what_is_no_load_is_refused(score: object, bad: float) -> None:
    with pytest.raises(ArgumentError, match="a load must be finite"):
        score([1.0, bad])  # type: ignore[operator]


@pytest.mark.parametrize(
    ("values", "owners", "members", "expected"),
    [
        ([5, 3], ["a", "b"], "ab", [5, 3]),
        ([5, 3], ["a", "a"], "ab", [8, 0]),
        # Nobody has the second: the first alone would look even.
        ([5, 3], ["a", ""], "a", None),
        ([5, None], ["a", "b"], "ab", None),
        # Two processes of one id take the same share each, told by both or by one.
        ([5, 3], ["aa", "b"], "aab", [5, 5, 3]),
        # Held twice is a load for both, and whoever holds a queue has its load.
        ([5], ["ab"], "ab", [5, 5]),
        ([5, 2], ["a", "z"], "a", [5, 2]),
        ([], [], "ab", [0, 0]),
        ([], [], "", []),
    ],
)
def test_loads_of_members_are_known_when_all_queues_are(
    values: list[float | None],
    owners: list[str],
    members: str,
    expected: list[float] | None,
) -> None:
    assert member_loads(values, owners, members) == expected
    assert sorted_or_none(
        share_loads(values, shares_of(owners, members), members)
    ) == sorted_or_none(expected)


def shares_of(owners: list[str], members: str) -> dict[str, list[int]]:
    """Return the positions that each member has; a letter is an owner's client id."""
    shares: dict[str, list[int]] = {each: [] for each in members}
    for at, holders in enumerate(owners):
        for holder in holders:
            shares.setdefault(holder, []).append(at)
    return shares


def sorted_or_none(loads: list[float] | None) -> list[float] | None:
    """Return the loads without regard to which member has which."""
    return None if loads is None else sorted(loads)


def test_loads_of_shares_are_in_the_order_of_members() -> None:
    shares = {"b": [1], "a": [0, 2], "z": []}
    assert share_loads([5, 3, 1], shares, ["a", "c", "b", "a"]) == [6, 0, 3, 6]


@pytest.mark.parametrize(
    ("lags", "owners", "members", "expected"),
    [
        ([6, 2], ["a", "b"], "ab", 1.5),
        ([6, 2], ["a", "a"], "ab", 2.0),
        ([6, 0, 0, 0], ["a", "b", "", ""], "ab", None),
        ([6, None], ["a", "b"], "ab", None),
        ([0, 0], ["a", "b"], "ab", None),
        ([], [], "", None),
    ],
)
def test_skew_is_unknown_without_lag_and_without_every_queue(
    lags: list[float | None], owners: list[str], members: str, expected: float | None
) -> None:
    assert skew(lags, owners, members) == expected
