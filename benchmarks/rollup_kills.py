"""Kill the roll-up job, its worker and the writer at random; compare in the end.

python -m benchmarks.rollup_kills [--kills 20] [--seed 1]

A writer lands minutes as fast as it can; a worker, as the Celery worker does, keeps an
analytics process, runs roll-ups one after another and keeps the lake in order between
them: merges files, and deletes what the stream has read. One of the three is killed
with SIGKILL, and started again: two kills in three once a roll-up has begun to read,
the others whenever it happens, so that starts and pauses are hit, too. In the end the
ladder must equal what all samples give when they are summed at once, and every minute
that the writer reported must be whole.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c
from analytics.lake.compaction import absorb, compact
from analytics.lake.ladder import FAMILIES, dataset_of, view_from
from analytics.lake.manifest import load_manifest
from analytics.lake.reader import read_file, read_table
from analytics.lake.retention import sweep
from analytics.lake.storage import open_storage
from analytics.lake.streamed import unread_files
from analytics.lake.writer import LandingWriter
from analytics.requests import JobRequest
from analytics.transforms.parts import SCHEMAS, merged_table, rolled_up
from dashboard.jobs.child import AnalyticsChild, ChildEndedError, child_environment

START_MS: Final = 1_773_360_000_000
MINUTE_MS: Final = 60_000
GROUPS: Final = 50
QUEUE_COUNT: Final = 8
SWEEPS: Final = 6
MINUTE_SECONDS: Final = 2.0
"""How long the writer takes for what stands for a minute."""
WHILE_AT_WORK: Final = 2 / 3
LONGEST_PAUSE: Final = 10.0
GRACE_MS: Final = 30_000
"""How long files stay after they were merged."""
AT_WORK: Final = ("samples", "rollup_")
"""Phases in which a roll-up writes."""
MOST_SECONDS: Final = 900
"""Longer than this the worker is not waited for."""


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
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rollup-kills-") as name:
        lake = Path(name)
        writer, worker = Writer(lake), Worker(lake)
        for number in range(1, kills + 1):
            victim = chance.choice(["job", "worker", "writer"])
            if chance.random() < WHILE_AT_WORK:
                worker.wait_for_work()
            time.sleep(chance.uniform(0.0, LONGEST_PAUSE))
            pid = _kill(victim, writer, worker)
            for each in (writer, worker):
                each.read()
            print(
                f"kill {number:2}: {victim:6} pid {pid}; {len(writer.reported)} "
                f"minutes written, {worker.runs} runs done, {worker.failed} failed",
                flush=True,
            )
        writer.stop()
        worker.finish()
        _check(lake, writer.reported)
    print(f"{kills} kills in {time.monotonic() - began:.0f} s")


def _kill(victim: str, writer: Writer, worker: Worker) -> int:
    if victim == "writer":
        return writer.kill()
    return worker.kill() if victim == "worker" else worker.kill_job()


class Process:
    """A process of this module that tells what it did in lines of JSON."""

    def __init__(self, lake: Path) -> None:
        self._lake = lake
        self._rest = b""
        self._start()

    def kill(self) -> int:
        """Kill it, and start the next one; return the pid of the former."""
        pid = self._process.pid
        self.stop()
        self._start()
        return pid

    def stop(self) -> None:
        """Kill it, and take what it had told."""
        self._process.kill()
        self._process.wait()
        self.read()

    def read(self) -> None:
        """Take what it has told so far, without waiting for more."""
        assert self._process.stdout is not None
        self._rest += self._process.stdout.read() or b""
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            self.take(json.loads(line))

    def take(self, told: dict[str, Any]) -> None:
        """Note one line."""
        raise NotImplementedError

    def arguments(self) -> list[str]:
        """Return what tells the process which of them it is."""
        raise NotImplementedError

    def _start(self) -> None:
        command = [sys.executable, "-m", "benchmarks.rollup_kills"]
        command += ["--lake", str(self._lake), *self.arguments()]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self._rest = b""


class Writer(Process):
    """Lands samples; `reported` has the rows of each minute that it said is written."""

    def __init__(self, lake: Path) -> None:
        self._next = 0
        self.reported: dict[int, int] = {}
        super().__init__(lake)

    def stop(self) -> None:
        super().stop()
        # What it was at may be written: a collector, too, goes on from now.
        self._next += 2

    def take(self, told: dict[str, Any]) -> None:
        self.reported[told["minute"]] = told["rows"]
        self._next = told["minute"] + 1

    def arguments(self) -> list[str]:
        return ["--write", str(self._next)]


class Worker(Process):
    """Runs roll-ups, and says with which analytics process."""

    def __init__(self, lake: Path) -> None:
        self.runs = 0
        self.failed = 0
        self._job: int | None = None
        self._phase = ""
        super().__init__(lake)

    def kill(self) -> int:
        pid = super().kill()
        self._job, self._phase = None, ""
        return pid

    def kill_job(self) -> int:
        """Kill the analytics process, once there is one."""
        deadline = time.monotonic() + MOST_SECONDS
        while True:
            self.read()
            if self._job is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._job, signal.SIGKILL)
                    pid, self._job = self._job, None
                    return pid
                self._job = None
            self._wait(deadline)

    def wait_for_work(self) -> None:
        """Wait until a roll-up reads samples, or carries."""
        self._phase = ""
        deadline = time.monotonic() + MOST_SECONDS
        while not self._phase.startswith(AT_WORK):
            self._wait(deadline)
            self.read()

    def finish(self) -> None:
        """Wait for two whole runs, the second of which begins after now."""
        self.read()
        wanted = self.runs + 2
        deadline = time.monotonic() + MOST_SECONDS
        while self.runs < wanted:
            self._wait(deadline)
            self.read()
        self.stop()

    def take(self, told: dict[str, Any]) -> None:
        self._job = told["pid"]
        self._phase = told.get("phase", "")
        self.runs += told["event"] == "done"
        if told["event"] == "failed":
            self.failed += 1
            print(f"  a run failed: {told['error'][:150]}", flush=True)

    def arguments(self) -> list[str]:
        return ["--work"]

    def _wait(self, deadline: float) -> None:
        if self._process.poll() is not None:
            raise SystemExit(f"the worker ended: exit code {self._process.returncode}")
        if time.monotonic() > deadline:
            raise SystemExit(f"the worker has done nothing for {MOST_SECONDS} s")
        time.sleep(0.2)


def _write(lake: Path, minute: int) -> None:
    rng = np.random.default_rng(minute)
    writer = LandingWriter(str(lake), run_id=f"run{minute}p{os.getpid()}")
    count = GROUPS * QUEUE_COUNT
    names = [f"group-{at // QUEUE_COUNT:03d}" for at in range(count)]
    while True:
        for turn in range(SWEEPS):
            now = START_MS + minute * MINUTE_MS + turn * MINUTE_MS // SWEEPS
            top = minute * 600 + turn * 100 + rng.integers(0, 50, count)
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
        if report.error:
            raise SystemExit(report.error)
        line = {"rows": report.written_rows, "minute": minute}
        print(json.dumps(line), flush=True)
        minute += 1


def _work(lake: Path) -> None:
    child = AnalyticsChild(child_environment() | {"ROCKETSCOPE_VAR_DIR": f"{lake}/var"})
    request = JobRequest(c.JOB_ROLLUP, str(lake), str(lake / "out"))
    for number in itertools.count():
        try:
            for event in child.run(str(number), request):
                if event is not None:
                    print(json.dumps({**event, "pid": child.pid}), flush=True)
        except ChildEndedError as error:
            event = {"event": "failed", "error": str(error), "pid": None}
            print(json.dumps(event), flush=True)
        _maintain(lake)


def _maintain(lake: Path) -> None:
    storage = open_storage(str(lake))
    now_ms = int(time.time() * 1000)
    absorb(storage, c.SAMPLES)
    compact(storage, c.SAMPLES, now_ms)
    unread = unread_files(storage, c.SAMPLES)
    sweep(storage, c.SAMPLES, now_ms, grace_ms=GRACE_MS, still_streamed=unread)


def _check(lake: Path, reported: Mapping[int, int]) -> None:
    storage = open_storage(str(lake))
    absorb(storage, c.SAMPLES)
    manifest = load_manifest(storage, c.SAMPLES)
    samples = read_table(storage, c.SAMPLES)
    since = pc.subtract(samples[c.TIME].cast(pa.int64()), START_MS)
    counted = pc.value_counts(pc.divide(since, MINUTE_MS)).to_pylist()
    written = {each["values"]: each["counts"] for each in counted}
    lost = [each for each, rows in reported.items() if written.get(each) != rows]
    if lost:
        raise SystemExit(f"minutes that were reported written are not whole: {lost}")
    scratch = rolled_up(samples, c.ROLLUP_LEVELS[0] * 1000)
    for level in c.ROLLUP_LEVELS:
        for family in FAMILIES:
            rows = [
                read_file(storage, dataset_of(family, level), file.path)
                for file in view_from(storage, family, level).files
            ]
            listed = pa.concat_tables([SCHEMAS[family].empty_table(), *rows])
            found, wanted = (
                Counter(map(repr, merged_table(family, each, level * 1000).to_pylist()))
                for each in (listed, scratch[family])
            )
            apart = ((found - wanted) + (wanted - found)).total()
            print(f"{family} {level:5} s: {found.total():7,} rows, {apart} differ")
            if apart:
                raise SystemExit("the roll-ups differ from a recomputation")
    print(
        f"{len(written)} minutes, {manifest.rows:,} samples in {len(manifest.files)} "
        "files: nothing lost, nothing twice"
    )


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
