"""Lakes drawn at random: everything that samples and epochs can be, and go wrong."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from analytics import contracts as c
from analytics.lake.writer import LandingWriter
from analytics.schemas import schema_of
from tests.analytics.rows import MINUTE, SECOND, START_MS

LASTS: Final = 30 * MINUTE
UNTIL_MS: Final = START_MS + LASTS - 7 * SECOND
"""No whole step, and samples go on for a while."""

Rows = list[dict[str, Any]]


def drawn_rows(seed: int) -> tuple[Rows, Rows]:
    """Draw samples and epochs of two clusters.

    Of one group there are no epochs, of another no samples; some divide nothing. No
    queue has two samples of one moment.
    """
    chance = random.Random(seed)
    samples: Rows = []
    epochs: Rows = []
    for cluster in ("hangzhou", "shanghai"):
        for group in ("alpha", "beta", "delta", "gamma", "nobody", "untold"):
            turns = _turns(chance, group)
            if group != "untold":
                epochs += _epochs(chance, cluster, group, turns)
            if group != "nobody":
                samples += _samples(chance, cluster, group, turns)
    chance.shuffle(samples)
    return samples, epochs


def write_rows(folder: Path, samples: Rows, epochs: Rows, files: int = 3) -> None:
    """Write rows into a lake, samples as several files, each of all times."""
    for number in range(files):
        writer = LandingWriter(str(folder), run_id=f"samples{number}")
        writer.append(_columns(c.SAMPLES, samples[number::files]))
        writer.close(START_MS)
    writer = LandingWriter(str(folder), c.EPOCHS, run_id="epochs")
    writer.append(_columns(c.EPOCHS, epochs))
    writer.close(START_MS)


def _columns(dataset: str, rows: Rows) -> dict[str, Any]:
    names = {name for row in rows for name in row}
    schema = schema_of(dataset)
    return {
        name: pa.array(
            [row.get(name) for row in rows],
            pa.int64() if "timestamp" in str(schema.field(name).type) else None,
        )
        if name not in (c.MEMBERS, c.QUEUES)
        else [row[name] for row in rows]
        for name in names
    }


def _turns(chance: random.Random, group: str) -> list[tuple[int, int, int | None, Any]]:
    """Draw number, begin, end (None: left open) and queues of a group's epochs."""
    begin = START_MS + chance.choice([-60, -5, 3, 9]) * MINUTE + chance.randrange(9999)
    found = []
    number = chance.randrange(3)
    while begin < START_MS + LASTS + MINUTE:
        end = begin + chance.choice([0.3, 4, 9, 30]) * MINUTE + chance.randrange(9999)
        end = int(end)
        over = None if chance.random() < 0.4 else end + chance.choice([-3, 0, 4]) * 1000
        queues = [
            (topic, broker, queue)
            for topic in (f"{group}-orders", "bills")
            for broker in ("broker-a", "broker-b")
            for queue in range(2)
            if chance.random() < 0.8
        ]
        found.append((number, begin, over, queues or [("bills", "broker-a", 0)]))
        number += chance.choice([1, 1, 2])
        begin = end + (chance.choice([0, 0, 2 * MINUTE]) if over else 0)
    return found


def _epochs(chance: random.Random, cluster: str, group: str, turns: Any) -> Rows:
    rows: Rows = []
    for number, begin, over, queues in turns:
        clients = [f"client-{chance.randrange(4)}" for _ in range(chance.randrange(4))]
        if group in {"alpha", "beta"}:
            clients.append("client-9")
        strategy = chance.choice(["AVG", "AVG_BY_CIRCLE", None, "CONSISTENT_HASH"])
        row = {
            c.CLUSTER: cluster,
            c.GROUP: group,
            c.EPOCH: number,
            c.TIME: begin + 500,
            c.BEGAN: begin,
            c.MODE: "BROADCASTING" if group == "delta" else chance.choice(_MODES),
            c.STRATEGY: strategy,
            c.STRATEGY_SOURCE: strategy and "reported",
            c.MEMBERS: [
                {c.CLIENT_ID: name, c.STRATEGY: None, c.SUBSCRIPTIONS: None}
                for name in clients
            ],
            c.QUEUES: [
                dict(zip((c.TOPIC, c.BROKER, c.QUEUE_ID), queue, strict=True))
                for queue in queues
            ],
        }
        rows.append(row)
        if over is not None:
            rows.append(row | {c.TIME: over + 900, c.ENDED_BEFORE: over})
    return rows


_MODES: Final = ("CLUSTERING", "CLUSTERING", None)


def _samples(chance: random.Random, cluster: str, group: str, turns: Any) -> Rows:
    rows: Rows = []
    begin = turns[0][1]
    named = {queue for turn in turns for queue in turn[3]}
    for queue in sorted({*named, ("bills", "broker-a", 0)}):
        at, top, done = max(begin, START_MS - 4 * MINUTE), 100, 100
        held = f"client-{chance.randrange(4)}"
        while at < START_MS + LASTS + 2 * MINUTE:
            waited = chance.choice([10, 10, 10, 10, 60, 60, 300]) * SECOND
            waited += chance.choice([0, 0, chance.randrange(999)])
            at += waited
            top += chance.choice([0, 7, chance.randrange(500)])
            done = min(top, done + chance.choice([0, 5, chance.randrange(600)]))
            if chance.random() < 0.03:
                top = done = chance.randrange(50)
            running = [turn[0] for turn in turns if turn[1] <= at]
            epoch = running[-1] if running else None
            age = chance.choice([None, 0, chance.randrange(60_000)])
            if chance.random() < 0.1:
                held = f"client-{chance.randrange(5)}"
            rows.append(
                {
                    **dict(zip(c.QUEUE_KEY, (cluster, group, *queue), strict=True)),
                    c.TIME: at,
                    c.WEIGHT: min(waited / 1000, 60.0)
                    if chance.random() < 0.9
                    else 0.0,
                    c.MIN: 0,
                    c.MAX: None if chance.random() < 0.1 else top,
                    c.COMMITTED: None
                    if chance.random() < 0.1
                    else done + chance.choice([0, 0, 0, 3]),
                    c.EPOCH: None if chance.random() < 0.04 else epoch,
                    c.LAG_MS: age,
                    c.OWNER: held if chance.random() < 0.3 else None,
                }
            )
    return rows
