"""The process that sends: runs while messages wait, and a minute longer.

The collector starts it when there is something to send (`Deliverer`). It is a process
of its own, so that no service's code and no slow receiver holds up a sweep. Channels
are served side by side, so that one that hangs delays only its own messages.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from typing import Final

from django.db import DatabaseError, close_old_connections, connections
from django.utils import timezone

from dashboard.jobs.environment import sender_environment
from dashboard.models import AlertMessage

from .outbox import claim_due, deliver, next_due
from .sending import send

logger = logging.getLogger(__name__)

COMMAND: Final = (sys.executable, "-m", "django", "deliver_alerts")
LOOK_SECONDS: Final = 0.5
IDLE_SECONDS: Final = 60.0
SIDE_BY_SIDE: Final = 4
STOP_SECONDS: Final = 1.0
"""How long its end is waited for. It is not killed: what it is sending would be sent
again."""


class Deliverer:
    """The sending process as its starter knows it: at most one at a time."""

    def __init__(self, command: tuple[str, ...] = COMMAND) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        process = self._process
        return process.pid if process and process.poll() is None else None

    def wake(self) -> None:
        """Start the process unless it runs; it finds by itself what is due."""
        if self.pid is None:
            self._process = subprocess.Popen(  # noqa: S603 - the command is ours
                self._command,
                stdin=subprocess.DEVNULL,
                env=sender_environment(os.environ),
            )
            logger.info("pid=%s sends alerts", self._process.pid)

    def stop(self) -> None:
        """Ask the process to end; it finishes first what it is sending."""
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            logger.warning(
                "pid=%s waits for a receiver and ends by itself", process.pid
            )


def send_waiting(
    ended: Callable[[], bool], *, idle_seconds: float = IDLE_SECONDS
) -> None:
    """Send what is due, until nothing has been for a while or `ended` says so."""
    busy: dict[int | None, Future[None]] = {}
    used_at = time.monotonic()
    with ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="channel") as pool:
        while not ended():
            busy = {pk: work for pk, work in busy.items() if not work.done()}
            try:
                needed = _begin(pool, busy, timezone.now())
            except DatabaseError as error:
                logger.warning("what is to be sent was not read: %s", error)
                needed = False
            if needed or busy:
                used_at = time.monotonic()
            elif time.monotonic() - used_at > idle_seconds:
                return
            time.sleep(LOOK_SECONDS)


def _begin(
    pool: ThreadPoolExecutor, busy: dict[int | None, Future[None]], now: datetime
) -> bool:
    """Begin to send what is due to channels that are free.

    Return whether the process is still of use: something waits, and not for long.
    """
    close_old_connections()
    by_channel: dict[int | None, list[AlertMessage]] = {}
    for message in claim_due(now, busy):
        by_channel.setdefault(message.channel_id, []).append(message)
    for pk, messages in by_channel.items():
        busy[pk] = pool.submit(_send_all, messages)
    due = next_due()
    return due is not None and (due - now).total_seconds() < IDLE_SECONDS


def _send_all(messages: list[AlertMessage]) -> None:
    try:
        for message in messages:
            deliver(message, send)
    except Exception:
        # The claim runs out, and the message is sent again.
        logger.exception("what became of a message was not noted")
    finally:
        connections.close_all()
