"""Make a lake that looks like a cluster's: `python -m benchmarks.lake_generator`.

Seeded, so that two runs give the same rows. Each group has a mean rate, a daily wave
with its own hour, a hot queue in some, members that join and leave (a new epoch each
time, the division of that epoch by AVG), and a consumer capacity that is sometimes not
enough, so that lag builds up and drains. Brokers and members stand in two rooms. Queues
become samples when the collector's sampler would take them, and claim the time that it
would. Rows go through the collector's own writer, then through compaction, as in
production.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from analytics import contracts as c
from analytics.lake.compaction import absorb, compact
from analytics.lake.storage import open_storage
from analytics.lake.writer import LandingWriter
from dashboard.collector.samples import BUSY_MS, QUIET_MS, SLACK_MS

SWEEP_MS: Final = 10_000
START_MS: Final = 1_773_360_000_000  # 2026-03-13 00:00:00 UTC
DAY_MS: Final = 86_400_000
ROOMS: Final = ("hz1", "hz2")
OPTIONS: Final = "options.json"
NEARBY: Final = "MACHINE_ROOM_NEARBY-AVG"


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the lake is to be; `changes` are joins and leaves per group and day."""

    groups: int = 100
    queues: int = 16
    brokers: int = 2
    hours: float = 1.0
    changes: float = 12.0
    members: int = 4
    hot_share: float = 0.3
    idle_share: float = 0.2
    seed: int = 1
    cluster: str = "generated"
    start_ms: int = START_MS

    def queue(self, group: int, number: int) -> tuple[str, str, int]:
        """Return topic, broker and queue id of a group's queue."""
        per_broker = -(-self.queues // self.brokers)
        broker = _broker(number // per_broker)
        return f"topic-{group % 900:03d}", broker, number % per_broker

    @property
    def sweeps(self) -> int:
        return int(self.hours * 3_600_000 / SWEEP_MS)


class Groups:
    """The state of all groups, as arrays of groups × queues."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        rng = self.rng = np.random.default_rng(shape.seed)
        size = (shape.groups, shape.queues)
        idle = rng.random(shape.groups) < shape.idle_share
        self.mean = np.where(idle, 0.0, rng.lognormal(3.0, 1.2, shape.groups))
        self.hour = rng.random(shape.groups) * 2 * np.pi
        self.share = rng.dirichlet(np.full(shape.queues, 30.0), shape.groups)
        hot = rng.random(shape.groups) < shape.hot_share
        self.share[hot, rng.integers(0, shape.queues, hot.sum())] *= 6
        self.share /= self.share.sum(axis=1, keepdims=True)
        self.top = rng.integers(0, 1_000_000, size).astype(float)
        self.done = self.top.copy()
        # Enough for the mean in most groups, not at the top of the wave.
        self.capacity = self.mean * rng.uniform(0.9, 2.0, shape.groups) + 1
        self.count = rng.integers(1, shape.members * 2, shape.groups)
        self.joined = self.count.copy()
        self.epoch = np.ones(shape.groups, dtype=np.int64)

    def step(self, now_ms: int, ms: int = SWEEP_MS) -> None:
        """Let ten seconds pass, or a span of another length."""
        seconds = ms / 1000
        wave = 1 + 0.8 * np.sin(2 * np.pi * now_ms / DAY_MS + self.hour)
        rates = (self.mean * wave)[:, None] * self.share
        self.top += self.rng.poisson(rates * seconds)
        lag = self.top - self.done
        share = lag / np.maximum(lag.sum(axis=1, keepdims=True), 1)
        taken = np.minimum(lag, share * (self.capacity * seconds)[:, None])
        self.done += np.floor(taken)

    def change_members(self, ms: int = SWEEP_MS) -> list[int]:
        """Let members join and leave; return the groups in which they did."""
        shape = self.shape
        chance = shape.changes * ms / DAY_MS
        changed = np.flatnonzero(self.rng.random(shape.groups) < chance)
        for group in changed:
            joins = self.count[group] == 1 or self.rng.random() < 0.5
            self.count[group] += 1 if joins else -1
            self.joined[group] += 1 if joins else 0
            self.epoch[group] += 1
        return [int(group) for group in changed]

    def members_of(self, group: int) -> list[str]:
        last, count = int(self.joined[group]), int(self.count[group])
        return [_member(group, number) for number in range(last - count, last)]

    def strategy_options(self) -> dict[str, dict[str, Any]]:
        """Return options for the strategies that need some, for all members so far."""
        shape = self.shape
        brokers = [_broker(number) for number in range(shape.brokers)]
        members = [
            (_member(group, number), group, number)
            for group in range(shape.groups)
            for number in range(int(self.joined[group]))
        ]
        return {
            "CONFIG": {
                "config": {
                    name: [
                        list(shape.queue(group, queue))
                        for queue in range(number % 4, shape.queues, 4)
                    ]
                    for name, group, number in members
                }
            },
            "MACHINE_ROOM": {"rooms": list(ROOMS)},
            NEARBY: {
                "queue_room": {name: name.split("@")[0] for name in brokers},
                "client_room": {name: name.split("-")[0] for name, *_ in members},
            },
        }


class Looks(NamedTuple):
    """How queues stood at one sweep, in arrays with a value for each."""

    top: npt.NDArray[np.int64]
    done: npt.NDArray[np.int64]
    epoch: npt.NDArray[np.int64]

    @classmethod
    def at(cls, groups: Groups) -> Looks:
        """Look at all queues, group by group."""
        return cls(
            groups.top.ravel().astype(np.int64),
            groups.done.ravel().astype(np.int64),
            np.repeat(groups.epoch, groups.shape.queues),
        )


class Taken(NamedTuple):
    """The queues that are sampled at a sweep: what they claim, and of which epoch."""

    is_taken: npt.NDArray[np.bool_]
    seconds: npt.NDArray[np.float64]
    epoch: npt.NDArray[np.int64]


class Sampling:
    """The collector's `Sampler` for the queues of all groups at once.

    All of them are there at every sweep, and their lags are known.
    """

    def __init__(self) -> None:
        self._last: Looks | None = None
        self._sampled_ms: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._taken_ms = 0

    def take(self, looks: Looks, now_ms: int) -> Taken:
        """Choose the queues to sample now; `seconds` and `epoch` are of those alone."""
        last = self._last
        if last is None:
            size = len(looks.top)
            self._last, self._taken_ms = looks, now_ms
            self._sampled_ms = np.full(size, now_ms)
            return Taken(np.ones(size, bool), np.zeros(size), looks.epoch)
        waited_ms = now_ms - self._sampled_ms
        next_ms = 2 * now_ms - self._taken_ms + SLACK_MS
        has_moved = (looks.top != last.top) | (looks.done != last.done)
        is_taken = np.where(
            has_moved | (looks.top > looks.done),
            waited_ms + SLACK_MS >= BUSY_MS,
            next_ms - self._sampled_ms >= QUIET_MS,
        ) | (looks.epoch != last.epoch)
        self._sampled_ms = np.where(is_taken, now_ms, self._sampled_ms)
        self._taken_ms = now_ms
        self._last = Looks(
            np.where(is_taken, looks.top, last.top),
            np.where(is_taken, looks.done, last.done),
            looks.epoch,
        )
        seconds = np.minimum(waited_ms[is_taken], QUIET_MS) / 1000
        # What is claimed was time of the epoch that ran until now.
        return Taken(is_taken, seconds, last.epoch[is_taken])


def generate(lake: str, shape: Shape) -> int:
    """Write the lake, and its strategies' options beside it; return the samples."""
    rows = land(lake, shape)
    storage = open_storage(lake)
    for dataset in (c.SAMPLES, c.EPOCHS):
        absorb(storage, dataset)
        compact(
            storage, dataset, shape.start_ms + int(shape.hours * 3_600_000) + DAY_MS
        )
    return rows


def land(lake: str, shape: Shape) -> int:
    """Write landing files, as the collector does, and the options."""
    groups = Groups(shape)
    samples = LandingWriter(lake, c.SAMPLES, run_id=f"seed{shape.seed}")
    epochs = LandingWriter(lake, c.EPOCHS, run_id=f"seed{shape.seed}")
    names = key_columns(shape)
    sampling = Sampling()
    rows = 0
    epochs.append(epochs_of(groups, range(shape.groups), shape.start_ms))
    for sweep in range(shape.sweeps):
        now_ms = shape.start_ms + sweep * SWEEP_MS
        groups.step(now_ms)
        changed = groups.change_members() if sweep else []
        if changed:
            epochs.append(epochs_of(groups, changed, now_ms))
        rows += samples.append(_samples(groups, names, now_ms, sampling))
        for writer in (samples, epochs):
            _checked(writer.flush(now_ms))
    _checked(samples.close(shape.start_ms))
    _checked(epochs.close(shape.start_ms))
    write_options(lake, groups)
    return rows


def write_options(lake: str, groups: Groups) -> None:
    """Write the options of the strategies that need some, for all members so far."""
    options = json.dumps(groups.strategy_options())
    open_storage(lake).write_new(OPTIONS, options.encode())


def _checked(report: Any) -> None:
    if report.error:
        raise SystemExit(f"the lake cannot be written: {report.error}")


def key_columns(shape: Shape) -> dict[str, Any]:
    """Return the key columns of a whole sweep, group by group."""
    group = np.repeat(np.arange(shape.groups), shape.queues).tolist()
    queue = np.tile(np.arange(shape.queues), shape.groups).tolist()
    keys = [shape.queue(*pair) for pair in zip(group, queue, strict=True)]
    topics, brokers, ids = zip(*keys, strict=True)
    return {
        c.GROUP: pa.array([group_name(number) for number in group]),
        c.TOPIC: pa.array(topics),
        c.BROKER: pa.array(brokers),
        c.QUEUE_ID: pa.array(ids, pa.int32()),
    }


def group_name(number: int) -> str:
    """Return the name of a group."""
    return f"group-{number:05d}"


def _broker(number: int) -> str:
    return f"{ROOMS[number % len(ROOMS)]}@broker-{number}"


def _member(group: int, number: int) -> str:
    room = ROOMS[number % len(ROOMS)]
    return f"{room}-10.0.{group % 250}.{number}@{group}#{number}"


def _samples(
    groups: Groups, names: dict[str, Any], now_ms: int, sampling: Sampling
) -> dict[str, Any]:
    shape = groups.shape
    looks = Looks.at(groups)
    taken = sampling.take(looks, now_ms)
    mask = pa.array(taken.is_taken)
    top, done = looks.top[taken.is_taken], looks.done[taken.is_taken]
    capacity = np.repeat(groups.capacity, shape.queues)[taken.is_taken]
    return {
        c.CLUSTER: shape.cluster,
        **{
            name: names[name].filter(mask)
            for name in (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID)
        },
        c.TIME: now_ms,
        c.WEIGHT: taken.seconds,
        c.MIN: np.zeros(len(top), dtype=np.int64),
        c.MAX: top,
        c.COMMITTED: done,
        c.EPOCH: taken.epoch,
        c.LAG_MS: ((top - done) / capacity * shape.queues * 1000).astype(np.int64),
    }


def epochs_of(groups: Groups, which: Sequence[int], now_ms: int) -> dict[str, Any]:
    """Return the epochs that begin now in some of the groups."""
    shape = groups.shape
    count = len(which)
    return {
        c.CLUSTER: [shape.cluster] * count,
        c.GROUP: [group_name(group) for group in which],
        c.EPOCH: [int(groups.epoch[group]) for group in which],
        c.TIME: [now_ms] * count,
        c.BEGAN: [now_ms] * count,
        c.MODE: ["CLUSTERING"] * count,
        c.STRATEGY: ["AVG"] * count,
        c.STRATEGY_SOURCE: ["reported"] * count,
        c.MEMBERS: [
            [
                {c.CLIENT_ID: client_id, c.STRATEGY: "AVG", c.SUBSCRIPTIONS: None}
                for client_id in groups.members_of(group)
            ]
            for group in which
        ],
        c.QUEUES: [
            [
                dict(
                    zip(
                        (c.TOPIC, c.BROKER, c.QUEUE_ID),
                        shape.queue(group, queue),
                        strict=True,
                    )
                )
                for queue in range(shape.queues)
            ]
            for group in which
        ],
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make a seeded lake of samples.")
    parser.add_argument("--lake", required=True, help="folder or URL to write to")
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--queues", type=int, default=16)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--changes", type=float, default=12.0, help="per group and day")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cluster", default="generated")
    parser.add_argument("--start-ms", type=int, default=START_MS)
    return parser.parse_args()


def main() -> None:
    """Read the command line and write the lake."""
    given = _arguments()
    shape = Shape(
        groups=given.groups,
        queues=given.queues,
        hours=given.hours,
        changes=given.changes,
        seed=given.seed,
        cluster=given.cluster,
        start_ms=given.start_ms,
    )
    began = time.perf_counter()
    rows = generate(given.lake, shape)
    took = time.perf_counter() - began
    print(f"{rows:,} samples in {took:.1f} s, {rows / took:,.0f}/s")


if __name__ == "__main__":
    main()
