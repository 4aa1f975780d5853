"""How long a what-if takes: all six strategies and the balanced plan.

python -m benchmarks.whatif [--queues 10000] [--members 500] [--repeat 5]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final, TypeVar

import orjson

from benchmarks.goals import Goal
from dashboard.whatif.model import (
    Comparison,
    RoomRule,
    Scenario,
    compare,
    comparison_document,
    read_situation,
)

T = TypeVar("T")
GOAL_SIZE: Final = (10_000, 500)
GOAL: Final = Goal("what-if, 10,000 queues × 500 members, computed", 1000, "ms")
ROOMS: Final = ("hz1", "hz2", "sh1")


@dataclass(slots=True)
class Times:
    """Milliseconds of runs, by the clock and of the processor."""

    clock: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def of(self, work: Callable[[], T]) -> T:
        """Run and time some work, and return what it made."""
        used, began = process_time(), perf_counter()
        made = work()
        self.clock.append((perf_counter() - began) * 1000)
        self.cpu.append((process_time() - used) * 1000)
        return made


def make_document(
    queue_count: int, member_count: int, topics: int, seed: int = 5
) -> dict[str, Any]:
    """Return a group's document: unequal rates and lag, owners in blocks."""
    rng = Random(seed)
    members = [
        f"{ROOMS[at % 3]}-10.0.{at // 250:03}.{at % 250:03}@4100"
        for at in range(member_count)
    ]
    queues = [
        {
            "topic": f"topic-{at % topics}",
            "broker": f"{ROOMS[at // topics // 64 % 3]}@broker-{at // topics // 64:02}",
            "queue_id": at // topics % 64,
            "owners": [members[at * member_count // queue_count]],
            "lag": int(rng.expovariate(1 / 500)),
            "rate_in": rng.expovariate(1 / 40),
            "rate_out": 40.0,
        }
        for at in range(queue_count)
    ]
    return {
        "cluster": "bench",
        "group": "orders",
        "kind": "owned",
        "mode": "CLUSTERING",
        "strategy": {"name": "AVG", "source": "reported"},
        "members": [{"client_id": each, "rate_out": 900.0} for each in members],
        "queues": queues,
    }


def written(comparison: Comparison) -> bytes:
    """Return the comparison as a page gets it."""
    return orjson.dumps(comparison_document(comparison))


def main() -> None:
    """Print the time of each step, and whether the goal was met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queues", type=int, default=GOAL_SIZE[0])
    parser.add_argument("--members", type=int, default=GOAL_SIZE[1])
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    document = make_document(given.queues, given.members, given.topics)
    removed = document["members"][0]["client_id"]
    scenario = Scenario(
        add=tuple(f"hz1-10.9.0.{at}@4100" for at in range(20)),
        remove=(removed,),
        rate_factor=1.2,
        rooms=ROOMS,
        broker_rooms=RoomRule("@"),
        client_rooms=RoomRule("-"),
    )
    listed = read_situation(document)
    config = compare(listed, scenario).row("BALANCED").plan
    if config is not None:
        scenario = replace(scenario, config=tuple(config.by_client.items()))
    steps = {name: Times() for name in ("read", "compare", "write")}
    for _ in range(given.repeat):
        situation = steps["read"].of(partial(read_situation, document))
        comparison = steps["compare"].of(partial(compare, situation, scenario))
        text = steps["write"].of(partial(written, comparison))
    print(
        f"{given.queues:,} queues of {given.topics} topics x {given.members:,} "
        f"members, 20 join, 1 leaves; {given.repeat} runs\n"
    )
    for row in comparison.rows:
        figures = row.figures
        told = (
            f"{len(figures.moved):6,} move, "
            f"max/mean {figures.by_load.max_over_mean:.2f}"
            if figures
            else row.reason
        )
        print(f"  {row.strategy:28} {told}")
    print(f"\n  {'':8} {'median ms':>10} {'cpu ms':>8}")
    for name, times in steps.items():
        print(f"  {name:8} {median(times.clock):10.1f} {median(times.cpu):8.1f}")
    total = sum(median(times.clock) for times in steps.values())
    cpu = sum(median(times.cpu) for times in steps.values())
    print(f"  {'in all':8} {total:10.1f} {cpu:8.1f}")
    print(f"\n  {len(text) / 1e6:.1f} MB of JSON")
    if (given.queues, given.members) == GOAL_SIZE:
        print(GOAL.line(total))


if __name__ == "__main__":
    main()
