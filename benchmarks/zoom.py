"""Measure the cost of a zoom for the web process: `python -m benchmarks.zoom`.

Writes rungs of the ladder as a week of many groups leaves them (seeded, without Spark:
the columns that a page reads, the sizes of files that carrying makes), then reads
spans of it as `dashboard.reports.figures.window` does, and prints processor seconds,
wall time and the rows that had to be read. Ten minutes reach over all of it, minutes
over its end.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from analytics import contracts as c
from analytics.errors import LakeError
from analytics.lake.carrying import list_files
from analytics.lake.ladder import PEAKS, QUEUES, Span, dataset_of
from analytics.lake.reader import read_entry
from analytics.lake.steps import finest_step, read_steps
from analytics.lake.storage import Storage, open_storage
from analytics.requests import STEP_LADDER, step_for
from analytics.schemas import schema_of
from benchmarks.lake_generator import START_MS

CLUSTER: Final = "generated"
HOUR_MS: Final = 3_600_000
BATCH_MS: Final = 600_000
ROW_GROUP: Final = 250_000
"""As `analytics.lake.carrying` writes them."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the ladder is; `minutes_hours` is how far its lowest rung reaches."""

    groups: int
    queues: int
    days: float
    minutes_hours: float

    @property
    def end_ms(self) -> int:
        return START_MS + int(self.days * 24) * HOUR_MS


def write_rung(storage: Storage, shape: Shape, level: int, batches: int) -> int:
    """Write a rung in files of so many batches each; return its rows."""
    begin = START_MS
    if level == c.ROLLUP_LEVELS[0]:
        begin = shape.end_ms - int(shape.minutes_hours * HOUR_MS)
        begin -= (begin - START_MS) % (batches * BATCH_MS)
    rows = 0
    for first in range(begin, shape.end_ms, batches * BATCH_MS):
        until = min(first + batches * BATCH_MS, shape.end_ms)
        number = (first - START_MS) // BATCH_MS
        span = Span(number, number + batches - 1)
        times = np.arange(first, until, level * 1000)
        for family, table in (
            (QUEUES, _parts(shape, times)),
            (PEAKS, _peaks(shape, times)),
        ):
            dataset = dataset_of(family, level)
            _put(storage, dataset, table, span, first)
            rows += table.num_rows if family == QUEUES else 0
    return rows


def _put(storage: Storage, dataset: str, table: Any, span: Span, at: int) -> None:
    day = datetime.fromtimestamp(at / 1000, UTC)
    path = f"compact/{dataset}/cluster={CLUSTER}/day={day:%Y-%m-%d}/{span.name}.parquet"
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd", row_group_size=ROW_GROUP)
    data = sink.getvalue().to_pybytes()
    storage.write_new(path, data)
    entry = read_entry(storage, path, len(data))
    list_files(storage, dataset, [entry], span)


def _parts(shape: Shape, times: Any) -> Any:
    """Return rows sorted as files are: by group, topic, broker, queue, time."""
    chance = np.random.default_rng(int(times[0]) % 2**32)
    count = shape.groups * shape.queues * len(times)
    seconds = (times[1] - times[0]) / 1000 if len(times) > 1 else 600.0
    lag = chance.poisson(200, count)
    last = np.cumsum(chance.poisson(300, count))
    columns = {
        **_keys(shape, len(times)),
        c.EPOCH: np.ones(count, dtype=np.int64),
        c.TIME: pa.array(np.tile(times, shape.groups * shape.queues)).cast(
            pa.timestamp("ms", tz="UTC")
        ),
        c.SECONDS: np.full(count, seconds),
        c.UNKNOWN_SECONDS: np.zeros(count),
        c.LAG_SECONDS: lag * seconds,
        c.LAG_PEAK: lag * 2,
        c.LAG_LAST: lag,
        c.LAG_MS_PEAK: lag * 10,
        f"{c.MAX}_last": last,
        f"{c.COMMITTED}_last": last - lag,
    }
    schema = schema_of(dataset_of(QUEUES, 60))
    return pa.table(
        [_column(columns.get(field.name), field.type, count) for field in schema],
        schema=schema,
    )


