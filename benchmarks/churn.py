"""A group whose members come and go: how long queues have two owners, or none.

    python -m benchmarks.churn [--members 50] [--queues 512] [--seconds 120] [--java]

Members join and leave by a schedule made from `--seed`, in bursts; after each burst
nobody joins or leaves until every queue has exactly the owner that the division gives
it, which is what is meant by "at rest" (a minute is allowed). Each member records when
it takes a queue and when it gives one up, so the figures have no error of observation.

The embedded cluster runs in a process of its own, the members in another. With
`--java` a group of Java clients goes through the same schedule on a fresh cluster of
the same kind, and both are printed side by side. Members use RocketMQ's own intervals.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.ownership import (
    Change,
    Ownership,
    is_exact,
    longest_ms,
    quantile_ms,
)
from rmqcore.allocation import allocate_group
from rmqcore.model import MessageQueue
from tests.support.java_driver import JavaDriver
from tests.support.json_lines import Event, JsonLines
from tests.support.our_clients import OurCluster

TOPIC: Final = "churn"
GROUP: Final = "churners"
BURST_S: Final = 10.0
REST_S: Final = 60.0
"""How long a group may take, after a burst, until every queue has its owner."""
LEAST_SHARE: Final = 0.5
"""At least this share of the members is in the group at any time."""
POLL_S: Final = 0.05
FIRST_GAP_S: Final = 0.1
"""Pause between the first joins: fifty JVM clients cannot start at one moment."""
JVM_OPTIONS: Final = ("-Xmx512m", "-Xss512k")
_ROOT: Final = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Step:
    """A member joins or leaves, so many seconds after the burst began."""

    at_s: float
    joins: bool
    member: str


@dataclass(frozen=True, slots=True)
class Spec:
    """The size of a run, and what decides its schedule."""

    members: int
    queues: int
    seconds: float
    seed: int = 1
    mean_gap_s: float = 0.5
    brokers: int = 2


@dataclass(frozen=True, slots=True)
class Result:
    """What one group did."""

    name: str
    steps: int
    ownership: Ownership
    rests_s: list[float | None]
    """How long each rest took to be reached; None where it was not reached."""

    @property
    def all_rested(self) -> bool:
        """True when after every burst each queue came to have exactly one owner."""
        return None not in self.rests_s


def schedule(spec: Spec) -> list[list[Step]]:
    """Return bursts of steps; the first is that of everybody joining."""
    rng = random.Random(spec.seed)
    names = [f"m{number:02d}" for number in range(spec.members)]
    present = set(names)
    bursts = [
        [Step(FIRST_GAP_S * number, True, name) for number, name in enumerate(names)]
    ]
    left_s = spec.seconds
    while left_s > 0:
        burst: list[Step] = []
        at_s = rng.expovariate(1 / spec.mean_gap_s)
        while at_s < min(BURST_S, left_s):
            burst.append(_next_step(rng, at_s, names, present))
            at_s += rng.expovariate(1 / spec.mean_gap_s)
        bursts.append(burst)
        left_s -= BURST_S
    return bursts


def _next_step(
    rng: random.Random, at_s: float, names: Sequence[str], present: set[str]
) -> Step:
    absent = [name for name in names if name not in present]
    must_join = len(present) <= max(1, len(names) * LEAST_SHARE)
    joins = bool(absent) and (must_join or rng.random() < 0.5)
    name = rng.choice(absent if joins else sorted(present))
    (present.add if joins else present.remove)(name)
    return Step(at_s, joins, name)


class PythonMembers(JsonLines):
    """Our members, in one process."""

    def __init__(self, nameserver: str, directory: Path) -> None:
        super().__init__(
            [sys.executable, "-m", "benchmarks.member_host", nameserver],
            log=directory / "stderr",
            env={"PYTHONPATH": str(_ROOT), "HOME": str(directory)},
        )
        self.wait_for(lambda event: event["event"] == "ready")

    def tell(self, verb: str, **options: object) -> None:
        """Give a command that is carried out beside others."""
        words = (f"{key}={value}" for key, value in options.items())
        self.write(" ".join([verb, *words]))


Members = PythonMembers | JavaDriver
Parts = Mapping[str, Sequence[MessageQueue]]


class Seen:
    """What has been told so far: who runs under which id, who holds what."""

    def __init__(self, members: Members) -> None:
        self._members = members
        self._read = 0
        self.last: dict[str, str] = {}
        self.clients: dict[str, str] = {}
        self.changes: list[Change] = []
        self.holders: dict[MessageQueue, set[str]] = {}

    def catch_up(self) -> None:
        """Read what has been told meanwhile; raise what a member failed with."""
        events = self._members.since(self._read)
        self._read += len(events)
        for event in events:
            match event["event"]:
                case "started":
                    self.last[event["name"]] = "started"
                    self.clients[event["name"]] = event["client_id"]
                case "stopped":
                    self.last[event["name"]] = "stopped"
                    self.clients.pop(event["name"], None)
                case "change" if event["topic"] == TOPIC:
                    self._change(event)
                case "error":
                    raise RuntimeError(f"{event}\n{self._members.tail()}")

    def _change(self, event: Event) -> None:
        queue = MessageQueue(TOPIC, event["broker"], event["queue_id"])
        change = Change(event["nanos"], event["name"], queue, held=bool(event["held"]))
        self.changes.append(change)
        holders = self.holders.setdefault(queue, set())
        (holders.add if change.held else holders.discard)(change.member)


class Run:
    """One group going through a schedule."""

    def __init__(self, spec: Spec, members: Members) -> None:
        self._spec = spec
        self._members = members
        self._present: set[str] = set()
        self._seen = Seen(members)

    def go(self, name: str) -> Result:
        """Carry the schedule out, rests included."""
        bursts = schedule(self._spec)
        rests: list[float | None] = []
        for burst in bursts:
            self._carry_out(burst)
            rests.append(self._rest())
        steps = sum(len(burst) for burst in bursts)
        ownership = Ownership.of(self._seen.changes, time.monotonic_ns())
        return Result(name, steps, ownership, rests)

    def _carry_out(self, burst: Sequence[Step]) -> None:
        began = time.monotonic()
        for step in burst:
            time.sleep(max(0.0, began + step.at_s - time.monotonic()))
            # Members that are still joining or leaving finish first.
            self._wait_for("stopped" if step.joins else "started", step.member)
            if step.joins:
                self._members.tell(
                    "start",
                    name=step.member,
                    group=GROUP,
                    topic=TOPIC,
                    threads=1,
                    exact=1,
                )
                self._present.add(step.member)
            else:
                self._members.tell("stop", name=step.member)
                self._present.discard(step.member)

    def _wait_for(self, last: str, member: str) -> None:
        deadline = time.monotonic() + REST_S
        self._seen.catch_up()
        while self._seen.last.get(member, "stopped") != last:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{member} has not {last} in {REST_S} s")
            time.sleep(POLL_S)
            self._seen.catch_up()

    def _rest(self) -> float | None:
        """Wait until each queue has exactly its owner; return how long that took."""
        began = time.monotonic()
        plan_of: tuple[dict[str, str], Parts] | None = None
        while time.monotonic() < began + REST_S:
            time.sleep(POLL_S)
            self._seen.catch_up()
            clients = dict(self._seen.clients)
            if clients.keys() != self._present:
                continue
            if plan_of is None or plan_of[0] != clients:
                plan_of = clients, self._parts(clients)
            if is_exact(self._seen.holders, plan_of[1]):
                return max(0.0, self._seen.changes[-1].nanos / 1e9 - began)
        return None

    def _parts(self, clients: dict[str, str]) -> Parts:
        queues = queues_of(self._spec)
        ids = clients.values()
        plan = allocate_group("AVG", group=GROUP, queues=queues, client_ids=ids)
        return {name: plan.by_client[client_id] for name, client_id in clients.items()}


def queues_of(spec: Spec) -> list[MessageQueue]:
    """Return the topic's queues, spread over the brokers."""
    return [
        MessageQueue(TOPIC, f"broker-{chr(ord('a') + broker)}", number)
        for broker in range(spec.brokers)
        for number in range(spec.queues // spec.brokers)
    ]


@contextmanager
def fresh_cluster(spec: Spec, directory: Path) -> Iterator[OurCluster]:
    """Run an embedded cluster with the topic."""
    each = spec.queues // spec.brokers
    with OurCluster(
        directory, brokers=spec.brokers, topics=[f"{TOPIC}:{each}"]
    ) as cluster:
        yield cluster


def run_python(spec: Spec, directory: Path) -> Result:
    """Let our members go through the schedule."""
    with (
        fresh_cluster(spec, directory / "cluster") as cluster,
        PythonMembers(cluster.nameserver, directory / "members") as members,
    ):
        return Run(spec, members).go("rmqcore")


def run_java(spec: Spec, directory: Path) -> Result:
    """Let Java's members go through the same schedule."""
    with (
        fresh_cluster(spec, directory / "cluster") as cluster,
        JavaDriver(
            cluster.nameserver, directory / "members", jvm_options=JVM_OPTIONS
        ) as members,
    ):
        return Run(spec, members).go("Java")


def report(results: Sequence[Result]) -> str:
    """Return the figures, a column for each group."""
    rows: list[tuple[str, list[str]]] = [
        ("", [result.name for result in results]),
        ("joins and leaves", [f"{result.steps:,}" for result in results]),
        ("moves of a queue", [f"{r.ownership.moves:,}" for r in results]),
    ]
    for words, kind in (("owned twice", "doubles"), ("without owner", "gaps")):
        spells = [getattr(result.ownership, kind) for result in results]
        rows += [
            (f"{words}, spells", [f"{len(each):,}" for each in spells]),
            (f"{words}, median", [f"{quantile_ms(e, 0.5):,.0f} ms" for e in spells]),
            (f"{words}, 99 %", [f"{quantile_ms(e, 0.99):,.0f} ms" for e in spells]),
            (f"{words}, longest", [f"{longest_ms(e):,.0f} ms" for e in spells]),
        ]
    rests = [[rest for rest in r.rests_s if rest is not None] for r in results]
    rows += [
        (
            "rests that came",
            [
                f"{len(r)} of {len(a.rests_s)}"
                for r, a in zip(rests, results, strict=True)
            ],
        ),
        ("longest way to rest", [f"{max(r, default=0):,.1f} s" for r in rests]),
    ]
    return "\n".join(
        f"{name:24}" + "".join(f"{value:>14}" for value in values)
        for name, values in rows
    )


def main() -> int:
    """Run one group or both; the exit code is 1 when a rest was not reached."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--members", type=int, default=50)
    parser.add_argument("--queues", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=120, help="of churn, no rests")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--java", action="store_true", help="a Java group as well")
    parser.add_argument("--java-only", action="store_true", help="no other group")
    options = parser.parse_args()
    spec = Spec(options.members, options.queues, options.seconds, options.seed)
    print(f"{spec}", flush=True)
    results = []
    runs = [] if options.java_only else [run_python]
    runs += [run_java] if options.java or options.java_only else []
    for run in runs:
        with TemporaryDirectory() as directory:
            results.append(run(spec, Path(directory)))
        print(report(results), flush=True)
    return 0 if all(result.all_rested for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
