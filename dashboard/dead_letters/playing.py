"""Resends the letters of one claimed run, at its rate, until its end.

It runs in a thread of its own. Database work is done between the letters, outside of
the event loop that holds the connections to the cluster.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from django.db import DatabaseError

from dashboard.gateway.resending import (
    Letter,
    PerhapsSentError,
    Resender,
    StraightBackError,
    Target,
)
from dashboard.models import ResendRun, ResentLetter
from rmqcore.errors import ArgumentError, RmqError

from .runs import Outcome, finish, hand_back, note, stop_asked, take_batch

logger = logging.getLogger(__name__)

BATCH_SECONDS: Final = 0.25
"""So much of a run may be unknown when its worker is killed, and at least a letter."""
LONGEST_BATCH_SECONDS: Final = 10.0
"""A batch ends after this time, so that a run with a slow broker is not taken for one
whose worker has gone: a batch says that the worker is alive when it begins."""
MOST_FAILED_IN_A_ROW: Final = 5

State = ResentLetter.State


class _EndedError(Exception):
    """The run ends early; the message says why."""


class Playing:
    """One run; `stopping` is set when the worker is to end."""

    def __init__(
        self,
        run: ResendRun,
        stopping: threading.Event,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run = run
        self._now = now
        self._stopping = stopping
        self._pace = Pace(run.rate, stopping.wait)
        self._failed_in_a_row = 0

    def play(self) -> None:
        """Resend to the end, whatever that is, and write the outcome."""
        run = self._run
        logger.info("resend=%s group=%s started", run.pk, run.group)
        try:
            with asyncio.Runner() as runner:
                self._connected(runner)
        except (_EndedError, RmqError, OSError, KeyError) as error:
            finish(run, ResendRun.State.FAILED, str(error))
        except DatabaseError:
            # Nothing can be written now; the run is given up as lost.
            logger.exception("resend=%s not written", run.pk)
        except Exception as error:
            logger.exception("resend=%s failed", run.pk)
            text = f"{type(error).__name__}; see the worker's log"
            finish(run, ResendRun.State.FAILED, text)
        logger.info("resend=%s ended", run.pk)

    def _connected(self, runner: asyncio.Runner) -> None:
        resender = runner.run(opened(self._run.cluster.name))
        try:
            self._all(runner, resender)
        finally:
            runner.run(resender.close())

    def _all(self, runner: asyncio.Runner, resender: Resender) -> None:
        run = self._run
        most = max(1, round(run.rate * BATCH_SECONDS))
        while not self._stopping.is_set():
            batch = take_batch(run, most)
            if batch is None:
                if stop_asked(run):
                    finish(run, ResendRun.State.STOPPED)
                return
            if not batch:
                finish(run, ResendRun.State.DONE)
                return
            self.send_batch(runner, resender, batch)
        hand_back(run)

    def send_batch(
        self, runner: asyncio.Runner, resender: Resender, batch: Sequence[ResentLetter]
    ) -> None:
        """Send a batch; what was not tried waits again, however the batch ends."""
        outcomes: list[Outcome] = []
        end = self._now() + LONGEST_BATCH_SECONDS
        try:
            for letter in batch:
                if not self._pace.wait() or (outcomes and self._now() > end):
                    break
                outcomes.append(self._one(runner, resender, letter))
                self._judge(outcomes[-1])
        finally:
            left = [Outcome(each, State.WAITING) for each in batch[len(outcomes) :]]
            note([*outcomes, *left])

    def _one(
        self, runner: asyncio.Runner, resender: Resender, letter: ResentLetter
    ) -> Outcome:
        run = self._run
        target: Target = "group" if run.target == run.Target.GROUP else "topic"
        where = Letter(
            *(letter.broker, letter.queue_id, letter.offset), id=letter.letter_id
        )
        work = resender.resend(where, group=run.group, target=target)
        try:
            resent = runner.run(work)
        except StraightBackError as error:
            self._failed_in_a_row = MOST_FAILED_IN_A_ROW
            return Outcome(letter, State.FAILED, error=str(error))
        except ArgumentError as error:
            # The letter itself cannot be sent, which says nothing of the next one.
            return Outcome(letter, State.FAILED, error=str(error))
        except PerhapsSentError as error:
            self._failed_in_a_row += 1
            return Outcome(letter, State.SENDING, error=str(error))
        except (RmqError, OSError) as error:
            self._failed_in_a_row += 1
            return Outcome(letter, State.FAILED, error=str(error))
        self._failed_in_a_row = 0
        if resent is None:
            return Outcome(letter, State.GONE)
        return Outcome(letter, State.SENT, resent)

    def _judge(self, outcome: Outcome) -> None:
        if self._failed_in_a_row >= MOST_FAILED_IN_A_ROW:
            raise _EndedError(outcome.error)


class Pace:
    """Lets through at most `rate` letters a second; after a delay none is made up."""

    def __init__(
        self,
        rate: int,
        pause: Callable[[float], bool],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._gap = 1 / rate
        self._pause = pause
        self._now = now
        self._next = now()

    def wait(self) -> bool:
        """Wait for the next turn; False if the pause was ended because all is to."""
        ended = self._pause(max(0.0, self._next - self._now()))
        self._next = max(self._next, self._now()) + self._gap
        return not ended


async def opened(cluster: str) -> Resender:
    """Return a resender that belongs to the running loop."""
    return Resender(cluster)
