"""How much it costs a leader to leave everything to the next, and the next to take it.

    python -m benchmarks.handing_on [--groups 2300] [--queues 16] [--sweeps 6]

A collector sweeps a cluster that is made up (each group with two members, every queue
moving) against a real Valkey; then another takes the lead. It prints the time of a
sweep and the part of it that is spent on what is handed on, the longest time for which
the loop was held, how much Valkey has, and the new leader's first sweep. All times are
from one run on one machine: compare them only with each other.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")
django.setup()

from dashboard.collector import lead as leading  # noqa: E402
from dashboard.collector.cluster_collector import ClusterCollector  # noqa: E402
from dashboard.collector.frames import encode_frame  # noqa: E402
from dashboard.collector.garbage import GarbageSearch  # noqa: E402
from dashboard.collector.lease import Renewals  # noqa: E402
from dashboard.gateway.broker_runtime import Told  # noqa: E402
from dashboard.live.names import memory_key, moments_key  # noqa: E402
from dashboard.live.state import make_async_client  # noqa: E402
from rmqcore.model.columns import QueueKey  # noqa: E402
from rmqcore.model.snapshot import ClusterSnapshot, GroupSnapshot, KnownBroker  # noqa: E402
from tests.dashboard.collector.sights import (  # noqa: E402
    NOW,
    cluster,
    group,
    keys,
    member,
    table,
)
from tests.support.valkey import Valkey  # noqa: E402

STEP_MS = 10_000
TICK_S = 0.002


class MadeUp:
    """A cluster whose queues all move; the time is that of its last sweep."""

    def __init__(self, groups: int, queues: int) -> None:
        self.at_ms = NOW
        self._chance = Random(1)
        self._keys = [keys(queues, f"topic-{n % 900:04}") for n in range(groups)]
        self._high = [self._chance.randrange(10**9) for _ in range(groups)]
        self.seen = self._asked = self._taken(asked=False)

    def now_ms(self) -> int:
        return self.at_ms

    def step(self) -> None:
        """Let ten seconds pass."""
        self.at_ms += STEP_MS
        state = self._chance.getstate()
        self.seen = self._taken(asked=False)
        self._chance.setstate(state)
        self._asked = self._taken(asked=True)

    async def snapshot(self) -> ClusterSnapshot:
        return self.seen

    async def groups(self, names: Collection[str]) -> ClusterSnapshot:
        known = self._asked
        found = {name: known.groups[name] for name in names}
        return ClusterSnapshot(self.at_ms, known.brokers, known.topics, found)

    async def ages(
        self, wanted: Mapping[str, Collection[tuple[str, str]]]
    ) -> Mapping[str, Mapping[QueueKey, int]]:
        return {}

    async def runtimes(
        self,
        addresses: Sequence[str],
        with_settings: Collection[str],
        masters: Collection[str],
    ) -> Sequence[Told]:
        """Return no reports."""
        return ()

    def known_brokers(self) -> Sequence[KnownBroker]:
        return ()

    def remember_brokers(self, brokers: Sequence[KnownBroker]) -> None: ...

    def forget_broker(self, name: str) -> bool:
        return False

    def note_member(self, group: str, client_id: str, *, left: bool) -> None: ...

    def _taken(self, *, asked: bool) -> ClusterSnapshot:
        groups = [self._group(number, asked) for number in range(len(self._keys))]
        seen = cluster(*groups)
        return ClusterSnapshot(self.at_ms, seen.brokers, seen.topics, seen.groups)

    def _group(self, number: int, asked: bool) -> GroupSnapshot:
        names = self._keys[number]
        # A queue's own number, and what came to it in the time since the first sweep.
        base = self._high[number] + (self.at_ms - NOW) // 10
        high = [base + self._chance.randrange(900) for _ in names]
        done = [each - self._chance.randrange(900) for each in high]
        clients = [f"10.0.{number % 250}.{n}@{4000 + number}#17{n}" for n in (1, 2)]
        members = [
            member(client, names[place::2], topics=[names[0][0]])
            if asked
            else member(client)
            for place, client in enumerate(clients)
        ]
        expected = [clients[row % 2] for row in range(len(names))]
        queues = table(names, high=high, committed=done)
        return group(queues, members, expected=expected, name=f"group-{number:05}")


class NoKeeper:
    """Replaces the database and the lake, which are not measured here."""

    pending_rows = dropped = 0
    lake_fault = lake_error = None

    async def load_books(self) -> dict[str, Any]:
        return {}

    async def load_brokers(self) -> list[KnownBroker]:
        return []

    async def keep_brokers(self, *_what: object) -> None: ...

    async def call(self, work: Any) -> Any:
        """Do what needs no database; nothing is found there otherwise."""
        return work() if work is dict else []

    async def keep(self, *_what: object) -> None: ...

    async def close(self, _now_ms: int) -> None: ...

    def add_turn(self, *_what: object) -> None: ...

    add_learned = add_end = add_handovers = add_turn


class NoLayer:
    """Nobody listens."""

    async def group_send(self, *_what: object) -> None: ...


class Stretch:
    """The longest time for which the loop was blocked."""

    def __init__(self) -> None:
        self.longest_ms = 0.0

    async def watch(self) -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(TICK_S)
            now = time.perf_counter()
            self.longest_ms = max(self.longest_ms, (now - last - TICK_S) * 1000)
            last = now


class Spent:
    """Time by the clock, of this process, and of the loop's thread alone; in ms."""

    def __init__(self) -> None:
        self._at = self._now()

    def begin(self) -> None:
        self._at = self._now()

    def end(self) -> None:
        self._at = tuple(
            (now - then) * 1000 for now, then in zip(self._now(), self._at, strict=True)
        )

    def __str__(self) -> str:
        wall, process, loop = self._at
        return f"{wall:.0f} ms (cpu {process:.0f}, on the loop {loop:.0f})"

    @staticmethod
    def _now() -> tuple[float, ...]:
        return time.perf_counter(), time.process_time(), time.thread_time()


