"""What it costs a collector to sweep thousands of groups, by stage.

    python -m benchmarks.collecting [--groups 10000] [--clusters 1] [--members 2]

One collector sweeps brokers that a process of its own stands in for (`stand_in`), with
a real Valkey, a real database (SQLite) and a real lake. Each cluster has `--topics`
topics of `--queues` queues; each group consumes two of them. It prints the first sweep,
then the median of `--sweeps` sweeps while a tenth of the topics and groups moves
between sweeps, then while nothing moves; the time goes on by ten seconds between them.
With several clusters all are swept at the same time, as in the collector's worker, and
no stages are told.

"wall" is the clock, "cpu" this process's own time with all its threads; a sweep every
ten seconds takes a tenth of it of one core. The stages are told by processor time:

- asked: requests, answers, waiting; decoded: bodies into tables
- assembled: joined into groups and compared with the last snapshot
- judged: owners, epochs, rates, findings, rows of the list (with the few groups whose
  members are asked in turn)
- topics, list, alerts: these documents made, encoded and sent to the cache
- kept: samples chosen, sent to the lake, epochs to the database
- left: what the next leader continues from, encoded and sent to the cache

The collector searches for garbage between sweeps; that is told by itself.

`--profile LINES` profiles one sweep. Memory is this process's, resident, before the
first sweep, at the end and at its peak.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import os
import pstats
import resource
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.goals import Goal
from benchmarks.stand_in import StandIn, add_shape, shape_of
from benchmarks.usage import PAGE
from dashboard.supervisor.plan import MALLOC
from tests.support.valkey import Valkey

STEP_MS: Final = 10_000
PART: Final = 10
"""One of so many parts of the topics and groups moves between sweeps."""
MB: Final = 1_000_000


class Time:
    """The machine's clock, moved on by ten seconds between sweeps."""

    def __init__(self) -> None:
        self.ahead_ms = 0

    def monotonic(self) -> float:
        """Seconds, for intervals."""
        return time.monotonic() + self.ahead_ms / 1000

    def time_ms(self) -> int:
        """Milliseconds since 1970."""
        return round(time.time() * 1000) + self.ahead_ms

    async def sleep(self, seconds: float) -> None:
        """Sleep on the running loop."""
        await asyncio.sleep(seconds)


@dataclass(slots=True)
class Stages:
    """Processor time by stage; nested stages are taken off the outer ones."""

    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    _inner: list[float] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what is done inside for a stage."""
        began = time.process_time()
        self._inner.append(0.0)
        try:
            yield
        finally:
            took = time.process_time() - began
            self.spent[name] += took - self._inner.pop()
            if self._inner:
                self._inner[-1] += took

    def around(self, owner: Any, function: str, name: str) -> None:
        """Count every call of a function for a stage."""
        plain = getattr(owner, function)
        if asyncio.iscoroutinefunction(plain):

            @wraps(plain)
            async def later(*args: Any, **named: Any) -> Any:
                with self.stage(name):
                    return await plain(*args, **named)

            setattr(owner, function, later)
            return

        @wraps(plain)
        def at_once(*args: Any, **named: Any) -> Any:
            with self.stage(name):
                return plain(*args, **named)

        setattr(owner, function, at_once)


@dataclass(frozen=True, slots=True)
class Sweep:
    """What one sweep took, in seconds."""

    wall: float
    cpu: float
    stages: dict[str, float]


def watch_stages(stages: Stages) -> None:
    """Have the stages of all sweeps counted from now on."""
    from dashboard.collector import keeping, lead
    from dashboard.gateway import connections
    from rmqcore.admin import snapshot, sweep

    stages.around(connections.ClusterConnection, "snapshot", "asked")
    stages.around(sweep, "decode_offset_tables", "decoded")
    stages.around(sweep, "decode_topic_listing", "decoded")
    stages.around(sweep, "decode_group_listing", "decoded")
    stages.around(snapshot, "assemble", "assembled")
    stages.around(lead.Lead, "apply", "judged")
    stages.around(lead.Lead, "publish_topics", "topics")
    stages.around(lead.Lead, "publish_overview", "list")
    stages.around(lead.Lead, "settle_alerts", "alerts")
    stages.around(lead.Lead, "take_samples", "kept")
    stages.around(keeping.Keeper, "keep", "kept")
    stages.around(lead.Lead, "publish_memory", "left")


class NoLayer:
    """Nobody listens."""

    async def group_send(self, *_what: object) -> None:
        """Drop a message."""


def collectors(
    addresses: list[str], client: Any, clock: Time, lake: str
) -> list[tuple[Any, Any]]:
    """Return a collector and its connection for each cluster."""
    from dashboard.collector.cluster_collector import ClusterCollector
    from dashboard.collector.keeping import Keeper
    from dashboard.gateway.connections import ClusterConnection
    from dashboard.gateway.settings import ClusterSettings
    from dashboard.models import Cluster

    made = []
    for number, address in enumerate(addresses):
        name = f"cluster-{number}"
        row = Cluster.objects.create(name=name)
        connection = ClusterConnection(ClusterSettings(name, (address,)), clock)
        collector = ClusterCollector(
            name,
            connection,
            client=client,
            layer=NoLayer(),
            keeper=Keeper(name, row.pk, lake, "benchmark"),
            holder="benchmark",
            wanted_strategies=dict,
            now_ms=clock.time_ms,
            chance=Random(1),
            wake_sender=lambda: None,
        )
        made.append((collector, connection))
    return made


async def measure(options: argparse.Namespace, valkey: Valkey, lake: str) -> None:
    """Sweep and print what it took."""
    from dashboard.collector.lease import Renewals
    from dashboard.live.state import make_async_client

    stand_in = StandIn(**shape_of(options))
    clock, stages = Time(), Stages()
    if options.clusters == 1:  # those of several would be counted for each other
        watch_stages(stages)
    client = make_async_client(valkey.url)
    made = collectors(stand_in.addresses, client, clock, lake)
    leases = [collector.lease for collector, _ in made]
    renewals = Renewals(valkey.url, leases, alive=lambda: True)
    renewals.start()
    before = resident_bytes()

    async def once(parts: int | None) -> Sweep:
        if parts is not None:
            await asyncio.to_thread(stand_in.move, parts)
        clock.ahead_ms += STEP_MS
        stages.spent.clear()
        wall, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(collector.sweep_all() for collector, _ in made))
        return Sweep(
            time.perf_counter() - wall,
            time.process_time() - cpu,
            defaultdict(float, stages.spent),
        )

    try:
        show("first", [await once(None)])
        await repeated(once, PART, 2)
        moving = show("a tenth moves", await repeated(once, PART, options.sweeps))
        if options.profile:
            await profiled(lambda: once(PART), options.profile)
        show("nothing moves", await repeated(once, 0, options.sweeps))
        for collector, _ in made:
            figures = collector.figures
            print(
                f"{collector.cluster}: groups {figures.groups:,}, "
                f"sweeps {figures.sweeps}, failed {figures.failed}, "
                f"refused {figures.refused}, faults {figures.faults}"
            )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        now = resident_bytes()
        print(
            f"memory: {before / MB:.0f} MB before, {now / MB:.0f} MB now, "
            f"{peak / MB:.0f} MB at the peak"
        )
        groups = options.groups * options.clusters
        print(Goal(f"sweep of {groups:,} groups", 1, "s").line(moving[0]))
        of_core = Goal(f"collecting {groups:,} groups each 10 s, of a core", 10, "%")
        print(of_core.line(moving[1] * 100_000 / STEP_MS))
        print(Goal(f"collector of {groups:,} groups, memory", 300, "MB").line(now / MB))
        await search_garbage(once, options.sweeps)
    finally:
        renewals.stop()
        for collector, connection in made:
            await collector.close()
            await connection.close()
        await client.aclose()
        stand_in.end()


async def search_garbage(once: Callable[[int], Awaitable[Sweep]], sweeps: int) -> None:
    """Print what it takes to search for garbage, at first and some sweeps later."""
    from dashboard.collector.garbage import GarbageSearch
    from dashboard.collector.service import GARBAGE_SWEEPS

    garbage, took = GarbageSearch(), []
    for before in (0, sweeps):
        await repeated(once, PART, before)
        began = time.process_time()
        garbage.search(frozenset())
        took.append(time.process_time() - began)
    print(
        f"garbage is searched for every {GARBAGE_SWEEPS} sweeps: cpu {took[0]:.2f} s "
        f"for everything, {took[1]:.2f} s {sweeps} sweeps later"
    )


def resident_bytes() -> int:
    """Return the resident memory of this process alone."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


