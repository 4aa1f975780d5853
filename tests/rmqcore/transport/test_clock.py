import asyncio

import pytest

from rmqcore.transport import ManualClock, SystemClock


async def test_a_manual_clock_wakes_sleepers_in_order() -> None:
    clock = ManualClock(start_ms=1000)
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float, times: int) -> None:
        for _ in range(times):
            await clock.sleep(seconds)
            woken.append((name, clock.monotonic()))

    tasks = [
        asyncio.create_task(sleeper("a", 2, 3)),
        asyncio.create_task(sleeper("b", 3, 1)),
    ]
    await clock.advance(5)
    assert woken == [("a", 2), ("b", 3), ("a", 4)]
    assert clock.time_ms() == 6000
    await clock.advance(1)
    await asyncio.gather(*tasks)
    assert woken[-1] == ("a", 6)


async def test_a_cancelled_sleeper_is_passed_over() -> None:
    clock = ManualClock()
    task = asyncio.create_task(clock.sleep(1))
    await asyncio.sleep(0)
    task.cancel()
    await clock.advance(2)
    assert clock.monotonic() == 2
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_sleeping_for_nothing_returns_at_once() -> None:
    await ManualClock().sleep(0)


async def test_the_system_clock_moves() -> None:
    clock = SystemClock()
    before = (clock.monotonic(), clock.time_ms())
    await clock.sleep(0.01)
    assert clock.monotonic() - before[0] >= 0.009
    assert clock.time_ms() >= before[1] + 9
