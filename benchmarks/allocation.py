"""How long the division of a whole group takes, per strategy.

    python -m benchmarks.allocation [--queues 1024] [--members 100] [--repeat 200]

Input is shuffled, and sorting it is part of the time, as in a rebalance. Apache's Java
classes compute each member alone; for 1,024 queues and 100 members they were seen to
need, for the group: AVG 0.03-0.14 ms, AVG_BY_CIRCLE 0.24 ms, MACHINE_ROOM 6-8 ms,
NEARBY over AVG 3-5 ms, CONSISTENT_HASH 130-370 ms (sorting not included). "cpu" is the
median of processor time: on a busy machine the clock also counts waiting.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final

from rmqcore.allocation import allocate_group
from rmqcore.model import MessageQueue

ROOMS: Final = ("hz1", "hz2", "sh1")
TARGETS_MS: Final = {"AVG": 2.0, "AVG_BY_CIRCLE": 2.0, "CONSISTENT_HASH": 5.0}
TARGET_SIZE: Final = (1024, 100)


@dataclass(frozen=True, slots=True)
class Group:
    """A shuffled group to divide."""

    queues: list[MessageQueue]
    client_ids: list[str]

    def config(self) -> dict[str, list[MessageQueue]]:
        """Return some list for each member."""
        count = len(self.client_ids)
        return {
            client_id: self.queues[position::count]
            for position, client_id in enumerate(self.client_ids)
        }


def make_group(queue_count: int, member_count: int, seed: int = 7) -> Group:
    """Return queues on brokers named `room@broker`, 64 on each, and client ids."""
    rng = Random(seed)
    queues = [
        MessageQueue("orders", f"{ROOMS[at // 64 % 3]}@broker-{at // 64}", at % 64)
        for at in range(queue_count)
    ]
    client_ids = [
        f"{ROOMS[at % 3]}-10.0.{at // 250}.{at % 250}@{rng.randrange(1 << 40)}"
        for at in range(member_count)
    ]
    rng.shuffle(queues)
    rng.shuffle(client_ids)
    return Group(queues, client_ids)


def strategies(group: Group) -> dict[str, dict[str, Any]]:
    """Return each strategy with options that fit the group's names."""
    rooms = {
        "queue_room": lambda queue: queue.broker_name.partition("@")[0],
        "client_room": lambda client_id: client_id.partition("-")[0],
    }
    return {
        "AVG": {},
        "AVG_BY_CIRCLE": {},
        "CONFIG": {"config": group.config()},
        "MACHINE_ROOM": {"rooms": set(ROOMS)},
        "MACHINE_ROOM_NEARBY-AVG": rooms,
        "MACHINE_ROOM_NEARBY-CONSISTENT_HASH": rooms,
        "CONSISTENT_HASH": {},
        "CONSISTENT_HASH, 100 nodes": {"virtual_nodes": 100},
    }


def measured_ms(
    work: Callable[[], object], repeat: int
) -> tuple[list[float], list[float]]:
    """Return how long each run took, by the clock and of the processor."""
    clock, processor = [], []
    for _ in range(repeat):
        used, began = process_time(), perf_counter()
        work()
        clock.append((perf_counter() - began) * 1000)
        processor.append((process_time() - used) * 1000)
    return clock, processor


def verdict(name: str, size: tuple[int, int], found_ms: float) -> str:
    """Return the target and whether it was met; empty where there is none."""
    if name not in TARGETS_MS or size != TARGET_SIZE:
        return ""
    target = TARGETS_MS[name]
    return f"<= {target:g} ms: {'met' if found_ms <= target else 'MISSED'}"


def main() -> None:
    """Print a line for each strategy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queues", type=int, default=TARGET_SIZE[0])
    parser.add_argument("--members", type=int, default=TARGET_SIZE[1])
    parser.add_argument("--repeat", type=int, default=200)
    given = parser.parse_args()
    group = make_group(given.queues, given.members)
    print(
        f"{given.queues:,} queues x {given.members:,} members, shuffled, "
        f"sorting included, {given.repeat} runs\n"
    )
    print(f"{'strategy':36} {'median ms':>9} {'min ms':>7} {'cpu ms':>7}  target")
    for name, options in strategies(group).items():
        strategy = name.partition(",")[0]

        def divide(strategy: str = strategy, options: dict[str, Any] = options) -> None:
            allocate_group(
                strategy,
                group="orders",
                queues=group.queues,
                client_ids=group.client_ids,
                **options,
            )

        times, processor = measured_ms(divide, given.repeat)
        middle = median(times)
        note = verdict(name, (given.queues, given.members), middle)
        cpu = median(processor)
        print(f"{name:36} {middle:9.2f} {min(times):7.2f} {cpu:7.2f}  {note}".rstrip())


if __name__ == "__main__":
    main()
