from __future__ import annotations

import asyncio

from dashboard.live.tasks import end_tasks


async def test_a_task_that_drops_its_first_cancellation_is_ended() -> None:
    dropped = 0

    async def for_ever() -> None:
        nonlocal dropped
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                if dropped:
                    raise
                dropped += 1

    tasks = [asyncio.ensure_future(for_ever()) for _ in range(2)]
    await asyncio.sleep(0)
    await end_tasks(*tasks)
    assert dropped == 1
    assert all(task.cancelled() for task in tasks)


async def test_tasks_that_ended_by_themselves_are_left_as_they_are() -> None:
    async def fail() -> None:
        raise ValueError("as it was")

    async def done() -> int:
        return 7

    failed, well = asyncio.ensure_future(fail()), asyncio.ensure_future(done())
    await asyncio.wait([failed, well])
    await end_tasks(failed, well)
    assert str(failed.exception()) == "as it was"
    assert well.result() == 7
