"""Running slots: by the client's own clock, at most once, one timer not behind another.

Time stands still until a test moves it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from rmqcore.client import ClientInstance, TimerDriver, run_slot
from rmqcore.client.instance.timer_driver import TimerRun
from rmqcore.errors import RmqError
from rmqcore.model import (
    ConsumeFromWhere,
    ConsumerData,
    ConsumeType,
    MessageModel,
)
from rmqcore.timers import Schedule, Timer
from rmqcore.transport import ManualClock

START_MS = 1_700_000_040_000  # the beginning of a slot of every timer


class Member:
    """A group member that notes what it is asked to do."""

    group = "G"

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.failure: Exception | None = None
        self.renewing: asyncio.Event | None = None

    def topics(self) -> tuple[str, ...]:
        return ()

    def consumer_data(self) -> ConsumerData:
        return ConsumerData(
            "G",
            ConsumeType.PUSH,
            MessageModel.CLUSTERING,
            ConsumeFromWhere.LAST_OFFSET,
            (),
        )

    def rebalance_soon(self) -> None:
        self.calls["rebalance soon"] += 1

    async def rebalance(self) -> bool:
        self.calls["rebalance"] += 1
        return True

    async def renew_locks(self) -> None:
        self.calls["renew_locks"] += 1
        if self.renewing is not None:
            await self.renewing.wait()

    async def persist_offsets(self) -> None:
        self.calls["persist_offsets"] += 1
        if self.failure is not None:
            raise self.failure

    async def expire_stuck(self) -> None:
        self.calls["expire_stuck"] += 1


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START_MS)


@pytest.fixture
async def instance(clock: ManualClock) -> AsyncIterator[ClientInstance]:
    made = ClientInstance("c", ["127.0.0.1:1"], clock=clock)
    yield made
    await made.stop()


@pytest.fixture
def member(instance: ClientInstance) -> Member:
    made = Member()
    instance.members["G"] = made  # type: ignore[assignment]
    return made


async def driven(instance: ClientInstance) -> tuple[TimerDriver, list[TimerRun]]:
    runs: list[TimerRun] = []
    driver = TimerDriver(instance, runs.append)
    driver.start()
    return driver, runs


async def test_a_minute_runs_every_timer_as_often_as_it_should(
    instance: ClientInstance, member: Member, clock: ManualClock
) -> None:
    driver, runs = await driven(instance)
    await clock.advance(60.5)
    await driver.stop()
    assert Counter(run.timer.value for run in runs) == {
        "rebalance": 3,
        "renew_locks": 3,
        "persist_offsets": 12,
        "heartbeat": 2,
        "refresh_routes": 2,
        "expire_stuck": 1,
    }
    assert member.calls == {
        "rebalance": 3,
        "renew_locks": 3,
        "persist_offsets": 12,
        "expire_stuck": 1,
    }


async def test_runs_tell_when_they_were_due_and_by_whom(
    instance: ClientInstance, member: Member, clock: ManualClock
) -> None:
    driver, runs = await driven(instance)
    await clock.advance(5.5)
    await driver.stop()
    (run,) = runs
    assert run.timer is Timer.PERSIST_OFFSETS
    assert run.due_ms == START_MS + 5000
    assert 0 <= run.started_ms - run.due_ms <= 2
    assert (run.asked_by, run.error) == ("client", None)
    assert run.slot == (START_MS + 5000) // 5000


async def test_a_long_standstill_runs_each_timer_once(
    instance: ClientInstance, member: Member, clock: ManualClock
) -> None:
    schedule = Schedule(START_MS / 1000)
    await clock.advance(3600)
    now = instance.now_ms() / 1000
    for slot in schedule.due(now):
        assert schedule.claim(slot, now)
        await run_slot(instance, slot, "test")
    assert set(member.calls.values()) == {1}
    assert schedule.due(instance.now_ms() / 1000) == []


async def test_a_slow_timer_does_not_hold_up_the_others(
    instance: ClientInstance, member: Member, clock: ManualClock
) -> None:
    member.renewing = asyncio.Event()
    driver, _ = await driven(instance)
    await clock.advance(61)
    assert member.calls["renew_locks"] == 1
    assert member.calls["persist_offsets"] == 12
    member.renewing.set()
    await clock.advance(20)
    assert member.calls["renew_locks"] == 2
    await driver.stop()


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (RmqError("no broker"), "no broker"),
        (RuntimeError("a mistake"), "RuntimeError: a mistake"),
    ],
)
async def test_a_failure_is_told_and_the_next_slot_runs(
    instance: ClientInstance,
    member: Member,
    clock: ManualClock,
    failure: Exception,
    told: str,
) -> None:
    member.failure = failure
    driver, runs = await driven(instance)
    await clock.advance(10.5)
    await driver.stop()
    assert [run.error for run in runs] == [told, told]


async def test_every_timer_can_be_run_by_somebody_else(
    instance: ClientInstance, member: Member
) -> None:
    for timer in Timer:
        await instance.run_timer(timer)
    assert set(member.calls) == {
        "rebalance",
        "renew_locks",
        "persist_offsets",
        "expire_stuck",
    }
