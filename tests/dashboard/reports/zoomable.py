"""A finished run whose samples are still kept: an hour of one group, every ten seconds.

The lag of queue 0 is the second of the hour at which the ten seconds begin that a
sample claims, that of queue 1 twice as much, so that every mean can be worked out by
hand.
"""

from __future__ import annotations

from collections.abc import Container
from datetime import timedelta
from pathlib import Path
from typing import Final

import numpy as np

from analytics import contracts as c
from analytics.lake.compaction import absorb
from analytics.lake.storage import open_storage
from analytics.lake.writer import LandingWriter
from dashboard.models import JobRun

from .finished import SINCE, finished_run

PERIOD: Final = timedelta(hours=1)
STEP_SECONDS: Final = 600


def zoomable_run(
    lake: Path, group: str = "settlement", *, lost: Container[int] = ()
) -> JobRun:
    """Return a run over the hour, computed in steps of ten minutes.

    Queue 1 has no sample that claims the ten seconds from each second of `lost` on.
    """
    writer = LandingWriter(str(lake), run_id="zoom")
    begin = round(SINCE.timestamp() * 1000)
    for second in range(0, round(PERIOD.total_seconds()), 10):
        lag = np.array([second] if second in lost else [second, 2 * second])
        writer.append(
            {
                c.CLUSTER: "hangzhou",
                c.GROUP: "settlement",
                c.TOPIC: "orders",
                c.BROKER: "broker-a",
                c.QUEUE_ID: np.arange(len(lag)),
                c.TIME: begin + (second + 10) * 1000,
                c.WEIGHT: 10,
                c.MIN: 0,
                c.MAX: 10_000,
                c.COMMITTED: 10_000 - lag,
                c.EPOCH: 7,
                c.LAG_MS: lag * 10,
            }
        )
    writer.close(begin)
    absorb(open_storage(str(lake)), c.SAMPLES)
    step = timedelta(seconds=STEP_SECONDS)
    return finished_run(lake, group=group, step=step, steps=PERIOD // step)
