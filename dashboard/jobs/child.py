"""The warm analytics process: starts with the first job, ends when idle or told to.

`python -m analytics serve` speaks JSON lines (see `analytics.resident`). It is started
lazily, so a machine that makes no reports runs no JVM; it ends itself when idle, and
when its standard input closes, so it cannot outlive the worker. One caller at a time.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from .environment import analytics_environment

logger = logging.getLogger(__name__)

COMMAND: Final = (sys.executable, "-m", "analytics", "serve")
STOP_SECONDS: Final = 10.0
_ENDINGS: Final = frozenset({"done", "failed", "cancelled"})

Event = Mapping[str, Any]


class ChildEndedError(Exception):
    """The analytics process ended in the middle of a job."""


class Request(Protocol):
    """The description of a job as the process reads it."""

    def to_json(self) -> str: ...


class AnalyticsChild:
    """The process, started when it is first needed.

    Another command that speaks the same lines may be given, with its title.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        command: Sequence[str] = COMMAND,
        title: str = "analytics process",
    ) -> None:
        self._title = title
        self._environ = dict(environ)
        self._command = tuple(command)
        self._process: subprocess.Popen[str] | None = None
        self._events: queue.Queue[Event | None] = queue.Queue()

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        process = self._process
        return process.pid if process and process.poll() is None else None

    def run(
        self, name: str, request: Request, *, poll_seconds: float = 1.0
    ) -> Iterator[Event | None]:
        """Yield the events of a job up to its end, and None for each poll without one.

        Raises `ChildEndedError` when the process ends before the job does.
        """
        document = {"op": "run", "id": name, "request": json.loads(request.to_json())}
        self._send(document, start=True)
        was_taken = False
        while True:
            try:
                event = self._events.get(timeout=poll_seconds)
            except queue.Empty:
                yield None
                continue
            if event is None:
                code = self._reap()
                if code != 0 or was_taken:
                    raise ChildEndedError(self._obituary(code))
                # The process ended from idleness just as the job was sent: a new one
                # takes it.
                self._send(document, start=True)
            elif event.get("id") == name:
                was_taken = True
                yield event
                if event["event"] in _ENDINGS:
                    return

    def warm(self) -> None:
        """Have the process start Spark before a job comes; returns at once."""
        self._send({"op": "warm", "id": ""}, start=True)

    def cancel(self, name: str) -> None:
        """Ask a job to stop; its events continue until it has ended."""
        self._send({"op": "cancel", "id": name}, start=False)

    def stop(self) -> None:
        """End the process: close its input, and kill it if that is not enough."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin:
            process.stdin.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            logger.warning("pid=%s does not end, killing it", process.pid)
            process.kill()
            process.wait()

    def kill(self) -> None:
        """End the process at once, with whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self.stop()

    def _send(self, document: Mapping[str, Any], *, start: bool) -> None:
        for _attempt in range(2):
            if start and self.pid is None:
                self._start()
            process = self._process
            if process is None or process.stdin is None:
                return
            try:
                process.stdin.write(json.dumps(document) + "\n")
                process.stdin.flush()
            except (BrokenPipeError, ValueError):
                self.stop()
                continue
            return

    def _start(self) -> None:
        self.stop()
        self._events = queue.Queue()
        process = subprocess.Popen(  # noqa: S603  the command is ours
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environ,
            text=True,
            # The child is in the worker's process group, so that killing the group, as
            # the supervisor does with a worker that does not end, leaves nothing
            # behind.
        )
        self._process = process
        threading.Thread(
            target=_read_events,
            args=(process, self._events),
            name=f"events-of-{process.pid}",
            daemon=True,
        ).start()
        logger.info("pid=%s %s started", process.pid, self._title)

    def _reap(self) -> int | None:
        process = self._process
        code = process.wait() if process else None
        self.stop()
        return code

    def _obituary(self, code: int | None) -> str:
        if code is not None and code < 0:
            return f"the {self._title} was killed by signal {-code}"
        return f"the {self._title} ended with exit code {code}"


def child_environment() -> dict[str, str]:
    """Return the part of this process's environment that the child needs."""
    return analytics_environment(os.environ)


def _read_events(
    process: subprocess.Popen[str], events: queue.Queue[Event | None]
) -> None:
    assert process.stdout is not None  # noqa: S101  given by PIPE
    with process.stdout as lines:
        for line in lines:
            try:
                events.put(json.loads(line))
            except ValueError:
                logger.warning("pid=%s printed %r", process.pid, line[:200])
    events.put(None)
