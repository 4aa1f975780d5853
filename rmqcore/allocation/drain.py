"""The time until the lag is consumed, at given rates.

Seconds as a float; `NEVER` where the lag does not shrink, or so slowly that it takes
longer than `HORIZON_S`: rates are measured, and a member that takes as much as arrives
differs from that only by measurement error. None where a needed value is unknown.
A queue without lag has drained: 0, whatever its rates, which seldom agree to the last
message when measured over a short time. A member that is given more than it can take
never drains, whether or not it has lag yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum, inf, isfinite
from typing import Final

from rmqcore.errors import ArgumentError

NEVER: Final = inf
# A year: rates do not stay as they are for longer.
HORIZON_S: Final = 365 * 24 * 3600.0
# Sums of floats in another order differ by a few ulps: that does not count as more.
ROUNDING: Final = 1e-9


def drain_time(
    lag: float | None, consume_rate: float | None, produce_rate: float | None
) -> float | None:
    """Return the seconds until a queue's lag is gone; rates in messages per second."""
    for what, value in (
        ("lag", lag),
        ("consume rate", consume_rate),
        ("produce rate", produce_rate),
    ):
        if value is not None and (not isfinite(value) or value < 0):
            raise ArgumentError(f"{what} must be finite and not negative, got {value}")
    if lag == 0:
        return 0.0
    if consume_rate is None or produce_rate is None:
        return None
    spare = consume_rate - produce_rate
    if spare <= 0:
        return NEVER
    if lag is None:
        return None
    # Compared as a product: a spare rate near the smallest float divides to infinity.
    return lag / spare if lag <= spare * HORIZON_S else NEVER


def member_drain_time(
    lags: Sequence[float | None],
    produce_rates: Sequence[float | None],
    capacity: float | None,
) -> float | None:
    """Return the seconds until one member has consumed the lag of all its queues.

    `capacity` is what the member can consume in all, messages per second. It keeps up
    with what arrives and gives the rest to the queues that lag, in proportion to
    their lag, so that they drain together: the whole lag over the spare rate.
    """
    if not lags:
        return 0.0
    arriving = _known_sum(produce_rates)
    if capacity is not None and arriving > capacity * (1 + ROUNDING):
        # More may arrive on queues whose rate is unknown, but this is enough.
        return NEVER
    if None in produce_rates or None in lags:
        return None
    return drain_time(_known_sum(lags), capacity, min(arriving, capacity or arriving))


def _known_sum(values: Sequence[float | None]) -> float:
    return fsum([value for value in values if value is not None])


def worst_drain_time(times: Iterable[float | None]) -> float | None:
    """Return the longest of several drain times; NEVER is longer than unknown.

    One unknown time among finite ones makes the longest unknown, since it may be that
    one.
    """
    worst = 0.0
    unknown = False
    for time in times:
        if time is None:
            unknown = True
        elif time == NEVER:
            return NEVER
        else:
            worst = max(worst, time)
    return None if unknown else worst
