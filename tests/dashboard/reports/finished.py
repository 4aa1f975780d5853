"""A finished run whose data sets are written by hand, in the schemas of the jobs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from django.utils import timezone
from pyarrow import parquet

from analytics import contracts as c
from dashboard.models import Cluster, Epoch, JobRun
from dashboard.reports.data.tables import TABLES, Kind

SINCE: Final = datetime(2026, 3, 13, tzinfo=UTC)
STEP: Final = timedelta(minutes=1)
STEPS: Final = 10
MISSING: Final = (4, 5, 6)
"""Steps in which nothing was collected."""

_TYPES: Final = {
    Kind.TEXT: pa.string(),
    Kind.COUNT: pa.int64(),
    Kind.NUMBER: pa.float64(),
    Kind.TIME: pa.timestamp("us", tz="UTC"),
    Kind.FLAG: pa.bool_(),
}


def _strategy(
    name: str,
    rank: int | None,
    skew: float | None,
    moves: int,
    *,
    drain: tuple[float | None, float | None],
    overload: float | None,
) -> dict[str, Any]:
    is_known = skew is not None
    return {
        c.STRATEGY: name,
        c.RANK: rank,
        c.IN_USE: name == "AVG",
        c.STRATEGY_SOURCE: "assumed" if name == "AVG" else None,
        c.EPOCH_COUNT: 2,
        "load_max_to_mean": skew,
        "load_variation": skew and skew / 10,
        "load_gini": skew and skew / 100,
        "lag_max_to_mean": skew and 1 + skew,
        "lag_variation": None,
        "lag_gini": 0.0 if is_known else None,
        c.IDLE_SHARE: 0.25,
        c.MOVES: moves,
        c.MOVES_PER_CHANGE: moves / 1,
        c.DRAIN_PEAK: drain[0],
        c.NEVER_SECONDS: drain[1],
        c.OVERLOAD_SECONDS: overload,
        c.UNOWNED_COUNT: 0 if is_known else None,
        c.SECONDS: 360.0,
    }


STRATEGY_ROWS: Final = (
    _strategy("CONSISTENT_HASH", None, None, 1, drain=(None, None), overload=None),
    _strategy("AVG", 2, 1.5, 4, drain=(600.0, 120.0), overload=60.0),
    _strategy("in_use+1", None, 1.4, 3, drain=(None, None), overload=30.0),
    _strategy("BALANCED", None, 1.125, 2, drain=(30.0, 0.0), overload=0.0),
    _strategy("AVG_BY_CIRCLE", 1, 1.25, 9, drain=(90.5, 0.0), overload=0.0),
)
"""AVG, in use, never drains for two minutes; of one strategy nothing is known."""


def moment(step: int) -> datetime:
    return SINCE + STEP * step


def write_table(folder: Path, key: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows as a job would: missing columns are null, in several files."""
    schema = pa.schema(
        [(column.key, _TYPES[column.kind]) for column in TABLES[key].columns]
    )
    (folder / key).mkdir(parents=True)
    half = len(rows) // 2
    for number, part in enumerate((rows[half:], rows[:half])):
        table = pa.Table.from_pylist(list(part), schema=schema)
        parquet.write_table(table, folder / key / f"part-{number}.parquet")
    (folder / key / "_SUCCESS").touch()


def finished_run(
    lake: Path,
    *,
    group: str = "settlement",
    groups: Sequence[str] = ("settlement",),
    consumers: Sequence[str] = ("=1+1",),
    step: timedelta = STEP,
    steps: int = STEPS,
    unknown: Collection[tuple[int, int]] = (),
    pk: int | None = None,
) -> JobRun:
    """Return a run that is done: two queues a group, ten minutes, three missing.

    Of `unknown` (step, queue) no lag and no rate is known, as of no queue in step 0.
    """
    tables = _tables(groups, consumers, step, steps, unknown)
    until = SINCE + step * steps
    run = JobRun.objects.create(
        pk=pk,
        job="report",
        cluster="hangzhou",
        group=group,
        since=SINCE,
        until=until,
        state=JobRun.State.DONE,
        part=1.0,
        asked_at=timezone.now(),
        asked_by_name="olga",
        finished_at=timezone.now(),
        size_bytes=12_345,
        summary={
            "since": SINCE.isoformat(),
            "until": until.isoformat(),
            "step_seconds": round(step.total_seconds()),
            "rows": {key: len(rows) for key, rows in tables.items()},
        },
    )
    for key, rows in tables.items():
        write_table(lake / "results" / run.folder, key, rows)
    return run


