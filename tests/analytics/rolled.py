"""Roll-ups worked out in plain Python, for tests that have no Spark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pyarrow as pa

from analytics import contracts as c
from analytics.lake.carrying import add_batch, carry
from analytics.lake.ladder import PEAKS, QUEUES, dataset_of
from analytics.lake.manifest import FileEntry, Manifest, update_manifest
from analytics.lake.reader import read_file, read_table
from analytics.lake.storage import Storage
from analytics.schemas import schema_of

MINUTE: Final = 60
_KEY: Final = (*c.QUEUE_KEY, c.EPOCH)
_STEP: Final = "step"
_SUMS: Final = (c.SECONDS, c.UNKNOWN_SECONDS, c.LAG_SECONDS)


def roll_by_hand(
    storage: Storage, batch: int, since: datetime, until: datetime
) -> None:
    """Put the samples of [since, until) on the lowest rung, as one batch."""
    rows = read_table(
        storage, c.SAMPLES, since_ms=_ms(since), until_ms=_ms(until)
    ).to_pylist()
    for family, made in ((QUEUES, _parts(rows)), (PEAKS, _peaks(rows))):
        schema = schema_of(dataset_of(family, MINUTE))
        table = pa.Table.from_pylist(made, schema=schema)
        add_batch(storage, family, batch, lambda table=table: table)


def carry_by_hand(storage: Storage, now_ms: int) -> None:
    """Carry what is complete, up to the top."""
    for family in (QUEUES, PEAKS):

        def merge(files: list[FileEntry], step_ms: int, family: str = family) -> Any:
            dataset = dataset_of(family, MINUTE)
            rows = [
                row
                for file in files
                for row in read_file(storage, dataset, file.path).to_pylist()
            ]
            step = timedelta(milliseconds=step_ms)
            merged = _merged(rows, step, family)
            return pa.Table.from_pylist(merged, schema=schema_of(dataset))

        for lower, upper in zip(c.ROLLUP_LEVELS, c.ROLLUP_LEVELS[1:], strict=False):
            carry(storage, family, lower, upper, merge=merge, now_ms=now_ms)


def let_samples_go(storage: Storage) -> None:
    """Take all samples out of the lake, as retention does in time."""

    def change(manifest: Manifest) -> Manifest:
        return manifest.expiring([file.path for file in manifest.files], 0)

    update_manifest(storage, c.SAMPLES, change)


def _parts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    by_step: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for piece in _pieces(rows):
        by_step[(*(piece[k] for k in _KEY), piece[_STEP])].append(piece)
    return [
        dict(zip((*_KEY, c.TIME), key, strict=True)) | _sums(each)
        for key, each in by_step.items()
    ]


def _pieces(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Cut what rows claim at the borders of minutes; a claim of nothing has a piece."""
    whole = timedelta(seconds=MINUTE)
    for row in rows:
        end = row[c.TIME]
        begin = end - timedelta(seconds=row[c.WEIGHT])
        step = _floor(end - timedelta(milliseconds=1))
        while True:
            piece = min(end, step + whole) - max(begin, step)
            yield row | {_STEP: step, c.WEIGHT: piece.total_seconds()}
            if step <= begin:
                break
            step -= whole


def _sums(rows: list[dict[str, Any]]) -> dict[str, Any]:
    known = [(_lag(row), row[c.WEIGHT]) for row in rows if _lag(row) is not None]
    ages = [row[c.LAG_MS] for row in rows if row[c.LAG_MS] is not None]
    seconds = sum(weight for _lag_, weight in known)
    return {
        c.SECONDS: float(seconds),
        c.UNKNOWN_SECONDS: sum(row[c.WEIGHT] for row in rows) - seconds,
        c.LAG_SECONDS: sum(lag * weight for lag, weight in known) if known else None,
        c.LAG_PEAK: max((lag for lag, _weight in known), default=None),
        c.LAG_MS_PEAK: max(ages, default=None),
    }


def _peaks(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    at_once: dict[Any, list[int]] = defaultdict(list)
    for row in _pieces(rows):
        lag = _lag(row)
        for topic in (None, row[c.TOPIC]):
            key = (row[c.CLUSTER], row[c.GROUP], topic, row[_STEP], row[c.TIME])
            at_once[key] += [] if lag is None else [lag]
    steps: dict[Any, list[int]] = defaultdict(list)
    for (*key, _time), lags in at_once.items():
        peaks = steps[tuple(key)]
        peaks += [sum(lags)] if lags else []
    return [
        {
            **dict(zip((c.CLUSTER, c.GROUP, c.TOPIC, c.TIME), key, strict=True)),
            c.LAG_PEAK: max(peaks, default=None),
        }
        for key, peaks in steps.items()
    ]


def _merged(
    rows: list[dict[str, Any]], step: timedelta, family: str
) -> list[dict[str, Any]]:
    names = _KEY if family == QUEUES else (c.CLUSTER, c.GROUP, c.TOPIC)
    by_step: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_step[(*(row[k] for k in names), _floor(row[c.TIME], step))].append(row)
    return [
        dict(zip((*names, c.TIME), key, strict=True)) | dict(_added(each, family))
        for key, each in by_step.items()
    ]


def _added(rows: list[dict[str, Any]], family: str) -> Iterator[tuple[str, Any]]:
    for name in _SUMS if family == QUEUES else ():
        known = [row[name] for row in rows if row[name] is not None]
        yield name, sum(known) if known else None
    for name in (c.LAG_PEAK, c.LAG_MS_PEAK) if family == QUEUES else (c.LAG_PEAK,):
        yield name, max((r[name] for r in rows if r[name] is not None), default=None)


def _lag(row: dict[str, Any]) -> int | None:
    if row[c.MAX] is None or row[c.COMMITTED] is None:
        return None
    return max(0, int(row[c.MAX] - row[c.COMMITTED]))


def _floor(time: datetime, step: timedelta = timedelta(seconds=MINUTE)) -> datetime:
    return time - (time - datetime(1970, 1, 1, tzinfo=UTC)) % step


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
