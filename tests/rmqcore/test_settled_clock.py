from __future__ import annotations

import pytest

from rmqcore.settled_clock import SETTLE_SECONDS, SettledClock
from rmqcore.transport import ManualClock

DAY = 86_400.0


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


async def test_the_first_hour_gives_no_time(clock: ManualClock) -> None:
    settled = SettledClock(clock)
    assert settled.now_ms() is None
    await clock.advance(SETTLE_SECONDS - 1)
    assert settled.now_ms() is None
    await clock.advance(1)
    assert settled.now_ms() == clock.time_ms()


@pytest.mark.parametrize("seconds", [DAY, -DAY, 61.0])
async def test_so_does_the_hour_after_a_jump(
    clock: ManualClock, seconds: float
) -> None:
    settled = SettledClock(clock)
    await clock.advance(SETTLE_SECONDS)
    assert settled.now_ms() is not None
    clock.jump(seconds)
    assert settled.now_ms() is None
    await clock.advance(SETTLE_SECONDS - 1)
    assert settled.now_ms() is None
    await clock.advance(1)
    assert settled.now_ms() == clock.time_ms()


async def test_a_jump_ahead_and_back_is_never_believed(clock: ManualClock) -> None:
    settled = SettledClock(clock)
    await clock.advance(SETTLE_SECONDS)
    clock.jump(DAY)
    assert settled.now_ms() is None
    await clock.advance(1800)
    assert settled.now_ms() is None
    clock.jump(-DAY)
    await clock.advance(SETTLE_SECONDS - 1)
    assert settled.now_ms() is None
    await clock.advance(SETTLE_SECONDS)
    assert settled.now_ms() == clock.time_ms()


async def test_a_clock_that_is_slowly_put_right_is_believed(clock: ManualClock) -> None:
    settled = SettledClock(clock)
    for _hour in range(24):
        await clock.advance(SETTLE_SECONDS)
        clock.jump(30.0)
        assert settled.now_ms() == clock.time_ms()