def two_epochs(group: str = "settlement") -> None:
    """Keep two epochs: one member, and from the third minute on two."""
    cluster, _made = Cluster.objects.get_or_create(name="hangzhou")
    for number, began, ended in ((7, SINCE - STEP, moment(3)), (8, moment(3), None)):
        Epoch.objects.create(
            cluster=cluster,
            group=group,
            number=number,
            members=[{"client_id": str(place)} for place in range(number - 6)],
            cause=Epoch.Cause.FIRST_SEEN,
            began_by=began,
            ended_by=ended,
        )


def _tables(
    groups: Sequence[str],
    consumers: Sequence[str],
    step: timedelta,
    steps: int,
    unknown: Collection[tuple[int, int]],
) -> dict[str, list[dict[str, Any]]]:
    seen = [number for number in range(steps) if number not in MISSING]
    keyed = [
        ({c.CLUSTER: "hangzhou", c.GROUP: group}, place, number)
        for place, group in enumerate(groups)
        for number in seen
    ]
    seconds = step.total_seconds()

    def known(number: int) -> list[int]:
        """Return the queues whose lag and rates are known in a step."""
        return [queue for queue in (0, 1) if number and (number, queue) not in unknown]

    def timed(number: int) -> dict[str, Any]:
        return {c.SINCE: SINCE + step * number}

    return {
        c.LAG_BY_GROUP: [
            keys
            | timed(number)
            | {
                c.SECONDS: seconds if known(number) else 0.0,
                c.UNKNOWN_SECONDS: 0.0 if len(known(number)) == 2 else seconds,
                c.QUEUE_COUNT: 2,
                c.KNOWN_QUEUES: len(known(number)),
                c.LAG_MEAN: _sum(known(number), 50.5 * number * (place + 1)),
                c.LAG_PEAK: _sum(known(number), 75 * number * (place + 1)),
                c.LAG_LAST: _sum(known(number), 50 * number),
                c.LAG_MS_PEAK: 10_000 * number if known(number) else None,
                c.IN_RATE: _sum(known(number), 10.0),
                c.OUT_RATE: _sum(known(number), 5.0),
            }
            for keys, place, number in keyed
        ],
        c.LAG_BY_QUEUE: [
            keys
            | timed(number)
            | {
                c.TOPIC: "orders",
                c.BROKER: "broker-a",
                c.QUEUE_ID: queue,
                c.SECONDS: seconds if queue in known(number) else 0.0,
                c.UNKNOWN_SECONDS: 0.0 if queue in known(number) else seconds,
            }
            | (
                {
                    c.LAG_MEAN: 50.5 * number * (place + 1),
                    c.LAG_MS_PEAK: 10_000 * number,
                    c.IN_RATE: 10.0,
                    c.OUT_RATE: 5.0,
                }
                if queue in known(number)
                else {}
            )
            for keys, place, number in keyed
            for queue in (1, 0)
        ],
        c.LAG_BY_CONSUMER: [
            keys
            | timed(number)
            | {
                c.CLIENT_ID: name,
                c.QUEUE_COUNT: 1,
                c.KNOWN_QUEUES: 1,
                c.LAG_MEAN: 1.0,
            }
            for keys, _place, number in keyed
            for name in consumers
        ],
        c.STRATEGIES: [
            {c.CLUSTER: "hangzhou", c.GROUP: group} | row
            for group in groups
            for row in STRATEGY_ROWS
        ],
        c.MEMBER_BY_TIME: [
            keys
            | timed(number)
            | {
                c.EPOCH: 7,
                c.STRATEGY: strategy,
                c.CLIENT_ID: name,
                c.SECONDS: seconds,
                c.QUEUE_COUNT: 2,
                c.KNOWN_QUEUES: len(known(number)),
                c.LAG_MEAN: 1.0,
                c.LOAD: load * (member + 1) if known(number) else None,
            }
            for keys, _place, number in keyed
            for strategy, load in (("AVG", 30.0), ("BALANCED", 22.5))
            for member, name in enumerate(consumers)
        ],
        c.SKEW_BY_TIME: [
            keys
            | timed(number)
            | {
                c.EPOCH: 7,
                c.STRATEGY: "AVG",
                c.SECONDS: seconds,
                "load_max_to_mean": 1.5 if len(known(number)) == 2 else None,
            }
            for keys, _place, number in keyed
        ],
    }


def _sum(known: Sequence[int], each: float) -> float | None:
    return len(known) * each if known else None
