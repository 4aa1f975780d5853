"""How long the demo takes to start, what memory it takes, and how long a first report.

    python -m benchmarks.startup [--times 3] [--report] [--command ./rocketscope up]

Each start is in an empty directory, as `./rocketscope up` in an installed clone: the
first answer is that of `/healthz`; data is live when the document of the overview shows
members of each of the demo's groups. "cpu" is what the processors spent on all its
processes until then, which on a busy machine says more than the clock. Memory is read
20 seconds later: PSS counts a page that n processes share as 1/n in each of them, so
that the sum is what the demo takes of the machine; RSS counts it n times.

With `--report` a report of one group and one hour is then asked for, as a page does,
until its chart can be drawn: cold (no Java runs), and warm, with the time spent in each
phase that the page shows.

Goals are for two idle cores: 5 s to the first answer, 7 s to live data, 400 MB without
Java; a report 10 s cold, 2 s warm.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.goals import Goal
from benchmarks.session import Session
from benchmarks.usage import family, process_name, processor_seconds
from tests.support.ports import free_port

ANSWER: Final = Goal("start: first answer", 5, "s")
LIVE: Final = Goal("start: live data", 7, "s")
MEMORY: Final = Goal("start: memory without Java, PSS", 400, "MB")
COLD: Final = Goal("first report, cold", 10, "s")
WARM: Final = Goal("report of one group and one hour, warm", 2, "s")
_PATIENCE_S: Final = 300.0
_POLL_S: Final = 0.02
_SETTLED_S: Final = 20.0
_CLUSTER: Final = "embedded"
_GROUP: Final = "demo-consumers"
_GROUPS: Final = frozenset({_GROUP, "demo-slow", "demo-orderly"})
_ENDED: Final = frozenset({"done", "failed", "cancelled"})
_ROOT: Final = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Memory:
    """What one process takes, in MB."""

    name: str
    pss: float
    rss: float


class Demo:
    """One start, and the clock since it began."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.address = f"http://127.0.0.1:{free_port()}"
        listen = self.address.partition("//")[2]
        self._output = folder / "output"
        self._folder = folder
        self._began = time.perf_counter()
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                [*command, "--listen", listen, "--var-dir", str(folder / "var")],
                cwd=_ROOT,
                env={
                    **os.environ,
                    "ROCKETSCOPE_CLUSTERS": "",
                    "ROCKETSCOPE_REDIS_URL": "",
                },
                stdout=output,
                stderr=output,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def until(self, what: str, is_so: Any) -> tuple[float, float]:
        """Wait; return the seconds since the start, and those of processors."""
        deadline = self._began + _PATIENCE_S
        while not is_so():
            if time.perf_counter() > deadline or self._process.poll() is not None:
                raise SystemExit(f"{what}: not in time\n{self._output.read_text()}")
            time.sleep(_POLL_S)
        took = time.perf_counter() - self._began
        return took, sum(processor_seconds(self.pid).values())

    def answers(self) -> bool:
        """Tell whether the page answers."""
        with (
            suppress(OSError),
            urllib.request.urlopen(f"{self.address}/healthz", timeout=5) as answer,
        ):
            return bool(answer.status == 200)
        return False

    def link(self) -> str:
        """Return the link that was printed, empty before."""
        for line in self._output.read_text("utf-8").splitlines():
            if line.startswith(f"{self.address}/sign-in/"):
                return line
        return ""

    def has_samples(self) -> bool:
        """Tell whether there is something to report about."""
        return any((self._folder / "var/lake/landing/samples").rglob("*.parquet"))

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(60)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--report", action="store_true", help="measure a report, too")
    parser.add_argument(
        "--command",
        default=f"{sys.executable} -m dashboard up",
        help="what starts the demo",
    )
    given = parser.parse_args()
    for number in range(1, given.times + 1):
        with started(shlex.split(given.command)) as demo:
            print(f"start {number} of {given.times}")
            _tell("first answer", demo.until("no answer", demo.answers), ANSWER)
            _tell("sign-in link", demo.until("no link", demo.link))
            session = Session(demo.address)
            session.sign_in(demo.link())
            live = demo.until("no live data", partial(_is_live, session))
            _tell("live data", live, LIVE)
            time.sleep(_SETTLED_S)
            _tell_memory(demo.pid)
            if given.report:
                demo.until("no samples", demo.has_samples)
                _report(session, "report, cold", COLD)
                _report(session, "report, warm once")
                _report(session, "report, warm", WARM)


@contextmanager
def started(command: Sequence[str]) -> Iterator[Demo]:
    """Run a demo in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="rocketscope-startup-") as folder:
        demo = Demo(command, Path(folder))
        try:
            yield demo
        finally:
            demo.stop()


def memory_of(pid: int) -> list[Memory]:
    """Return the memory of a process and its descendants."""
    found = []
    for each in family(pid):
        with suppress(OSError):
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()[1:]
            kb = {line.split(":")[0]: int(line.split()[1]) for line in lines}
            found.append(Memory(process_name(each), kb["Pss"] / 1e3, kb["Rss"] / 1e3))
    return found


def _is_live(session: Session) -> bool:
    status, body = session.get(f"/api/v1/clusters/{_CLUSTER}/overview")
    if status != 200:
        return False
    groups = {row["group"]: row for row in json.loads(body)["groups"]}
    return all(groups.get(name, {}).get("members") for name in _GROUPS)


def _report(session: Session, what: str, goal: Goal | None = None) -> None:
    now = datetime.now(UTC)
    wish = {
        "cluster": _CLUSTER,
        "group": _GROUP,
        "since": (now - timedelta(hours=1)).isoformat(),
        "until": now.isoformat(),
    }
    began = phase_began = time.perf_counter()
    status, body = session.post("/api/v1/reports/runs", wish)
    if status != 202:
        raise SystemExit(f"no report: {status} {body!r}")
    run = json.loads(body)
    phase, phases = "asked", []
    while run["state"] not in _ENDED:
        time.sleep(_POLL_S)
        run = json.loads(session.get(f"/api/v1/reports/runs/{run['id']}")[1])
        now_in = run["phase"] or run["state"]
        if now_in != phase:
            moment = time.perf_counter()
            phases.append(f"{phase} {moment - phase_began:.1f}")
            phase, phase_began = now_in, moment
    done = time.perf_counter()
    status, _page = session.get(f"/reports/{run['id']}/")
    took = time.perf_counter() - began
    phases.append(f"page {took - (done - began):.1f}")
    print(f"  {what:18} {took:6.1f} s   {run['state']} {status}")
    print(f"    {', '.join(phases)}", flush=True)
    if goal:
        print(goal.line(took), flush=True)


def _tell(what: str, took: tuple[float, float], goal: Goal | None = None) -> None:
    clock, cpu = took
    print(f"  {what:18} {clock:6.1f} s   cpu {cpu:.1f} s", flush=True)
    if goal:
        print(goal.line(clock), flush=True)


def _tell_memory(pid: int) -> None:
    found = memory_of(pid)
    for each in sorted(found, key=lambda each: -each.pss):
        print(f"    {each.name:18} {each.pss:6.0f} MB PSS {each.rss:6.0f} MB RSS")
    pss, rss = sum(each.pss for each in found), sum(each.rss for each in found)
    print(f"  memory             {pss:6.0f} MB PSS {rss:6.0f} MB RSS")
    print(MEMORY.line(pss), flush=True)


if __name__ == "__main__":
    main()
