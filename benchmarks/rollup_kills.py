"""Kill the roll-up job, its worker and the writer at random; compare in the end.

python -m benchmarks.rollup_kills [--kills 20] [--seed 1]

A writer lands minutes as fast as it can; a worker, as the Celery worker does, keeps an
analytics process and runs roll-ups one after another. One of the three is killed with
SIGKILL after a random time, and started again. In the end the ladder must equal what
all samples give at once, and every file that the writer reported must be whole.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from analytics import contracts as c
from analytics.lake.compaction import absorb
from analytics.lake.ladder import PEAKS, QUEUES, rung_files
from analytics.lake.manifest import load_manifest
from analytics.lake.storage import open_storage
from analytics.lake.writer import LandingWriter
from analytics.requests import JobRequest
from dashboard.jobs.child import AnalyticsChild, ChildEndedError, child_environment

START_MS: Final = 1_773_360_000_000
MINUTE_MS: Final = 60_000
GROUPS: Final = 50
QUEUE_COUNT: Final = 8
SWEEPS: Final = 6
MINUTE_SECONDS: Final = 2.0
"""How long the writer takes for what stands for a minute."""


def main() -> None:
    """Run the campaign, or one of its processes."""
    given = _arguments()
    if given.write is not None:
        _write(given.lake, given.write)
    elif given.work:
        _work(given.lake)
    else:
        _campaign(given.kills, given.seed)


def _campaign(kills: int, seed: int) -> None:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="rollup-kills-") as name:
        lake = Path(name)
        writer, worker = Writer(lake), Worker(lake)
        for number in range(1, kills + 1):
            victim = chance.choice(["job", "worker", "writer"])
            time.sleep(chance.uniform(0.5, 25.0))
            pid = _kill(victim, writer, worker)
            print(
                f"kill {number:2}: {victim:6} pid {pid}; "
                f"{writer.minutes} minutes written, {worker.runs} runs done",
                flush=True,
            )
        writer.stop()
        worker.finish()
        _check(lake, writer)


def _kill(victim: str, writer: Writer, worker: Worker) -> int | None:
    if victim == "writer":
        return writer.kill()
    return worker.kill() if victim == "worker" else worker.kill_job()


class Writer:
    """The process that lands samples, and what it reported as written."""

    def __init__(self, lake: Path) -> None:
        self._lake = lake
        self._next = 0
        self.reported: dict[str, int] = {}
        self._start()

    @property
    def minutes(self) -> int:
        self._read()
        return len(self.reported)

    def kill(self) -> int:
        pid = self._process.pid
        self.stop()
        self._next += 2  # what it was at may be written: a collector goes on from now
        self._start()
        return pid

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._read()

    def _start(self) -> None:
        self._process = _spawn(self._lake, "--write", str(self._next))
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self._rest = b""

    def _read(self) -> None:
        assert self._process.stdout is not None
        self._rest += self._process.stdout.read() or b""
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            report = json.loads(line)
            self.reported[report["file"]] = report["rows"]
            self._next = report["minute"] + 1


class Worker:
    """The process that runs roll-ups; says so with the pid of the analytics process."""

    def __init__(self, lake: Path) -> None:
        self._lake = lake
        self.runs = 0
        self._job: int | None = None
        self._start()

    def kill(self) -> int:
        pid = self._process.pid
        self._process.kill()
        self._process.wait()
        self._start()
        return pid

    def kill_job(self) -> int | None:
        self._read()
        if self._job is not None:
            try:
                os.kill(self._job, signal.SIGKILL)
            except ProcessLookupError:
                return None
        return self._job

    def finish(self) -> None:
        """Wait for two whole runs, the second of which finds nothing new."""
        wanted = self.runs + 2
        deadline = time.monotonic() + 1800
        while self.runs < wanted:
            if time.monotonic() > deadline:
                raise SystemExit("the worker does not finish its runs")
            time.sleep(1)
            self._read()
        self._process.kill()
        self._process.wait()

    def _start(self) -> None:
        self._process = _spawn(self._lake, "--work")
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self._rest = b""

    def _read(self) -> None:
        assert self._process.stdout is not None
        self._rest += self._process.stdout.read() or b""
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            event = json.loads(line)
            self._job = event["pid"]
            self.runs += event["event"] == "done"
            if event["event"] == "failed":
                print(f"  a run failed: {event['error'][:150]}", flush=True)


def _spawn(lake: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.rollup_kills", "--lake", str(lake)]
    return subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE)


def _write(lake: Path, minute: int) -> None:
    rng = np.random.default_rng(minute)
    writer = LandingWriter(str(lake), run_id=f"run{minute}p{os.getpid()}")
    count = GROUPS * QUEUE_COUNT
    names = [f"group-{at // QUEUE_COUNT:03d}" for at in range(count)]
    while True:
        for sweep in range(SWEEPS):
            now = START_MS + minute * MINUTE_MS + sweep * MINUTE_MS // SWEEPS
            top = minute * 600 + sweep * 100 + rng.integers(0, 50, count)
            writer.append(
                {
                    c.CLUSTER: "killed",
                    c.GROUP: names,
                    c.TOPIC: names,
                    c.BROKER: "broker-a",
                    c.QUEUE_ID: [at % QUEUE_COUNT for at in range(count)],
                    c.TIME: now,
                    c.WEIGHT: 10.0,
                    c.MAX: top,
                    c.COMMITTED: top - rng.integers(0, 500, count).clip(0, top),
                    c.LAG_MS: rng.integers(0, 60_000, count),
                    c.EPOCH: 1 + minute // 30,
                }
            )
            time.sleep(MINUTE_SECONDS / SWEEPS)
        report = writer.flush(START_MS + (minute + 1) * MINUTE_MS)
        for file in report.files:
            line = {"file": file, "rows": report.written_rows, "minute": minute}
            print(json.dumps(line), flush=True)
        minute += 1


def _work(lake: Path) -> None:
    child = AnalyticsChild(child_environment() | {"ROCKETSCOPE_VAR_DIR": f"{lake}/var"})
    request = JobRequest(c.JOB_ROLLUP, str(lake), str(lake / "out"))
    number = 0
    while True:
        number += 1
        try:
            for event in child.run(str(number), request):
                if event is not None:
                    print(json.dumps({**event, "pid": child.pid}), flush=True)
        except ChildEndedError as error:
            event = {"event": "failed", "error": str(error), "pid": None}
            print(json.dumps(event), flush=True)


def _check(lake: Path, writer: Writer) -> None:
    from analytics.rollup import frame_of
    from analytics.session import SessionSettings, start_session
    from analytics.transforms.parts import (
        merged_parts,
        merged_peaks,
        parts_of,
        peaks_of,
    )

    storage = open_storage(str(lake))
    absorb(storage, c.SAMPLES)
    manifest = load_manifest(storage, c.SAMPLES)
    rows = {file.path: file.rows for file in manifest.files}
    lost = {file for file, count in writer.reported.items() if rows.get(file) != count}
    if lost:
        raise SystemExit(f"files that were reported written are not whole: {lost}")
    spark = start_session(SessionSettings(lake / "spark"))
    samples = spark.read.parquet(*(storage.uri(path) for path in rows))
    families: list[tuple[str, Any, Any]] = [
        (QUEUES, merged_parts, parts_of),
        (PEAKS, merged_peaks, peaks_of),
    ]
    for level in c.ROLLUP_LEVELS:
        for family, merged, scratch in families:
            files = rung_files(storage, family, level)
            found = merged(frame_of(spark, storage, family, files), level * 1000)
            wanted = scratch(samples, level * 1000).select(*found.columns)
            apart = found.exceptAll(wanted).count() + wanted.exceptAll(found).count()
            print(f"{family} {level:5} s: {found.count():7,} rows, {apart} differ")
            if apart:
                raise SystemExit("the roll-ups differ from a recomputation")
    print(f"{len(rows)} files, {manifest.rows:,} samples: nothing lost, nothing twice")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kill roll-ups at random.")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lake", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--write", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
