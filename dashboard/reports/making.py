"""Make files of reports outside of the web process, one at a time.

A warm child process makes them: it starts with the first file, and ends by itself when
nothing was asked of it for a while, or when its parent has gone. So a large PDF leaves
the web process as responsive and as small as it was. A file that takes too long is
given up and its process is killed; a child that needs too much memory fails by itself.
Workers for jobs are no place for this: a download would wait behind a job for an hour.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import asdict, dataclass
from typing import Final

from dashboard.frame.errors import BusyError
from dashboard.jobs.child import AnalyticsChild, ChildEndedError
from dashboard.jobs.environment import files_environment
from dashboard.reports.data.results import NoResultError

from .maker import COMMAND, MISSING

MAKING_SECONDS: Final = 300
"""For one file: a workbook of 60,000 rows takes some 20 s, its PDF 2 s."""
MOST_WAITING: Final = 4
"""Requests that wait while a file is made; others are told to come again."""


class NotMadeError(Exception):
    """A file could not be made; the message says why."""


@dataclass(frozen=True, slots=True)
class FileWish:
    """A file of a run as one reader asks for it, for the process that makes it."""

    run: int
    form: str
    table: str
    paper: str
    language: str
    zone: str
    zone_name: str
    view: dict[str, str]
    path: str

    def to_json(self) -> str:
        return json.dumps(asdict(self))


class FileMaker:
    """The child process, and who waits for it."""

    def __init__(
        self, child: AnalyticsChild, making_seconds: float = MAKING_SECONDS
    ) -> None:
        self._child = child
        self._making_seconds = making_seconds
        self._room = threading.BoundedSemaphore(1 + MOST_WAITING)
        self._turn = threading.Lock()
        self._count = 0

    def make(self, wish: FileWish) -> None:
        """Make the file at `wish.path`, which is on this machine.

        Raises BusyError when enough others wait, NoResultError when the run lacks the
        table, and NotMadeError.
        """
        if not self._room.acquire(blocking=False):
            raise BusyError("other files are being made")
        try:
            with self._turn:
                self._follow(wish)
        finally:
            self._room.release()

    def stop(self) -> None:
        """End the child process; the next file starts another."""
        self._child.stop()

    def _follow(self, wish: FileWish) -> None:
        self._count += 1
        name = str(self._count)
        try:
            for event in self._child.run(name, wish, poll_seconds=self._making_seconds):
                if event is None:
                    self._child.kill()
                    raise NotMadeError(
                        f"not made within {self._making_seconds:g} s, the most that a "
                        "file may take"
                    )
                if event["event"] == "failed" and event.get("kind") == MISSING:
                    raise NoResultError(event["error"])
                if event["event"] == "failed":
                    raise NotMadeError(event["error"])
        except ChildEndedError as error:
            raise NotMadeError(str(error)) from error


MAKER: Final = FileMaker(
    AnalyticsChild(files_environment(os.environ), COMMAND, "process that makes files")
)
