"""Drain times: known, never, unknown."""

from __future__ import annotations

from math import nan

import pytest

from rmqcore.allocation import NEVER, drain_time, member_drain_time, worst_drain_time
from rmqcore.errors import ArgumentError


@pytest.mark.parametrize(
    ("lag", "consume", "produce", "expected"),
    [
        (100, 30, 10, 5.0),
        (0, 30, 10, 0.0),
        (0, 10, 10, 0.0),
        (0, 0, 0, 0.0),
        (1, 10, 10, NEVER),
        (100, 10, 30, NEVER),
        (0, 10, 30, 0.0),
        (31_536_000, 11, 10, 31_536_000.0),
        (31_536_001, 11, 10, NEVER),
        (100, 10 + 1e-12, 10, NEVER),
        (100, 5e-324, 0, NEVER),
        (None, 10, 30, NEVER),
        (None, 30, 10, None),
        (100, None, 10, None),
        (100, 30, None, None),
        (0, None, None, 0.0),
        (None, 10, 10, NEVER),
    ],
)
def test_one_queue(
    lag: float | None,
    consume: float | None,
    produce: float | None,
    expected: float | None,
) -> None:
    assert drain_time(lag, consume, produce) == expected


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((-1, 1, 1), "lag must be finite and not negative, got -1"),
        ((1, nan, 1), "consume rate must be finite and not negative, got nan"),
        ((1, 1, NEVER), "produce rate must be finite and not negative, got inf"),
    ],
)
def test_what_is_no_rate_is_refused(
    values: tuple[float, float, float], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        drain_time(*values)


@pytest.mark.parametrize(
    ("lags", "rates", "capacity", "expected"),
    [
        ([], [], None, 0.0),
        ([100, 200], [5, 5], 20, 30.0),
        ([100, 200], [5, 5], 10, NEVER),
        ([0, 0], [5, 5], 10, 0.0),
        ([0, 0], [5, 6], 10, NEVER),
        ([500], [899.9999999], 900, NEVER),
        ([100, None], [5, 5], 20, None),
        ([100, None], [5, 5], 5, NEVER),
        ([100, 200], [5, 5], None, None),
        ([0, 0], [5, 5], None, 0.0),
        ([0, 0], [0.1, 0.2], 0.3, 0.0),
        ([1, 0], [0.1, 0.2], 0.3, NEVER),
        ([1], [0], 0, NEVER),
        ([100, None], [5, None], None, None),
        ([100, 200], [5, None], 20, None),
        ([100, 200], [25, None], 20, NEVER),
        ([100, 200], [25, None], None, None),
    ],
)
def test_one_member(
    lags: list[float | None],
    rates: list[float | None],
    capacity: float | None,
    expected: float | None,
) -> None:
    assert member_drain_time(lags, rates, capacity) == expected


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([], 0.0),
        ([3.0, 5.0], 5.0),
        ([3.0, None], None),
        ([None, NEVER, 1.0], NEVER),
    ],
)
def test_worst(times: list[float | None], expected: float | None) -> None:
    assert worst_drain_time(times) == expected
