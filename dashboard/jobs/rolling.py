"""Bring the roll-ups up to date, in the analytics process that jobs run in.

No person has asked for a roll-up, so there is no row to follow: failures are logged,
and the next run continues where this one stopped.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from analytics import contracts as c
from analytics.lake.naming import LANDING
from analytics.lake.storage import open_storage
from analytics.requests import JobRequest

from .child import AnalyticsChild, ChildEndedError

logger = logging.getLogger(__name__)

ROLLUP_SECONDS: Final = 900.0
"""A run that takes longer is ended; samples read by then stay read."""

NAME: Final = "rollup"


def run_rollup(
    lake: str, child: AnalyticsChild, now: Callable[[], float] = time.monotonic
) -> bool:
    """Run one roll-up to its end; False if it failed or nothing has landed yet."""
    if not open_storage(lake).list_files(f"{LANDING}/{c.SAMPLES}"):
        return False
    started = now()
    try:
        for event in child.run(NAME, JobRequest(c.JOB_ROLLUP, lake, lake)):
            if event is not None and event["event"] == "done":
                logger.info("roll-up done: %s", event["summary"])
                return True
            if event is not None and event["event"] != "progress":
                logger.warning("roll-up %s: %s", event["event"], event.get("error"))
                return False
            if now() - started > ROLLUP_SECONDS:
                child.kill()
                logger.warning("roll-up ended after %.0f s", ROLLUP_SECONDS)
                return False
    except ChildEndedError as error:
        logger.warning("roll-up ended: %s", error)
    return False
