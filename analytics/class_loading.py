"""A process of its own, in which Java loads the classes that `class_archive` keeps."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from analytics import contracts as c
from analytics.jobs import run_job
from analytics.lake.writer import LandingWriter
from analytics.requests import JobRequest
from analytics.session import SessionSettings, start_session

_MINUTE_MS: Final = 60_000


def main(options: Sequence[str]) -> None:
    """Run a roll-up and a report of two samples, with these options of Java."""
    with tempfile.TemporaryDirectory(prefix="rocketscope-classes-") as folder:
        lake = f"{folder}/lake"
        now_ms = time.time_ns() // 1_000_000
        samples = LandingWriter(lake, run_id="classes")
        samples.append(
            {
                c.CLUSTER: "cluster",
                c.GROUP: "group",
                c.TOPIC: "topic",
                c.BROKER: "broker",
                c.QUEUE_ID: [0, 0],
                c.TIME: [now_ms - 10 * _MINUTE_MS, now_ms - 9 * _MINUTE_MS],
                c.WEIGHT: 60,
                c.MIN: 0,
                c.MAX: [10, 20],
                c.COMMITTED: [5, 10],
                c.EPOCH: 1,
            }
        )
        samples.close(now_ms)
        spark = start_session(SessionSettings(work_dir=Path(folder) / "spark"), options)
        for job in (c.JOB_ROLLUP, c.JOB_REPORT):
            request = JobRequest(
                job=job, lake=lake, output=f"{folder}/{job}", groups=("group",)
            )
            run_job(lambda: spark, request, lambda _part, _phase: None)
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
