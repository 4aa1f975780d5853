"""Calling listeners: awaited, in a thread or in place; whatever they do is a result."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from rmqcore.client.consumer.listener import (
    ConsumeContext,
    ConsumeResult,
    ListenerCall,
    is_async,
)
from rmqcore.client.consumer.listener_threads import ListenerThreads
from rmqcore.model import MessageExt
from tests.rmqcore.client.records import QUEUE, messages

SUCCESS = ConsumeResult.SUCCESS


async def awaited(given: Sequence[MessageExt], context: ConsumeContext) -> Any:
    return SUCCESS


def plain(given: Sequence[MessageExt], context: ConsumeContext) -> Any:
    return SUCCESS


class Acting:
    """An object whose call is a coroutine function."""

    async def __call__(self, given: object, context: object) -> ConsumeResult:
        return SUCCESS


def call(listener: Any, threads: ListenerThreads | None = None) -> Any:
    made = ListenerCall("G", listener, threads)
    return made(messages([1]), ConsumeContext(QUEUE))


@pytest.mark.parametrize("listener", [awaited, partial(awaited), Acting()])
def test_coroutine_functions_are_known_in_any_form(listener: Any) -> None:
    assert is_async(listener)


@pytest.mark.parametrize("listener", [plain, partial(plain), print])
def test_plain_functions_are_known(listener: Any) -> None:
    assert not is_async(listener)


@pytest.mark.parametrize("listener", [awaited, plain, Acting(), partial(awaited)])
async def test_a_result_is_passed_on(listener: Any) -> None:
    assert await call(listener) is SUCCESS


async def test_without_threads_a_plain_function_runs_in_place() -> None:
    seen: list[threading.Thread] = []

    def note(given: object, context: object) -> ConsumeResult:
        seen.append(threading.current_thread())
        return SUCCESS

    await call(note)
    assert seen == [threading.current_thread()]


async def test_with_threads_a_plain_function_runs_in_one() -> None:
    seen: list[threading.Thread] = []

    def note(given: object, context: object) -> ConsumeResult:
        seen.append(threading.current_thread())
        return SUCCESS

    threads = ListenerThreads(1, "consume")
    assert await call(note, threads) is SUCCESS
    threads.close()
    assert seen[0] is not threading.current_thread()


@pytest.mark.parametrize("value", [None, True, "SUCCESS", 0])
async def test_anything_but_a_result_is_a_failure(
    value: object, caplog: pytest.LogCaptureFixture
) -> None:
    async def odd(given: object, context: object) -> object:
        return value

    assert await call(odd) is None
    assert "counts as failure" in caplog.text


async def test_an_exception_is_a_failure_with_its_trace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail(given: object, context: object) -> ConsumeResult:
        raise RuntimeError("mine")

    assert await call(fail) is None
    assert "RuntimeError: mine" in caplog.text


async def test_a_cancelled_inner_task_is_a_failure() -> None:
    async def fail(given: object, context: object) -> ConsumeResult:
        raise asyncio.CancelledError

    assert await call(fail) is None


async def test_our_own_cancellation_is_not_swallowed() -> None:
    begun = asyncio.Event()

    async def hang(given: object, context: object) -> ConsumeResult:
        begun.set()
        await asyncio.Event().wait()
        return SUCCESS

    task = asyncio.create_task(call(hang))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
