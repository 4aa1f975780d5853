"""A warm Spark session behind a pipe: jobs in as JSON lines, progress out.

The dashboard starts `python -m analytics serve` as a child when a job comes, and gives
it the next ones while the session is warm (a second instead of ten). The child ends
when its standard input does, so it never outlives its parent, and when it has been
idle for a while. A few seconds after a job it returns memory that a warm session does
not need. A crash of Spark is a dead child, not a dead worker.

    in:   {"op": "run", "id": "7", "request": {…}}    {"op": "cancel", "id": "7"}
          {"op": "warm", "id": ""}    start Spark before a job asks for it; no answer
    out:  {"event": "progress", "id": "7", "part": 0.4, "phase": "samples"}
          {"event": "done", "id": "7", "summary": {…}}
          {"event": "failed", "id": "7", "error": "…"}
          {"event": "cancelled", "id": "7"}

One job runs at a time; further ones wait in order.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, TextIO

from analytics.errors import AnalyticsError, JobCancelledError, JobError
from analytics.memory import give_memory_back
from analytics.requests import JobRequest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = logging.getLogger(__name__)

REST_SECONDS: Final = 3.0
RESTS: Final = 2
"""While no job comes, memory is returned this often, at intervals of `REST_SECONDS`.

Twice, because Spark frees some of it only after Java's first collection; and not at
once, because Py4J takes a second or two to tell Java which objects Python released.
"""

Emit = Callable[[dict[str, Any]], None]


def serve(*, idle_seconds: float) -> int:
    """Run jobs from standard input until it ends or nothing has come for a while."""
    # Ctrl-C in the parent's terminal is the parent's to act on. Spark handles the
    # signal itself once it runs, so it is kept away from all threads and processes.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # Spark's processes inherit file 1; what they print must not mix with events.
    events = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    resident = Resident(lambda event: _print_line(events, event))
    reader = threading.Thread(
        target=resident.read, args=(sys.stdin,), name="requests", daemon=True
    )
    reader.start()
    resident.work(idle_seconds)
    return 0


class Resident:
    """The queue between the thread that reads requests and the one that runs them."""

    def __init__(
        self, emit: Emit, start: Callable[[], SparkSession] | None = None
    ) -> None:
        self._emit = emit
        self._start = start or _start_from_environ
        self._waiting: queue.Queue[tuple[str, JobRequest | None] | None] = queue.Queue()
        self._cancelled: set[str] = set()
        self._running: str | None = None
        self._has_ended = False
        self._session: SparkSession | None = None

    def read(self, lines: Iterable[str]) -> None:
        """Take requests until the lines end; then stop after cancelling the rest."""
        for line in lines:
            if line.strip():
                self._take(line)
        self._has_ended = True
        if self._running is not None:
            self._cancel(self._running)
        self._waiting.put(None)

    def work(self, idle_seconds: float) -> None:
        """Run the requests one after another, until the input ends or nothing comes."""
        while True:
            item = self._next(idle_seconds)
            if item is None or self._has_ended:
                break
            name, request = item
            if request is None:
                self._warm()
            else:
                self._run(name, request)
        if self._session is not None:
            self._session.stop()

    def _next(self, idle_seconds: float) -> tuple[str, JobRequest | None] | None:
        """Wait for a job, and give memory back meanwhile; None ends the work."""
        if self._session is not None:
            from analytics.session import give_javas_memory_back

            for _ in range(RESTS):
                with contextlib.suppress(queue.Empty):
                    return self._waiting.get(timeout=REST_SECONDS)
                give_javas_memory_back(self._session)
        with contextlib.suppress(queue.Empty):
            return self._waiting.get(timeout=idle_seconds)
        return None

    def _take(self, line: str) -> None:
        name = ""
        try:
            message = json.loads(line)
            name = str(message["id"])
            if message["op"] == "cancel":
                self._cancel(name)
            elif message["op"] == "warm":
                self._waiting.put((name, None))
            else:
                self._waiting.put((name, _request_in(message)))
        except (ValueError, KeyError, TypeError, JobError) as error:
            self._emit({"event": "failed", "id": name, "error": str(error)})

    def _cancel(self, name: str) -> None:
        self._cancelled.add(name)
        if self._running == name and self._session is not None:
            self._session.sparkContext.cancelJobGroup(name)

    def _warm(self) -> None:
        """Start Spark and import what jobs need; the next job tells what failed."""
        try:
            from analytics import jobs  # noqa: F401

            if self._session is None:
                self._session = self._start()
        except Exception as error:  # the next job must still be served
            logger.warning("Spark was not started ahead: %s", _first_line(error))

    def _run(self, name: str, request: JobRequest) -> None:
        from analytics.jobs import run_job

        def progress(part: float, phase: str) -> None:
            if name in self._cancelled:
                raise JobCancelledError(f"job {name} was cancelled")
            self._emit({"event": "progress", "id": name, "part": part, "phase": phase})

        self._running = name
        try:
            summary = run_job(lambda: self._session_for(name), request, progress)
            self._emit({"event": "done", "id": name, "summary": summary})
        except Exception as error:  # the next job must still be served
            self._emit(self._failure(name, error))
        finally:
            self._running = None
            self._cancelled.discard(name)
            # DataFrames end up in reference cycles, too, and each keeps a plan in Java.
            give_memory_back()

    def _failure(self, name: str, error: Exception) -> dict[str, Any]:
        if name in self._cancelled:
            return {"event": "cancelled", "id": name}
        if not isinstance(error, AnalyticsError):
            logger.exception("job=%s failed", name, exc_info=error)
        return {"event": "failed", "id": name, "error": _first_line(error)}

    def _session_for(self, name: str) -> SparkSession:
        if self._session is None:
            self._session = self._start()
        self._session.sparkContext.setJobGroup(name, name, interruptOnCancel=True)
        return self._session


def _start_from_environ() -> SparkSession:
    from analytics.session import SessionSettings, start_session

    return start_session(SessionSettings.from_environ(os.environ))


def _request_in(message: dict[str, Any]) -> JobRequest:
    if message["op"] != "run":
        raise JobError(f"no operation {message['op']!r}; use run, cancel or warm")
    return JobRequest.from_json(json.dumps(message["request"]))


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:500]


def _print_line(stream: TextIO, event: dict[str, Any]) -> None:
    # A parent that has gone reads nothing more; the end of the input says so, too.
    with contextlib.suppress(BrokenPipeError):
        stream.write(json.dumps(event) + "\n")
        stream.flush()
