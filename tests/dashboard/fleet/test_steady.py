from __future__ import annotations

import time

import pytest

from dashboard.fleet.claims import CLAIM_SECONDS
from dashboard.fleet.steady import STEP_SECONDS, Jumps, steady_seconds


@pytest.mark.parametrize("step", [STEP_SECONDS + 0.1, 86_400.0, -86_400.0])
def test_a_jump_is_told_for_the_life_of_a_claim(step: float) -> None:
    jumps = Jumps(1000.0)
    assert not jumps.lately(1000.0, 5.0)
    assert jumps.lately(1000.0 + step, 6.0)
    assert jumps.lately(1000.0 + step, 6.0 + CLAIM_SECONDS - 0.1)
    assert not jumps.lately(1000.0 + step, 6.0 + CLAIM_SECONDS)


def test_a_clock_that_is_slewed_does_not_jump() -> None:
    jumps = Jumps(0.0)
    assert not any(jumps.lately(look * STEP_SECONDS, look) for look in range(100))


def test_the_steady_clock_goes_on_as_the_monotonic_one() -> None:
    before = steady_seconds()
    assert 0 <= steady_seconds() - before < time.monotonic()
