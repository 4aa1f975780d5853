"""Running the timers: one slot on request, or all of them by the clock.

`run_slot` does a slot's work and reports how it went; a fleet calls it when its own
clock ticks. `TimerDriver` is that clock for a client used alone: it sleeps until the
next slot begins, claims it and runs it in a task of its own, so that a broker that does
not answer heartbeats does not keep locks from being renewed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from rmqcore.errors import RmqError
from rmqcore.timers import Schedule, Slot, Timer

from .client_instance import ClientInstance

logger = logging.getLogger(__name__)

INTERNAL = "client"


@dataclass(frozen=True, slots=True)
class TimerRun:
    """How one slot went. Times are in ms since the epoch; `error` is None on success.

    `asked_by` names what ran it: the client's own clock, a tick from outside, or a
    fallback.
    """

    timer: Timer
    slot: int
    due_ms: int
    started_ms: int
    took_ms: float
    asked_by: str
    error: str | None = None


async def run_slot(
    instance: ClientInstance, slot: Slot, asked_by: str = INTERNAL
) -> TimerRun:
    """Do the work of a slot that was claimed; failures are returned, not raised."""
    clock = instance.clock
    started_ms, began = instance.now_ms(), clock.monotonic()
    problem: str | None = None
    timer = Timer(slot.timer)
    try:
        await instance.run_timer(timer)
    except RmqError as error:
        problem = str(error)
        logger.warning("client=%s timer=%s: %s", instance.client_id, timer, error)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        logger.exception("client=%s timer=%s failed", instance.client_id, timer)
    return TimerRun(
        timer,
        slot.number,
        int(slot.due * 1000),
        started_ms,
        (clock.monotonic() - began) * 1000,
        asked_by,
        problem,
    )


class TimerDriver:
    """The clock of a client that is used alone."""

    def __init__(
        self,
        instance: ClientInstance,
        on_run: Callable[[TimerRun], None] | None = None,
    ) -> None:
        self._instance = instance
        self._on_run = on_run
        self._schedule = Schedule(instance.now_ms() / 1000)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._loop: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to run slots as they become due."""
        self._loop = asyncio.get_running_loop().create_task(self._drive())

    async def stop(self) -> None:
        """End the clock and whatever it is running."""
        tasks = [*self._running.values(), *([self._loop] if self._loop else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drive(self) -> None:
        instance = self._instance
        while True:
            now = instance.now_ms() / 1000
            for slot in self._schedule.due(now):
                self._schedule.claim(slot, now)
                self._begin(slot)
            wait = self._schedule.next_due(now) - now
            # Add a millisecond, or rounding would wake it just before the slot.
            await instance.clock.sleep(wait + 0.001)

    def _begin(self, slot: Slot) -> None:
        before = self._running.get(slot.timer)
        if before is not None and not before.done():
            logger.warning(
                "client=%s timer=%s slot=%d left out: the one before still runs",
                self._instance.client_id,
                slot.timer,
                slot.number,
            )
            return
        self._running[slot.timer] = asyncio.get_running_loop().create_task(
            self._run(slot)
        )

    async def _run(self, slot: Slot) -> None:
        run = await run_slot(self._instance, slot)
        if self._on_run is not None:
            self._on_run(run)