def collector(source: MadeUp, client: Any, holder: str) -> ClusterCollector:
    return ClusterCollector(
        "east",
        source,
        client=client,
        layer=NoLayer(),
        keeper=NoKeeper(),  # type: ignore[arg-type]
        holder=holder,
        wanted_strategies=dict,
        now_ms=source.now_ms,
        chance=Random(1),
        wake_sender=lambda: None,
    )


async def sweep(each: ClusterCollector, source: MadeUp, told: str) -> None:
    """Sweep once and print what it took."""
    source.step()
    stretch = Stretch()
    watching = asyncio.ensure_future(stretch.watch())
    await asyncio.sleep(10 * TICK_S)
    stretch.longest_ms = 0.0
    memory = Spent()
    plain = leading.Lead.publish_memory

    async def timed(lead: leading.Lead, snapshot: ClusterSnapshot) -> None:
        memory.begin()
        await plain(lead, snapshot)
        memory.end()

    leading.Lead.publish_memory = timed  # type: ignore[method-assign, assignment]
    whole = Spent()
    whole.begin()
    await each.sweep_all()
    whole.end()
    leading.Lead.publish_memory = plain  # type: ignore[method-assign]
    watching.cancel()
    print(
        f"{told}: {whole}; of it leaving memory: {memory}; "
        f"loop held for {stretch.longest_ms:.0f} ms at most"
    )


async def measure(groups: int, queues: int, sweeps: int, valkey: Valkey) -> None:
    client = make_async_client(valkey.url)
    source = MadeUp(groups, queues)
    one, two = (collector(source, client, name) for name in ("one", "two"))
    renewals = Renewals(valkey.url, [one.lease, two.lease], alive=lambda: True)
    renewals.start()
    print(f"{groups} groups, {groups * queues} queues")
    for number in range(sweeps):
        await sweep(one, source, f"sweep {number + 1}")
    frame = encode_frame(source.seen)
    began = time.perf_counter()
    encode_frame(source.seen)
    print(f"frame: {len(frame):,} bytes, packed in {_ms(began):.0f} ms (in a thread)")
    memory = await client.strlen(memory_key("east"))
    rings = [await client.strlen(moments_key("east", at)) for at in range(32)]
    print(f"in Valkey: memory {memory:,} bytes, frames {sum(rings):,} bytes")
    await one.close()
    await sweep(two, source, "first of the next leader")
    await sweep(two, source, "its second")
    renewals.stop()
    for each in (one, two):
        figures = each.figures
        print(f"failed {figures.failed}, refused {figures.refused}", end="; ")
    print(f"leases that ran out {one.lease.lapses + two.lease.lapses}")
    await client.aclose()


def _ms(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=2300)
    parser.add_argument("--queues", type=int, default=16)
    parser.add_argument("--sweeps", type=int, default=6)
    options = parser.parse_args()
    GarbageSearch().begin()
    with tempfile.TemporaryDirectory() as folder:
        valkey = Valkey(Path(folder))
        valkey.start()
        try:
            asyncio.run(measure(options.groups, options.queues, options.sweeps, valkey))
        finally:
            valkey.kill()


if __name__ == "__main__":
    main()
