"""Do roll-ups keep up with a large cluster, and how long does a week of them take?

python -m benchmarks.rollup_rate [--minutes 100] [--groups 2300] [--only keep-up|week]

*Keeping up*: 16 busy queues of each group, sampled every ten seconds, land minute by
minute. Every ten minutes of the data the roll-up runs, in an analytics process of its
own that is started for it as in life (it ends when idle for five minutes), and the lake
is kept in order as `maintain_lake` does. A hundred minutes are the shortest span with a
carry to the rung of ten minutes. It prints elapsed time and processor time for an hour
of data, and their share of an hour of this machine; more than half is a failure.

*A week*: 371 million minutes of queues would take hours to make here, and a job would
not read them (`MOST_ROWS`). So the rungs of ten minutes and of hours are made directly,
seeded, with the schema, the names and the sorting that `roll_up` gives them; then
`python -m analytics backtest` compares six strategies over them, in a process of its
own, from a cold start. The lake stays in `--lakes` for the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c
from analytics.lake.carrying import list_files, put
from analytics.lake.compaction import absorb, compact
from analytics.lake.ladder import CARRY, PEAKS, QUEUES, Span, dataset_of
from analytics.lake.manifest import load_manifest
from analytics.lake.naming import LANDING
from analytics.lake.retention import sweep_landing
from analytics.lake.storage import open_storage
from analytics.lake.streamed import unread_files
from analytics.lake.writer import LandingWriter
from analytics.requests import JobRequest
from analytics.schemas import PARTS
from analytics.schemas import PEAKS as PEAKS_SCHEMA
from benchmarks.backtest.contender import STRATEGIES
from benchmarks.lake_generator import (
    OPTIONS,
    SWEEP_MS,
    Groups,
    Shape,
    epochs_of,
    key_columns,
    land,
    write_options,
)
from benchmarks.usage import Usage, Watch
from dashboard.jobs.child import AnalyticsChild, child_environment

T = TypeVar("T")

ROUND_MINUTES: Final = 10
MOST_SHARE: Final = 0.5
STEP_MS: Final = 600_000
HOUR_MS: Final = 3_600_000
STEPS_A_FILE: Final = CARRY
"""Ten batches of ten minutes each are in a file of the rung of ten minutes."""
WEEK_HOURS: Final = 168
WEEK_CHANGES: Final = 4.0


def main() -> None:
    """Run both parts, or the one asked for."""
    given = _arguments()
    shape = Shape(groups=given.groups, hours=given.minutes / 60, idle_share=0.0)
    share = 0.0
    if given.only != "week":
        share = _keep_up(shape, given.minutes)
    if given.only != "keep-up":
        _back_test_of_a_week(given.lakes, given.groups)
    if share > MOST_SHARE:
        raise SystemExit(f"roll-ups need {share:.0%} of the machine")


def _keep_up(shape: Shape, minutes: int) -> float:
    with tempfile.TemporaryDirectory(prefix="rollup-rate-") as name:
        landed, lake = Path(name, "landed"), Path(name, "lake")
        rows = land(str(landed), shape)
        print(f"{rows:,} samples of {minutes} minutes landed", flush=True)
        total = Usage(0.0, 0.0, 0)
        for number, files in enumerate(_rounds(landed)):
            for file in files:
                target = lake / file.relative_to(landed)
                target.parent.mkdir(parents=True, exist_ok=True)
                file.rename(target)
            with Watch(os.getpid()) as watch:
                done = _round(lake)
            used = watch.usage
            total = Usage(
                total.clock + used.clock,
                total.cpu + used.cpu,
                max(total.peak, used.peak),
            )
            print(
                f"round {number:2}: {used.clock:6.1f} s, {used.cpu:6.1f} s of "
                f"processors, {used.peak / 1e6:6,.0f} MB; {done}",
                flush=True,
            )
    cores = os.cpu_count() or 1
    hours = minutes / 60
    share = total.cpu / (cores * minutes * 60)
    print(
        f"an hour of {shape.groups:,} groups x {shape.queues} queues: "
        f"{rows / hours:,.0f} samples, {total.clock / hours:.0f} s, "
        f"{total.cpu / hours:.0f} s of processors, {total.peak / 1e6:,.0f} MB at most\n"
        f"share of real time: {total.clock / (minutes * 60):.3f} by the clock, "
        f"{share:.3f} of {cores} processors  (at most {MOST_SHARE})"
    )
    return share


def _rounds(landed: Path) -> Iterator[list[Path]]:
    """Yield landing files by ten minutes; those of epochs come with the first."""
    epochs = sorted((landed / LANDING / c.EPOCHS).rglob("*.parquet"))
    samples = sorted((landed / LANDING / c.SAMPLES).rglob("*.parquet"))
    for number, files in enumerate(batched(samples, ROUND_MINUTES)):
        yield [*epochs, *files] if number == 0 else [*files]


def _round(lake: Path) -> dict[str, int]:
    """Do what the analytics worker does every ten minutes."""
    child = AnalyticsChild(child_environment() | {"ROCKETSCOPE_VAR_DIR": f"{lake}/var"})
    done: dict[str, int] = {}
    try:
        for event in child.run(
            "rollup", JobRequest(c.JOB_ROLLUP, str(lake), str(lake))
        ):
            if event is None or event["event"] == "progress":
                continue
            if event["event"] != "done":
                raise SystemExit(f"the roll-up ended: {event}")
            done = {name: event["summary"][name] for name in ("files", "carried")}
    finally:
        child.stop()
    storage = open_storage(str(lake))
    now_ms = int(time.time() * 1000)
    absorb(storage, c.SAMPLES)
    done["merged"] = compact(storage, c.SAMPLES, now_ms)
    unread = unread_files(storage, c.SAMPLES)
    done["deleted"] = sweep_landing(storage, c.SAMPLES, now_ms, unread).deleted
    absorb(storage, c.EPOCHS)
    return done


def _back_test_of_a_week(lakes: Path, groups: int) -> None:
    lake = lakes / f"week-{groups}"
    done = lake / "made"
    if not done.exists():
        began = time.perf_counter()
        make_ladder(str(lake), Shape(groups=groups, hours=WEEK_HOURS, idle_share=0.0))
        done.write_text("")
        print(f"ladder of a week made in {time.perf_counter() - began:.0f} s")
    storage = open_storage(str(lake))
    rows = load_manifest(storage, dataset_of(QUEUES, STEP_MS // 1000)).rows
    epochs = load_manifest(storage, c.EPOCHS).rows
    print(f"{lake}: {rows:,} ten minutes of queues, {epochs:,} epochs", flush=True)
    with tempfile.TemporaryDirectory(prefix="rollup-week-") as output:
        command = [sys.executable, "-m", "analytics", "backtest", "--lake", str(lake)]
        command += ["--output", output, "--options", str(lake / OPTIONS)]
        for name in STRATEGIES:
            command += ["--strategy", name]
        with Watch(os.getpid()) as watch:
            told = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    summary = json.loads(told)
    used = watch.usage
    print(
        f"back-test from {summary['source']}, {summary['samples']:,} rows, in steps of "
        f"{summary['step_seconds']} s: {used.clock / 60:.1f} minutes, "
        f"{used.cpu / 60:.1f} minutes of processors, {used.peak / 1e6:,.0f} MB at most"
        f"\nrows written: {summary['rows']}"
    )


def make_ladder(lake: str, shape: Shape) -> None:
    """Write epochs, and the rungs of ten minutes and of hours, in whole files."""
    storage = open_storage(lake)
    groups = Groups(shape)
    names = key_columns(shape)
    epochs = LandingWriter(lake, c.EPOCHS, run_id=f"seed{shape.seed}")
    epochs.append(epochs_of(groups, range(shape.groups), shape.start_ms))
    steps = int(shape.hours * HOUR_MS / STEP_MS)
    waiting: list[pa.Table] = []
    for number, span in enumerate(batched(range(steps), STEPS_A_FILE)):
        made = []
        for step in span:
            now_ms = shape.start_ms + step * STEP_MS
            changed = groups.change_members(STEP_MS) if step else []
            if changed:
                epochs.append(epochs_of(groups, changed, now_ms))
            made.append(_parts(groups, names, now_ms))
        parts = pa.concat_tables(made)
        first = number * CARRY
        _put(storage, QUEUES, 600, parts, Span(first, first + CARRY - 1))
        _put(storage, PEAKS, 600, _peaks(parts), Span(first, first + CARRY - 1))
        waiting.append(parts)
        if len(waiting) == CARRY:
            raised = _raised(pa.concat_tables(waiting))
            span_above = Span(first + CARRY - CARRY**2, first + CARRY - 1)
            _put(storage, QUEUES, 3600, raised, span_above)
            _put(storage, PEAKS, 3600, _peaks(raised), span_above)
            waiting.clear()
    report = epochs.close(shape.start_ms)
    if report.error:
        raise SystemExit(f"the lake cannot be written: {report.error}")
    absorb(storage, c.EPOCHS)
    compact(storage, c.EPOCHS, int(time.time() * 1000))
    write_options(lake, groups)


def _put(storage: Any, family: str, level: int, table: pa.Table, span: Span) -> None:
    dataset = dataset_of(family, level)
    list_files(storage, dataset, put(storage, dataset, table, span), span)


def _parts(groups: Groups, names: dict[str, Any], now_ms: int) -> pa.Table:
    """Let ten minutes pass; return what sixty samples of each queue would sum up to."""
    shape = groups.shape
    first = {c.MAX: groups.top.copy(), c.COMMITTED: groups.done.copy()}
    groups.step(now_ms, STEP_MS)
    last = {c.MAX: groups.top, c.COMMITTED: groups.done}
    lags = [ends[c.MAX] - ends[c.COMMITTED] for ends in (first, last)]
    seconds = STEP_MS / 1000
    rate = np.maximum(groups.capacity, 1e-9)[:, None] / shape.queues
    age_ms = (lags[1] / rate * 1000).astype(np.int64).ravel()
    count = shape.groups * shape.queues
    ends_at = {"first": now_ms, "last": now_ms + STEP_MS - SWEEP_MS}
    columns: dict[str, Any] = {
        **names,
        c.CLUSTER: [shape.cluster] * count,
        c.EPOCH: np.repeat(groups.epoch, shape.queues),
        c.TIME: pa.array(np.full(count, now_ms)).cast(PARTS.field(c.TIME).type),
        c.SECONDS: np.full(count, seconds),
        c.UNKNOWN_SECONDS: np.zeros(count),
        c.LAG_SECONDS: ((lags[0] + lags[1]) / 2 * seconds).ravel(),
        c.LAG_PEAK: np.maximum(*lags).astype(np.int64).ravel(),
        c.LAG_LAST: lags[1].astype(np.int64).ravel(),
        c.LAG_LAST_AT: np.full(count, ends_at["last"]),
        c.LAG_MS_PEAK: age_ms,
        c.OVER_SECONDS: np.where(age_ms > c.OVER_MS, seconds, 0.0),
    }
    for offset in (c.MAX, c.COMMITTED):
        for end, values in (("first", first), ("last", last)):
            columns[f"{offset}_{end}"] = values[offset].astype(np.int64).ravel()
            columns[f"{offset}_{end}_at"] = np.full(count, ends_at[end])
    return pa.table({name: columns[name] for name in PARTS.names}).cast(PARTS)


def _raised(parts: pa.Table) -> pa.Table:
    """Merge parts of ten minutes into those of hours."""
    hour = pc.floor_temporal(parts[c.TIME], unit="hour")
    parts = parts.set_column(parts.schema.get_field_index(c.TIME), c.TIME, hour)
    keys = [*c.QUEUE_KEY, c.EPOCH, c.TIME]
    sums = {c.SECONDS, c.UNKNOWN_SECONDS, c.LAG_SECONDS, c.OVER_SECONDS}
    how = {
        name: "sum" if name in sums else "min" if "_first" in name else "max"
        for name in PARTS.names
        if name not in keys
    }
    how[c.LAG_LAST] = "last"  # rows are in the order of time
    merged = parts.group_by(keys, use_threads=False).aggregate(list(how.items()))
    return merged.rename_columns([*keys, *how]).select(PARTS.names).cast(PARTS)


def _peaks(parts: pa.Table) -> pa.Table:
    """Return the peaks of groups and topics; each group here has one topic."""
    keys = [c.CLUSTER, c.GROUP, c.TOPIC, c.TIME]
    by_topic = parts.group_by(keys).aggregate([(c.LAG_PEAK, "sum")])
    by_topic = by_topic.rename_columns([*keys, c.LAG_PEAK]).select(PEAKS_SCHEMA.names)
    by_topic = by_topic.cast(PEAKS_SCHEMA)
    nothing = pa.nulls(by_topic.num_rows, pa.string())
    place = PEAKS_SCHEMA.get_field_index(c.TOPIC)
    field = PEAKS_SCHEMA.field(c.TOPIC)
    return pa.concat_tables([by_topic, by_topic.set_column(place, field, nothing)])


def batched(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield runs of so many items, the last of which may be shorter."""
    for at in range(0, len(items), size):
        yield items[at : at + size]


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--minutes", type=int, default=100, help="of data to keep up with"
    )
    parser.add_argument("--groups", type=int, default=2300)
    parser.add_argument("--only", choices=["keep-up", "week"])
    parser.add_argument(
        "--lakes",
        type=Path,
        default=Path(tempfile.gettempdir()) / "rocketscope-lakes",
        help="folder that keeps the week's lake",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
