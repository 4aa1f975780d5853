"""Small lakes whose numbers can be worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from analytics import contracts as c
from analytics.lake.writer import LandingWriter
from tests.analytics.rows import SECOND, START_MS

QUEUES = 4
RATES = (10, 10, 10, 50)
"""Messages a second that come into each queue; the last one is hot."""


def epoch_columns(number: int, began_ms: int, clients: list[str]) -> dict[str, Any]:
    return {
        c.CLUSTER: "hangzhou",
        c.GROUP: "settlement",
        c.EPOCH: [number],
        c.TIME: began_ms,
        c.BEGAN: began_ms,
        c.MODE: "CLUSTERING",
        c.STRATEGY: "AVG",
        c.STRATEGY_SOURCE: "reported",
        c.MEMBERS: [
            [
                {c.CLIENT_ID: client, c.STRATEGY: "AVG", c.SUBSCRIPTIONS: None}
                for client in clients
            ]
        ],
        c.QUEUES: [
            [
                {c.TOPIC: "orders", c.BROKER: "broker-a", c.QUEUE_ID: queue}
                for queue in range(QUEUES)
            ]
        ],
    }


def two_epochs(folder: Path) -> None:
    """Write two minutes of a group: one member, and after a minute two.

    Queue q gets `RATES[q]` messages a second. All is consumed at once but the hot
    queue, of which two fifths are left; queue 0 has nothing committed in the first
    minute.
    """
    samples = LandingWriter(str(folder), run_id="samples")
    for second in range(0, 121, 10):
        epoch = 1 if second <= 60 else 2
        top = [rate * second for rate in RATES]
        committed: list[int | None] = [*top[:3], top[3] * 3 // 5]
        if epoch == 1:
            committed[0] = None
        samples.append(
            {
                c.CLUSTER: "hangzhou",
                c.GROUP: "settlement",
                c.TOPIC: "orders",
                c.BROKER: "broker-a",
                c.QUEUE_ID: list(range(QUEUES)),
                c.TIME: START_MS + second * SECOND,
                c.WEIGHT: 10 if second else 0,
                c.MIN: 0,
                c.MAX: top,
                c.COMMITTED: committed,
                c.EPOCH: epoch,
            }
        )
    samples.close(START_MS)
    epochs = LandingWriter(str(folder), c.EPOCHS, run_id="epochs")
    epochs.append(epoch_columns(1, START_MS, ["a"]))
    epochs.append(epoch_columns(2, START_MS + 60 * SECOND, ["a", "b"]))
    epochs.close(START_MS)
