from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from typing import Any

import pytest

from dashboard.fleet import listeners, specs
from dashboard.fleet.member_listener import (
    BUSY_SECONDS,
    LISTENER_THREADS,
    MemberListener,
)
from dashboard.fleet.specs import MemberSpec
from rmqcore.client import ConsumeContext, ConsumeResult
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue
from rmqcore.transport import ManualClock
from tests.support.waiting import PATIENCE_SECONDS, until

from .test_listeners import message

QUEUE = MessageQueue("orders", "a", 3)


def spec(listener: str, **options: Any) -> MemberSpec:
    return specs.MemberSpec(
        member_id=1,
        cluster="east",
        group="billing",
        number=2,
        revision=1,
        topics=(("orders", "*"),),
        mode="CLUSTERING",
        orderly=False,
        strategy="AVG",
        strategy_options={},
        start_position="CONSUME_FROM_LAST_OFFSET",
        listener=listener,
        listener_options=options,
    )


Make = Callable[..., Any]


@pytest.fixture
async def make(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Make]:
    made: list[MemberListener] = []

    async def make(listener: Any, clock: ManualClock | None = None) -> MemberListener:
        monkeypatch.setitem(listeners._makers, "own", lambda _options: listener)
        clock = clock or ManualClock()
        member = MemberListener(spec("own"), clock.monotonic)
        made.append(member)
        await member.make()
        return member

    yield make
    for member in made:
        member.close()


async def call(member: MemberListener, context: ConsumeContext | None = None) -> object:
    return await member([message(7)], context or ConsumeContext(QUEUE))


def names() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("consume-")]


async def test_built_in_listeners_stay_on_the_loop_of_all_members() -> None:
    await until(lambda: names() == [], "no thread of an earlier test is left")
    member = MemberListener(spec("count"))
    await member.make()
    assert member.made
    assert await call(member) is ConsumeResult.SUCCESS
    assert names() == []


async def test_a_coroutine_function_has_a_loop_of_its_member(make: Make) -> None:
    where: list[tuple[str, asyncio.AbstractEventLoop]] = []
    tenant: ContextVar[str] = ContextVar("tenant", default="none")

    async def own(_messages: object, context: ConsumeContext) -> ConsumeResult:
        where.append((threading.current_thread().name, asyncio.get_running_loop()))
        await asyncio.sleep(0)
        context.ack_index = 4
        return ConsumeResult.SUCCESS if tenant.get() == "t1" else ConsumeResult.SUSPEND

    member = await make(own)
    await until(lambda: names() == [], "no thread before the first call")
    context = ConsumeContext(QUEUE)
    tenant.set("t1")
    assert await call(member, context) is ConsumeResult.SUCCESS
    await call(member)
    assert context.ack_index == 4
    assert where[0] == where[1]
    assert where[0][0] == "consume-billing-2"
    assert where[0][1] is not asyncio.get_running_loop()
    member.close()
    await until(lambda: names() == [], "the thread ends with the member")


async def test_calls_run_at_once_on_the_members_loop(make: Make) -> None:
    together: list[int] = []
    all_there = threading.Event()

    async def own(_messages: object, _context: object) -> ConsumeResult:
        together.append(1)
        if len(together) == LISTENER_THREADS:
            all_there.set()
        while not all_there.is_set():
            await asyncio.sleep(0)
        return ConsumeResult.SUCCESS

    member = await make(own)
    calls = [call(member) for _ in range(LISTENER_THREADS)]
    results = await asyncio.wait_for(asyncio.gather(*calls), PATIENCE_SECONDS)
    assert set(results) == {ConsumeResult.SUCCESS}


async def test_cancelling_a_call_cancels_the_listener(make: Make) -> None:
    began, cancelled = threading.Event(), threading.Event()

    async def own(_messages: object, _context: object) -> ConsumeResult:
        began.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return ConsumeResult.SUCCESS

    member = await make(own)
    calling = asyncio.ensure_future(call(member))
    await until(began.is_set)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    await until(cancelled.is_set)
    assert member.busy_since_ms("c", 0) is None


@pytest.mark.parametrize("error", [KeyError("x"), SystemExit(3), KeyboardInterrupt()])
@pytest.mark.parametrize("kind", ["plain", "async"])
async def test_errors_are_the_callers_and_none_ends_a_loop(
    error: BaseException, kind: str, make: Make
) -> None:
    def plain(_messages: object, _context: object) -> ConsumeResult:
        raise error

    async def own(_messages: object, _context: object) -> ConsumeResult:
        raise error

    member = await make(plain if kind == "plain" else own)
    for _ in range(2):
        with pytest.raises((KeyError, RuntimeError)) as caught:
            await call(member)
        assert repr(error) in repr(caught.value)


async def test_a_listener_that_stops_its_loop_gets_another(make: Make) -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def own(_messages: object, _context: object) -> ConsumeResult:
        loops.append(asyncio.get_running_loop())
        if len(loops) == 1:
            asyncio.get_running_loop().stop()
            await asyncio.sleep(3600)
        return ConsumeResult.SUCCESS

    member = await make(own)
    with pytest.raises(asyncio.CancelledError):
        await call(member)
    await until(loops[0].is_closed)
    await until(lambda: names() == [])
    assert await call(member) is ConsumeResult.SUCCESS
    assert loops[0] is not loops[1]


async def test_a_listener_that_cannot_be_made_leaves_no_thread() -> None:
    member = MemberListener(spec("sing"))
    with pytest.raises(ArgumentError, match="unknown listener 'sing'"):
        await member.make()
    assert not member.made
    await until(lambda: names() == [])


async def test_a_call_that_takes_long_is_told_with_its_beginning(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    release, began = threading.Event(), threading.Event()

    def own(_messages: object, _context: object) -> ConsumeResult:
        began.set()
        assert release.wait(PATIENCE_SECONDS)
        return ConsumeResult.SUCCESS

    clock = ManualClock()
    member = await make(own, clock)
    calling = asyncio.ensure_future(call(member))
    await until(began.is_set)
    await clock.advance(BUSY_SECONDS - 1)
    assert member.busy_since_ms("c1", 1_059_000) is None
    await clock.advance(1)
    with caplog.at_level(logging.WARNING):
        assert member.busy_since_ms("c1", 1_060_000) == 1_000_000
        await clock.advance(10)
        assert member.busy_since_ms("c1", 1_070_003) == 1_000_000
    (line,) = [record.getMessage() for record in caplog.records]
    assert line == (
        f"group=billing client=c1 queue={QUEUE} offset=7 "
        "listener has not returned for 60 s"
    )
    release.set()
    assert await calling is ConsumeResult.SUCCESS
    assert member.busy_since_ms("c1", 1_080_000) is None
