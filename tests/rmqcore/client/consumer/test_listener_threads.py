"""Calls in threads: together, bounded, and each with an end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rmqcore.client.consumer.listener_threads import ListenerThreads

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
async def threads() -> AsyncIterator[ListenerThreads]:
    made = ListenerThreads(3, "consume-G")
    yield made
    made.close()


async def test_a_call_ends_with_what_it_returns(threads: ListenerThreads) -> None:
    assert await threads.run(divmod, 7, 2) == (3, 1)


async def test_a_call_ends_with_what_it_raises(threads: ListenerThreads) -> None:
    with pytest.raises(ZeroDivisionError):
        await threads.run(divmod, 7, 0)
    assert await threads.run(divmod, 7, 2) == (3, 1)


async def test_an_exception_no_future_takes_is_another(
    threads: ListenerThreads,
) -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        await threads.run(next, iter(()))


async def test_as_many_as_allowed_run_at_once(threads: ListenerThreads) -> None:
    together = threading.Barrier(3)
    names: set[str] = set()

    def meet() -> None:
        names.add(threading.current_thread().name)
        together.wait(10)

    await asyncio.gather(*(threads.run(meet) for _ in range(6)))
    assert names == {f"consume-G_{number}" for number in range(3)}


async def test_a_thread_is_started_only_when_the_others_are_at_work(
    threads: ListenerThreads,
) -> None:
    names = {await threads.run(lambda: threading.current_thread().name) for _ in "abc"}
    assert names == {"consume-G_0"}


async def test_thousands_of_calls_all_end(threads: ListenerThreads) -> None:
    outcomes = await asyncio.gather(*(threads.run(abs, -n) for n in range(3000)))
    assert outcomes == list(range(3000))


async def test_closing_cancels_what_has_not_ended() -> None:
    threads = ListenerThreads(1, "consume-G")
    go_on = threading.Event()
    at_work = threads.run(go_on.wait, 10)
    waiting = threads.run(abs, -1)
    threads.close()
    assert at_work.cancelled()
    assert waiting.cancelled()
    go_on.set()
    (thread,) = threads._threads
    await asyncio.to_thread(thread.join, 10)
    assert not thread.is_alive()


async def test_what_comes_back_to_a_future_that_was_cancelled_is_dropped(
    threads: ListenerThreads,
) -> None:
    go_on = threading.Event()
    given_up = threads.run(go_on.wait, 10)
    given_up.cancel()
    go_on.set()
    assert await threads.run(abs, -1) == 1


def test_a_listener_that_never_returns_does_not_keep_the_process() -> None:
    program = """
import asyncio, threading
from rmqcore.client.consumer.listener_threads import ListenerThreads

async def main():
    threads = ListenerThreads(2, "consume-G")
    threads.run(threading.Event().wait)
    assert await threads.run(abs, -1) == 1
    threads.close()

asyncio.run(main())
"""
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=60, check=True)


def test_a_loop_that_has_closed_is_not_told() -> None:
    go_on = threading.Event()

    async def begin() -> ListenerThreads:
        threads = ListenerThreads(1, "consume-G")
        threads.run(go_on.wait, 10)
        return threads

    threads = asyncio.run(begin())
    go_on.set()
    threads._threads[0].join(10)
    assert not threads._threads[0].is_alive()
