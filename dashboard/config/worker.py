"""What a worker has beside tasks: the tick command, and the roles it was started with.

A worker without a role runs tasks, and it alone loads them: they bring libraries that
the others need not carry. Loaded in worker processes only.

A role is a service of its own room with an event loop in a thread of the worker's main
process: `start`, `stop` (waits for a graceful end) and `receive` for ticks.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Final, Protocol

from celery import bootsteps
from celery.worker.control import control_command
from django.conf import settings

from dashboard.clock.ticks import (
    TICK_COMMAND,
    Tick,
    add_receiver,
    deliver,
    remove_receiver,
)
from dashboard.gateway.clusters import log_unverified

from .celery import app

logger = logging.getLogger(__name__)

TASKS: Final = ("dashboard.jobs.tasks", "dashboard.reports.tasks")


class Role(Protocol):
    """A service that runs for as long as its worker does."""

    def start(self) -> None:
        """Start; return once the service runs."""

    def stop(self) -> None:
        """End gracefully; return once everything is handed back or time is up.

        Called in a thread of its own; `clock.ending` says how long it may take.
        """

    def receive(self, tick: Tick) -> None:
        """Hand a tick over to the service's loop, without waiting."""


def make_collector(worker_name: str) -> Role:
    from dashboard.collector.service import CollectorService

    return CollectorService(worker_name)


def make_fleet(worker_name: str) -> Role:
    from dashboard.fleet.service import FleetService

    return FleetService(worker_name)


def make_labs(worker_name: str) -> Role:
    from dashboard.labs.service import LabService

    return LabService(worker_name)


def make_resends(worker_name: str) -> Role:
    from dashboard.dead_letters.service import ResendService

    return ResendService(worker_name)


def make_schedules(worker_name: str) -> Role:
    from dashboard.reports.starting import ReportSchedules

    return ReportSchedules(worker_name)


ROLE_MAKERS: dict[str, Callable[[str], Role]] = {
    "collector": make_collector,
    "fleet": make_fleet,
    "labs": make_labs,
    "resends": make_resends,
    "schedules": make_schedules,
}


class Roles(bootsteps.StartStopStep):
    """Starts the worker's roles after its pool, and stops them before it."""

    requires = ("celery.worker.components:Pool",)

    def __init__(
        self, parent: Any, roles: tuple[str, ...] = (), **options: Any
    ) -> None:
        super().__init__(parent, **options)
        if not roles:
            for module in TASKS:
                app.loader.import_task_module(module)
        self._wanted = roles
        self._running: list[Role] = []

    def start(self, parent: Any) -> None:
        """Start each role; a failure ends the worker with the reason."""
        log_unverified(settings.ROCKETSCOPE_CLUSTERS)
        for name in self._wanted:
            role = ROLE_MAKERS[name](str(parent.hostname))
            role.start()
            add_receiver(role.receive)
            self._running.append(role)
            logger.info("worker=%s role=%s started", parent.hostname, name)

    def stop(self, parent: Any) -> None:
        """Stop the roles side by side: a slow one does not keep others waiting."""
        ending = []
        while self._running:
            role = self._running.pop()
            remove_receiver(role.receive)
            thread = threading.Thread(target=_stop, args=(role, parent.hostname))
            thread.start()
            ending.append(thread)
        for thread in ending:
            thread.join()

    terminate = stop


def _stop(role: Role, worker: object) -> None:
    role.stop()
    logger.info("worker=%s %s stopped", worker, type(role).__name__)


@control_command(
    name=TICK_COMMAND,
    args=[("timer", str), ("slot", int), ("due", float), ("asked_by", str)],
)
def tick(_state: Any, timer: str, slot: int, due: float, asked_by: str) -> None:
    """Take one slot of one timer from beat and pass it to the roles."""
    deliver(Tick(timer, slot, due, asked_by))


app.steps["worker"].add(Roles)
