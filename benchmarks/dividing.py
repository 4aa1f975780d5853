"""What several collectors take for large clusters that they divide among themselves.

    python -m benchmarks.dividing [--collectors 2] [--clusters 5] [--groups 10000]

The collectors are processes as they are deployed, over brokers that a process of its
own stands in for (`stand_in`), with a real Valkey, a real database (SQLite) and a real
lake. Nothing gives them ticks: they sweep by their own clocks, every ten seconds, while
a tenth of the topics and groups moves between sweeps.

It waits until the clusters are divided evenly, and prints for `--seconds` how long the
sweeps of all clusters took, how many were left out because the one before had not
ended, and what each process took of a core and of memory. With several collectors it
then kills one, starts it again, and freezes one, and prints for how long a cluster had
no new list of groups.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.goals import Goal
from benchmarks.stand_in import StandIn, add_shape, shape_of
from benchmarks.usage import processor_seconds, resident_bytes
from tests.support.collector_workers import CollectorWorkers, Head

MB: Final = 1_000_000
PART: Final = 10
STEP_S: Final = 10.0
LOOK_EVERY_S: Final = 0.2
PATIENCE_S: Final = 600.0


class Watched:
    """What the workers publish while brokers move every ten seconds."""

    def __init__(self, workers: CollectorWorkers, brokers: StandIn) -> None:
        self.workers = workers
        self._brokers = brokers
        self._moved = time.monotonic()
        self._heads: dict[str, tuple[Head, float]] = {}
        self.begin()

    def begin(self) -> None:
        """Forget what was seen of sweeps and waits."""
        self.longest_s: dict[str, float] = defaultdict(float)
        """For how long each cluster had no new list, at most."""
        self.sweeps_ms: dict[tuple[str, str, int], int] = {}
        """What each sweep took, by worker, cluster and number."""

    def look(self) -> None:
        """Let brokers move if it is time, and take what is published."""
        now = time.monotonic()
        if now - self._moved > STEP_S:
            self._moved = now
            self._brokers.move(PART)
        for cluster, head in self.workers.heads().items():
            known, since = self._heads.get(cluster, (head, now))
            waited = now - since
            self.longest_s[cluster] = max(self.longest_s[cluster], round(waited, 1))
            if known != head or cluster not in self._heads:
                self._heads[cluster] = head, now
        for worker, figures in self.workers.figures().items():
            for cluster, told in figures.items():
                if told["leading"] and told["sweep_ms"]:
                    sweep = worker, cluster, told["sweeps"]
                    self.sweeps_ms[sweep] = told["sweep_ms"]

    def until(self, holds: Callable[[], bool]) -> float:
        """Look until something holds; return how long that took, in seconds."""
        began = time.monotonic()
        while not holds():
            if time.monotonic() - began > PATIENCE_S:
                raise SystemExit(f"not within {PATIENCE_S} s: {self.workers.shares()}")
            self.look()
            time.sleep(LOOK_EVERY_S)
        return time.monotonic() - began

    def until_divided(self, names: list[str]) -> float:
        """Wait until these workers lead all clusters, each its share."""
        fair, more = divmod(len(self.workers.clusters), len(names))
        shares = sorted(fair + (n < more) for n in range(len(names)))
        return self.until(
            lambda: (
                self.workers.shares().keys() == set(names)
                and sorted(self.workers.shares().values()) == shares
            )
        )

    def wait(self, seconds: float) -> None:
        """Look for some time."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)


def measure(options: argparse.Namespace, folder: Path) -> None:
    """Run the workers and print what they took."""
    brokers = StandIn(**shape_of(options))
    names = [f"collector-{n}" for n in range(1, options.collectors + 1)]
    clusters = {f"c{n}": address for n, address in enumerate(brokers.addresses)}
    try:
        with CollectorWorkers(folder, clusters) as workers:
            watched = Watched(workers, brokers)
            for name in names:
                workers.start(name)
            print(f"divided after {watched.until_divided(names):.1f} s", flush=True)
            watched.wait(2 * STEP_S)
            at_rest(options, watched)
            if len(names) > 1:
                *others, last = names
                without("killed", signal.SIGKILL, watched, last, others)
                workers.start(last)
                again(watched, names)
                without("frozen", signal.SIGSTOP, watched, last, others)
                workers.signal(last, signal.SIGCONT)
                again(watched, names)
    finally:
        brokers.end()


def at_rest(options: argparse.Namespace, watched: Watched) -> None:
    """Print what sweeps take while every collector lives."""
    workers = watched.workers
    pids = {name: process.pid for name, process in workers.processes.items()}
    before = {name: sum(processor_seconds(pid).values()) for name, pid in pids.items()}
    skipped = workers.skipped()
    watched.begin()
    watched.wait(options.seconds)
    for name, pid in pids.items():
        used = sum(processor_seconds(pid).values()) - before[name]
        print(
            f"{name}: leads {workers.shares()[name]}, "
            f"{100 * used / options.seconds:.0f} % of a core, "
            f"{resident_bytes(pid) / MB:.0f} MB"
        )
    took = [each / 1000 for each in watched.sweeps_ms.values()]
    print(
        f"sweeps of a cluster: {len(took)}, median {statistics.median(took):.1f} s, "
        f"longest {max(took):.1f} s; {workers.skipped() - skipped} were left out"
    )
    print(f"longest without a new list, seconds: {dict(watched.longest_s)}", flush=True)
    groups = options.groups * options.clusters
    what = f"{groups:,} groups, {options.collectors} collectors, longest sweep"
    print(Goal(what, STEP_S, "s").line(max(took)), flush=True)


def without(
    what: str,
    number: signal.Signals,
    watched: Watched,
    last: str,
    others: list[str],
) -> None:
    """Take a collector away and print for how long clusters had no new list."""
    workers = watched.workers
    lost = [each for each, name in workers.leaders().items() if name == last]
    watched.begin()
    workers.signal(last, number)
    took = watched.until_divided(others)
    watched.wait(2 * STEP_S)
    longest = max(watched.longest_s[each] for each in lost)
    print(
        f"{last} is {what}: its {len(lost)} clusters are led after {took:.1f} s, "
        f"without a new list for {longest:.1f} s at most",
        flush=True,
    )


def again(watched: Watched, names: list[str]) -> None:
    """Wait until all live again, and print how long clusters had no new list."""
    watched.begin()
    took = watched.until_divided(names)
    watched.wait(2 * STEP_S)
    print(
        f"it is back: divided after {took:.1f} s, "
        f"without a new list for {max(watched.longest_s.values()):.1f} s at most",
        flush=True,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collectors", type=int, default=2)
    add_shape(parser, clusters=5)
    parser.add_argument("--seconds", type=float, default=60.0)
    with tempfile.TemporaryDirectory(prefix="rocketscope-dividing-") as directory:
        measure(parser.parse_args(), Path(directory))


if __name__ == "__main__":
    main()
