"""Beat's scheduler: tasks as usual, ticks as broadcasts on the slot boundaries.

An entry whose task is `TICK_COMMAND` is not put on a queue. It is sent by beat itself
to the mailbox of every worker, where it lands in the main process at once and never
waits behind a task. Broadcasts may be lost; workers make up for that (see
`rmqcore.timers`).

Tick entries run on boundaries of wall-clock slots, so that a tick comes right after its
slot began, whenever beat was started. The schedule lives in memory: there is no file to
go stale, and beat does not make up ticks missed while it was down. Tasks run on
boundaries as well: a clock that is set back would otherwise keep them from being due
until it has caught up.

Each tick of the shortest period also leaves a pulse in the cache; three missed ones
mean that beat is dead.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
from celery import schedules
from celery.beat import ScheduleEntry, Scheduler
from kombu.exceptions import OperationalError
from redis import RedisError

from dashboard.live.names import BEAT_KEY
from dashboard.live.state import live_state
from rmqcore.timers import PERIOD_S

from .ticks import (
    COLLECTOR_PERIOD_S,
    START_REPORTS,
    START_REPORTS_PERIOD_S,
    SWEEP_WATCHED,
    TICK_COMMAND,
    tick_at,
)

logger = logging.getLogger(__name__)

PULSE_KEPT_SECONDS: Final = 3600
MOST_WAITING: Final = 100
"""Tasks of one queue, some 150 KB; with more, beat sends none of its own to it."""


class Boundaries(schedules.schedule):
    """Due once in every slot [n * period, (n + 1) * period) of the wall clock."""

    def __init__(self, period: float, nowfun: Any = None, app: Any = None) -> None:
        super().__init__(run_every=timedelta(seconds=period), nowfun=nowfun, app=app)
        self.period = period

    def is_due(self, last_run_at: datetime) -> schedules.schedstate:
        """Tell whether this slot has not run yet, and how long until the next one.

        Any slot other than that of the last run is due, whether it is later or, after
        the clock was set back, earlier.
        """
        now = self.now().timestamp()
        last = last_run_at.timestamp()
        due = now // self.period != last // self.period
        return schedules.schedstate(due, self.period - now % self.period)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.period,))


def tick_entries() -> dict[str, dict[str, Any]]:
    """Return one entry per timer: collector's, fleet's, and schedules of reports."""
    periods = {str(timer): period for timer, period in PERIOD_S.items()}
    periods.update(COLLECTOR_PERIOD_S)
    periods[START_REPORTS] = START_REPORTS_PERIOD_S
    return {
        f"tick.{timer}": {
            "task": TICK_COMMAND,
            "schedule": Boundaries(period),
            "kwargs": {"timer": timer, "period": period},
        }
        for timer, period in periods.items()
    }


class TickScheduler(Scheduler):
    """Keeps its schedule in memory and broadcasts ticks; see the module's docstring."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._name = f"beat@{socket.gethostname()}"
        super().__init__(*args, **kwargs)

    def setup_schedule(self) -> None:
        """Take the tasks of the configuration, and the ticks."""
        self.install_default_entries(self.schedule)
        tasks = {
            name: {**task, "schedule": Boundaries(task["schedule"])}
            for name, task in self.app.conf.beat_schedule.items()
        }
        self.update_from_dict({**tasks, **tick_entries()})

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Run what is due, one entry a call; return the seconds until the next.

        The entries are sorted anew each time: if the clock was set back after they had
        been sorted, the first would hold up all those behind it.
        """
        self._heap = None
        return float(super().tick(*args, **kwargs))

    def adjust(self, n: float, drift: float = 0.0) -> float:
        """Wake on a boundary, not 10 ms before it, when nothing is due yet."""
        return max(0.0, n + drift)

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        """Broadcast a tick, or send a task as Celery does.

        A task that has expired stays in its queue until a worker takes it, so a queue
        that no worker reads would grow for ever. Each of beat's tasks also does what
        earlier ones have left undone.
        """
        try:
            if entry.task != TICK_COMMAND:
                if self._has_room(str(entry.task)):
                    super().apply_entry(entry, producer=producer)
                return
            self._broadcast(**(entry.kwargs or {}))
        except (OperationalError, RedisError, OSError) as error:
            logger.warning("entry=%s not sent: %s", entry.name, error)

    def _has_room(self, task: str) -> bool:
        queue = self.app.amqp.router.route({}, task)["queue"].name
        return int(live_state().client.llen(queue)) < MOST_WAITING  # type: ignore[arg-type]

    def _broadcast(self, *, timer: str, period: float) -> None:
        now = time.time()
        tick = tick_at(timer, period, now, self._name)
        arguments = {
            "timer": tick.timer,
            "slot": tick.number,
            "due": tick.due,
            "asked_by": tick.asked_by,
        }
        self.app.control.broadcast(TICK_COMMAND, arguments=arguments, reply=False)
        if timer == SWEEP_WATCHED:
            self._leave_pulse(now)

    def _leave_pulse(self, now: float) -> None:
        pulse = {"at": round(now * 1000), "name": self._name, "pid": os.getpid()}
        live_state().client.set(BEAT_KEY, orjson.dumps(pulse), ex=PULSE_KEPT_SECONDS)
