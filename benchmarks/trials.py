"""Try a rule on a week of many groups: `python -m benchmarks.trials [--groups N]`.

Makes the rung of minutes for groups of two queues each, whose lag has a daily wave and
now and then a peak, in a folder of its own. Then one trial of all groups runs in a cold
process; printed are its time, its processor time and the peak of resident memory of
Python and Java together.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from analytics import contracts as c
from analytics.lake.carrying import add_batch
from analytics.lake.ladder import PEAKS, QUEUES, dataset_of
from analytics.lake.storage import open_storage
from analytics.lake.writer import LandingWriter
from analytics.schemas import table_of
from benchmarks.usage import Watch

START_MS = 1_773_360_000_000
MINUTE = 60_000
DAY = 24 * 60
QUEUE_COUNT = 2


def write_week(folder: Path, groups: int, days: int) -> None:
    """Write a batch of minutes for each hour, and an epoch for each group."""
    storage = open_storage(str(folder))
    chance = np.random.default_rng(1)
    names = [f"group-{number:04}" for number in range(groups)]
    base = chance.uniform(1_000, 20_000, groups)
    queues = np.repeat(np.array(names), QUEUE_COUNT)
    for hour in range(days * 24):
        minutes = hour * 60 + np.arange(60)
        wave = 1.2 + np.sin(minutes / DAY * 2 * np.pi)
        lag = base[None, :] * wave[:, None] * chance.uniform(0.9, 1.1, (60, groups))
        lag *= np.where(chance.random(groups) < 0.01, 6, 1)[None, :]
        parts, peaks = lag_rows(lag.astype(np.int64), minutes, names, queues)
        add_batch(storage, QUEUES, hour, parts)
        add_batch(storage, PEAKS, hour, peaks)
    epochs = LandingWriter(str(folder), c.EPOCHS, run_id="epochs")
    for name in names:
        epochs.append(epoch_of(name))
    epochs.close(START_MS)


def lag_rows(lag: Any, minutes: Any, names: list[str], queues: Any) -> Any:
    """Return the makers of the two families' rows."""
    at = START_MS + minutes * MINUTE

    def parts() -> Any:
        each = np.repeat(lag, QUEUE_COUNT, axis=1).reshape(-1) // QUEUE_COUNT
        since = np.repeat(at, len(queues))
        return table_of(
            dataset_of(QUEUES, 60),
            {
                c.CLUSTER: "hangzhou",
                c.GROUP: pa.array(np.tile(queues, len(minutes))),
                c.TOPIC: "orders",
                c.BROKER: "broker-a",
                c.QUEUE_ID: np.tile(np.arange(QUEUE_COUNT), each.size // QUEUE_COUNT),
                c.EPOCH: 1,
                c.TIME: since,
                c.SECONDS: 60.0,
                c.UNKNOWN_SECONDS: 0.0,
                c.LAG_SECONDS: each * 60.0,
                c.LAG_PEAK: each,
                c.LAG_LAST: each,
                c.LAG_LAST_AT: since + MINUTE,
            },
        )

    def peaks() -> Any:
        return table_of(
            dataset_of(PEAKS, 60),
            {
                c.CLUSTER: "hangzhou",
                c.GROUP: pa.array(np.tile(np.array(names), len(minutes))),
                c.TIME: np.repeat(at, len(names)),
                c.LAG_PEAK: lag.reshape(-1),
            },
        )

    return parts, peaks


def epoch_of(name: str) -> dict[str, Any]:
    """Return the one epoch of a group."""
    named = [
        {c.TOPIC: "orders", c.BROKER: "broker-a", c.QUEUE_ID: number}
        for number in range(QUEUE_COUNT)
    ]
    member = {c.CLIENT_ID: "a", c.STRATEGY: "AVG", c.SUBSCRIPTIONS: None}
    return {
        c.CLUSTER: "hangzhou",
        c.GROUP: name,
        c.EPOCH: [1],
        c.TIME: START_MS,
        c.BEGAN: START_MS,
        c.MODE: "CLUSTERING",
        c.STRATEGY: "AVG",
        c.STRATEGY_SOURCE: "reported",
        c.MEMBERS: [[member]],
        c.QUEUES: [named],
    }


def main() -> None:
    """Write the lake, run the trial, print what it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--groups", type=int, default=500)
    parser.add_argument("--days", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_week(folder / "lake", given.groups, given.days)
        rule = {"kind": "lag", "limit": 40_000, "hold_ms": 600_000}
        (folder / "rule.json").write_text(json.dumps(rule))
        command = [sys.executable, "-m", "analytics", c.JOB_TRIAL]
        command += ["--lake", str(folder / "lake"), "--output", str(folder / "out")]
        command += ["--rule", str(folder / "rule.json"), "--group-pattern", "*"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        with Watch(process.pid) as watch:
            process.wait()
        used = watch.usage
        summary = json.loads((folder / "out" / c.SUMMARY).read_text())
    print(
        f"{given.groups} groups, {given.days} days of {summary['source']}: "
        f"{summary['fired']} openings in {summary['fired_groups']} groups, "
        f"{used.clock:.0f} s, {used.cpu:.0f} s of processor time, "
        f"{used.peak / 1e9:.2f} GB"
    )


if __name__ == "__main__":
    main()