async def repeated(
    once: Callable[[int], Awaitable[Sweep]], parts: int, times: int
) -> list[Sweep]:
    """Return several sweeps with the same movement."""
    return [await once(parts) for _ in range(times)]


async def profiled(work: Callable[[], Awaitable[object]], lines: int) -> None:
    """Print the functions that take longest."""
    profile = cProfile.Profile()
    profile.enable()
    await work()
    profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(lines)


def show(what: str, sweeps: list[Sweep]) -> tuple[float, float]:
    """Print the medians of some sweeps; return the clock's and the processor's."""
    wall = statistics.median(each.wall for each in sweeps)
    cpu = statistics.median(each.cpu for each in sweeps)
    print(
        f"{what:14} wall {wall:6.2f} s  cpu {cpu:6.2f} s "
        f"({cpu * 100_000 / STEP_MS:.1f} % of a core)"
    )
    names = list(dict.fromkeys(name for each in sweeps for name in each.stages))
    shares = {
        name: statistics.median(each.stages[name] for each in sweeps) for name in names
    }
    if shares:
        shares["rest"] = cpu - sum(shares.values())
        told = [f"{name} {spent:.2f}" for name, spent in shares.items()]
        print(f"{'':14} {', '.join(told)}", flush=True)
    return wall, cpu


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_shape(parser)
    parser.add_argument("--sweeps", type=int, default=5)
    parser.add_argument("--profile", type=int, default=0, help="lines of a profile")
    options = parser.parse_args()
    if not MALLOC.items() <= os.environ.items():
        # Read when a process starts; `up` starts the collector with them.
        again = [sys.executable, "-m", "benchmarks.collecting", *sys.argv[1:]]
        os.execve(sys.executable, again, {**os.environ, **MALLOC})
    with tempfile.TemporaryDirectory(prefix="rocketscope-collecting-") as directory:
        folder = Path(directory)
        valkey = Valkey(folder)
        valkey.start()
        os.environ["DJANGO_SETTINGS_MODULE"] = "dashboard.config.settings"
        os.environ["ROCKETSCOPE_VAR_DIR"] = directory
        os.environ["ROCKETSCOPE_DATABASE_URL"] = ""
        os.environ["ROCKETSCOPE_REDIS_URL"] = valkey.url
        try:
            prepare()
            asyncio.run(measure(options, valkey, str(folder / "lake")))
        finally:
            valkey.kill()


def prepare() -> None:
    """Make the database, and set the process up as the collector's worker is."""
    import django
    from django.core.management import call_command

    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    django.setup()
    call_command("migrate", verbosity=0)
    from dashboard.collector.garbage import GarbageSearch

    GarbageSearch().begin()


if __name__ == "__main__":
    main()
