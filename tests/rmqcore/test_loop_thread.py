from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from rmqcore.errors import StateError
from rmqcore.loop_thread import LoopThread
from tests.support.waiting import wait_until

PATIENCE = 60.0


@pytest.fixture
def loop_thread() -> Iterator[LoopThread]:
    thread = LoopThread("bridge-test")
    thread.start()
    yield thread
    thread.stop()


def test_runs_a_coroutine_on_its_own_thread(loop_thread: LoopThread) -> None:
    async def where() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    assert loop_thread.call(where(), timeout=PATIENCE) == "bridge-test"


def test_hands_errors_to_the_caller(loop_thread: LoopThread) -> None:
    async def fail() -> None:
        raise KeyError("queue")

    with pytest.raises(KeyError, match="queue"):
        loop_thread.call(fail(), timeout=PATIENCE)


def test_a_timeout_cancels_and_names_the_limit(loop_thread: LoopThread) -> None:
    cancelled = threading.Event()

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(TimeoutError, match="no result in"):
        loop_thread.call(wait(), timeout=0.01)
    assert cancelled.wait(PATIENCE)


def test_a_timeout_raised_inside_is_passed_on(loop_thread: LoopThread) -> None:
    async def fail() -> None:
        raise TimeoutError("the broker")

    with pytest.raises(TimeoutError, match="the broker"):
        loop_thread.call(fail(), timeout=PATIENCE)


def test_plain_calls_are_made_on_the_loop(loop_thread: LoopThread) -> None:
    seen: list[str] = []
    done = threading.Event()
    loop_thread.call_soon(
        lambda: (seen.append(threading.current_thread().name), done.set())
    )
    assert done.wait(PATIENCE)
    assert seen == ["bridge-test"]


def test_stop_cancels_what_runs_and_refuses_more() -> None:
    thread = LoopThread("bridge-test")
    thread.start()
    assert thread.running

    async def forever() -> None:
        await asyncio.sleep(3600)

    future = thread.submit(forever())
    thread.stop()
    assert not thread.running
    assert future.cancelled()
    with pytest.raises(StateError, match="bridge-test is not running"):
        thread.submit(forever())
    thread.call_soon(print)
    thread.stop()


def test_stop_need_not_wait_for_a_loop_that_is_held_up() -> None:
    thread = LoopThread("bridge-test")
    thread.start()
    began, release = threading.Event(), threading.Event()
    waiting = thread.submit(asyncio.sleep(3600))

    async def hold_up() -> bool:
        began.set()
        return release.wait(PATIENCE)

    thread.submit(hold_up())
    assert began.wait(PATIENCE)
    thread.stop(0)
    assert thread.running
    release.set()
    wait_until(lambda: not thread.running)
    assert waiting.cancelled()


def test_a_loop_that_was_stopped_from_within_can_be_stopped() -> None:
    thread = LoopThread("bridge-test")
    thread.start()
    thread.call_soon(lambda: asyncio.get_running_loop().stop())
    wait_until(lambda: not thread.running)
    thread.stop()