def _peaks(shape: Shape, times: Any) -> Any:
    count = shape.groups * len(times)
    group = np.repeat(np.arange(shape.groups), len(times))
    columns = {
        c.CLUSTER: [CLUSTER] * count,
        c.GROUP: [_group(int(number)) for number in group],
        c.TIME: pa.array(np.tile(times, shape.groups)).cast(
            pa.timestamp("ms", tz="UTC")
        ),
        c.LAG_PEAK: np.arange(count),
    }
    schema = schema_of(dataset_of(PEAKS, 60))
    return pa.table(
        [_column(columns.get(field.name), field.type, count) for field in schema],
        schema=schema,
    )


def _keys(shape: Shape, steps: int) -> dict[str, Any]:
    group = np.repeat(np.arange(shape.groups), shape.queues * steps)
    queue = np.tile(np.repeat(np.arange(shape.queues), steps), shape.groups)
    groups = pa.array([_group(number) for number in range(shape.groups)])
    topics = pa.array([f"topic-{number % 900:03d}" for number in range(shape.groups)])
    return {
        c.CLUSTER: pa.repeat(CLUSTER, len(group)),
        c.GROUP: groups.take(pa.array(group)),
        c.TOPIC: topics.take(pa.array(group)),
        c.BROKER: pa.repeat("broker-a", len(group)),
        c.QUEUE_ID: queue,
    }


def _group(number: int) -> str:
    return f"group-{number:05d}"


def _column(values: Any, kind: Any, count: int) -> Any:
    if values is None:
        return pa.nulls(count, kind)
    return pa.array(values).cast(kind) if not isinstance(values, pa.Array) else values


def questions(shape: Shape) -> Iterator[tuple[str, str, int, int, int]]:
    """Yield what is asked: words, group, begin and end (ms), most rows."""
    end = shape.end_ms
    one, all_ = _group(shape.groups // 2), ""
    for hours in (3, 12):
        yield f"1 group, {hours} h", one, end - hours * HOUR_MS, end, 20_000_000
    for days in (1, 5):
        yield f"1 group, {days} d", one, end - days * 24 * HOUR_MS, end, 20_000_000
    yield "all groups, 12 h", all_, end - 12 * HOUR_MS, end, 4_000_000
    yield "all groups, 1 d", all_, end - 24 * HOUR_MS, end, 4_000_000


def ask(storage: Storage, group: str, since: int, until: int, most: int) -> str:
    """Read a span as the page does; return what it took."""
    begin, wall = time.process_time(), time.perf_counter()
    finest = finest_step(
        storage,
        cluster=CLUSTER,
        since_ms=since,
        until_ms=until,
        at_least=step_for(until - since),
    )
    for step in (each for each in STEP_LADDER if each >= finest):
        try:
            found = read_steps(
                storage,
                cluster=CLUSTER,
                group=group,
                since_ms=since - since % (step * 1000),
                until_ms=until,
                step_seconds=step,
                most_rows=most,
            )
        except LakeError:
            continue
        break
    else:
        return "too many rows in every step"
    took, clock = time.process_time() - begin, time.perf_counter() - wall
    return (
        f"steps of {step:>4} s from {found.source}: {took:.2f} s of processors, "
        f"{clock:.2f} s, {found.rows_read:,} rows read, "
        f"{found.by_queue.num_rows:,} kept"
    )


def main() -> None:
    """Read the command line, write the ladder, ask."""
    parser = argparse.ArgumentParser(description="Cost of a zoom over the ladder.")
    parser.add_argument("--lake", help="folder to write to, or to find it in")
    parser.add_argument("--groups", type=int, default=2300)
    parser.add_argument("--queues", type=int, default=16)
    parser.add_argument("--days", type=float, default=7)
    parser.add_argument("--minutes-hours", type=float, default=14)
    given = parser.parse_args()
    shape = Shape(given.groups, given.queues, given.days, given.minutes_hours)
    folder = given.lake or tempfile.mkdtemp(prefix="rocketscope-zoom-")
    Path(folder).mkdir(parents=True, exist_ok=True)
    storage = open_storage(folder)
    if not any(Path(folder).iterdir()):
        for level, batches in ((600, 100), (60, 10)):
            rows = write_rung(storage, shape, level, batches)
            print(f"{dataset_of(QUEUES, level)}: {rows:,} rows", flush=True)
    size = sum(each.stat().st_size for each in Path(folder).rglob("*.parquet"))
    print(f"{size / 1e6:,.0f} MB in {folder}")
    for words, group, since, until, most in questions(shape):
        answer = ask(storage, group, since, until, most)
        print(f"{words:>17}: {answer}", flush=True)


if __name__ == "__main__":
    main()
