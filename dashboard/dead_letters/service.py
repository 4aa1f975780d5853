"""The role of a worker that resends dead letters: looks for runs, claims, plays them.

Runs are rare and short, so it looks into the database every two seconds: a query on an
index. Each run has a thread of its own, as it mostly waits for its rate.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from django.db import DatabaseError, close_old_connections, connections

from dashboard.clock.ending import HAND_BACK_SECONDS
from dashboard.clock.ticks import Tick

from .runs import claim, give_up_lost, waiting_runs

logger = logging.getLogger(__name__)

LOOK_EVERY_SECONDS: Final = 2.0
AT_ONCE: Final = 4
"""Runs that one worker plays at the same time; further ones wait."""


class ResendService:
    """The runs that one worker plays, from `start` to `stop`."""

    def __init__(self, worker_name: str) -> None:
        self._worker = worker_name
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._look, name="resends", daemon=True)
        self._playing: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to look for runs."""
        self._thread.start()

    def stop(self) -> None:
        """Hand the runs back after the letter that is being sent."""
        self._stopping.set()
        for thread in (self._thread, *self._playing):
            thread.join(HAND_BACK_SECONDS)

    def receive(self, tick: Tick) -> None:
        """Ignore the tick: runs keep their own time."""

    def _look(self) -> None:
        while not self._stopping.is_set():
            close_old_connections()
            try:
                give_up_lost()
                self._claim_some()
            except DatabaseError as error:
                logger.warning("worker=%s resends: %s", self._worker, error)
            self._stopping.wait(LOOK_EVERY_SECONDS)
        connections.close_all()

    def _claim_some(self) -> None:
        self._playing = [each for each in self._playing if each.is_alive()]
        for pk in waiting_runs():
            if len(self._playing) >= AT_ONCE:
                return
            if (run := claim(pk, self._worker)) is not None:
                # Imported late, so that a worker that resends nothing does not load it.
                from .playing import Playing

                playing = Playing(run, self._stopping)
                thread = threading.Thread(
                    target=_play, args=(playing.play,), name=f"resend-{pk}", daemon=True
                )
                self._playing.append(thread)
                thread.start()


def _play(play: Callable[[], None]) -> None:
    try:
        play()
    finally:
        connections.close_all()
