"""Workers: bounded, in order of the line, without starving the loop."""

from __future__ import annotations

import asyncio

import pytest

from rmqcore.client.consumer.workers import Workers
from rmqcore.errors import ArgumentError
from rmqcore.transport import SystemClock


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_pieces_are_handled_in_order() -> None:
    done: list[int] = []

    async def handle(piece: int) -> None:
        done.append(piece)

    workers = Workers(handle, 4, SystemClock())
    workers.submit(range(100))
    await settle()
    assert done == list(range(100))
    assert workers.waiting == 0


@pytest.mark.parametrize("limit", [1, 3])
async def test_as_many_as_allowed_run_at_once(limit: int) -> None:
    at_work, most = 0, 0

    async def handle(piece: int) -> None:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0)
        at_work -= 1

    workers = Workers(handle, limit, SystemClock())
    workers.submit(range(20))
    await settle()
    await settle()
    assert most == limit
    assert at_work == 0


async def test_work_that_awaits_nothing_lets_others_run() -> None:
    handled = 0

    class Fast(SystemClock):
        """A clock on which every look is ten milliseconds later."""

        def __init__(self) -> None:
            self.now = 0.0

        def monotonic(self) -> float:
            self.now += 0.01
            return self.now

    async def handle(piece: int) -> None:
        nonlocal handled
        handled += 1

    workers = Workers(handle, 1, Fast())
    workers.submit(range(100))
    await asyncio.sleep(0)
    assert 0 < handled < 100
    await settle()
    assert handled == 100


async def test_a_failure_ends_one_worker_and_not_the_work(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done: list[int] = []

    async def handle(piece: int) -> None:
        if piece == 1:
            raise RuntimeError("broken piece")
        done.append(piece)

    workers = Workers(handle, 1, SystemClock())
    workers.submit(range(4))
    await settle()
    assert done == [0, 2, 3]
    assert "worker failed" in caplog.text


async def test_closing_cancels_what_is_handled_and_forgets_the_rest() -> None:
    begun: list[int] = []

    async def handle(piece: int) -> None:
        begun.append(piece)
        await asyncio.Event().wait()

    workers = Workers(handle, 2, SystemClock())
    workers.submit(range(5))
    await settle()
    await workers.close()
    assert begun == [0, 1]
    assert workers.waiting == 0


async def test_workers_cancelled_before_their_first_turn_can_be_followed() -> None:
    done: list[int] = []

    async def handle(piece: int) -> None:
        done.append(piece)

    workers = Workers(handle, 1, SystemClock())
    workers.submit([1])
    await workers.close()
    workers.submit([2])
    await settle()
    assert done == [2]


def test_no_worker_at_all_is_refused() -> None:
    async def handle(piece: int) -> None: ...

    with pytest.raises(ArgumentError, match="0 consume threads"):
        Workers(handle, 0, SystemClock())
