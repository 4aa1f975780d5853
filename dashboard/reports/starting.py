"""Start reports by their schedules, and end lost ones: a role of a worker.

Beat's ticks wake it. Whether something is due, and what is active, are one query each
on an index, asked in a thread of its own, so that the worker's main thread is never
held up. If ticks stop coming, the thread asks by itself. Several workers may have this
role: the claim in the database keeps a report from being made twice.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from typing import Final

from django.db import DatabaseError, close_old_connections, connections
from django.utils import timezone

from dashboard.clock.ending import HAND_BACK_SECONDS
from dashboard.clock.ticks import START_REPORTS, START_REPORTS_PERIOD_S, Tick

from .definitions import start_due_reports
from .lost import LostRuns

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 1.5 * START_REPORTS_PERIOD_S
"""After this long without a tick, the thread asks by itself."""


class ReportSchedules:
    """The thread that looks after schedules, from `start` to `stop`."""

    def __init__(
        self, worker_name: str, start_due: Callable[[], object] | None = None
    ) -> None:
        self._worker = worker_name
        self._start_due = start_due or _look_after(LostRuns())
        self._ticks: queue.Queue[bool] = queue.Queue(maxsize=1)
        self._thread = threading.Thread(target=self._run, name="schedules", daemon=True)

    def start(self) -> None:
        """Start the thread; reports missed while nothing ran are started at once."""
        self._ticks.put_nowait(True)
        self._thread.start()

    def stop(self) -> None:
        """End after the check that is under way."""
        self._ticks.put(False)
        self._thread.join(HAND_BACK_SECONDS)

    def receive(self, tick: Tick) -> None:
        """Take a tick; if one is waiting already, it stands for this one too."""
        if tick.timer == START_REPORTS and self._ticks.empty():
            self._ticks.put_nowait(True)

    def _run(self) -> None:
        while self._waits():
            close_old_connections()
            try:
                self._start_due()
            except DatabaseError as error:
                # The next tick tries again; the schedule has not advanced.
                logger.warning("worker=%s schedules: %s", self._worker, error)
        connections.close_all()

    def _waits(self) -> bool:
        """Wait for a tick, but not for ever; return False when it is time to end."""
        try:
            return self._ticks.get(timeout=PATIENCE_S)
        except queue.Empty:
            return True


def _look_after(runs: LostRuns) -> Callable[[], object]:
    def look() -> None:
        # First: a lost run keeps the next one of its group from being started.
        runs.give_up()
        start_due_reports(timezone.now())

    return look
