"""Roll-ups worked out in plain Python, for tests that have no Spark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

import pyarrow as pa

from analytics import contracts as c
from analytics.lake.carrying import add_batch
from analytics.lake.ladder import FAMILIES, PEAKS, QUEUES, dataset_of
from analytics.lake.manifest import (
    Manifest,
    load_manifest,
    update_manifest,
)
from analytics.lake.reader import read_file, read_table
from analytics.lake.storage import Storage
from analytics.schemas import schema_of

MINUTE: Final = 60
_KEY: Final = (*c.QUEUE_KEY, c.EPOCH)
_STEP: Final = "step"
_IS_OWN: Final = "is_own"
_LAG: Final = "lag"
_SUMS: Final = (c.SECONDS, c.UNKNOWN_SECONDS, c.LAG_SECONDS, c.OVER_SECONDS)


def roll_by_hand(
    storage: Storage, batch: int, since: datetime, until: datetime
) -> None:
    """Put the samples of [since, until) on the lowest rung, as one batch."""
    rows = read_table(
        storage, c.SAMPLES, since_ms=_ms(since), until_ms=_ms(until)
    ).to_pylist()
    for family, made in (
        (QUEUES, parts_by_hand(rows)),
        (PEAKS, peaks_by_hand(rows)),
    ):
        schema = schema_of(dataset_of(family, MINUTE))
        table = pa.Table.from_pylist(made, schema=schema)
        add_batch(storage, family, batch, lambda table=table: table)


def rungs(storage: Storage) -> dict[str, list[str]]:
    """Return the names and rows of all files on the ladder, by data set."""
    return {
        f"{family} {level}": sorted(
            f"{file.path} {row}"
            for file in load_manifest(storage, dataset_of(family, level)).files
            for row in read_file(
                storage, dataset_of(family, level), file.path
            ).to_pylist()
        )
        for family in FAMILIES
        for level in c.ROLLUP_LEVELS
    }


def let_samples_go(storage: Storage) -> None:
    """Take all samples out of the lake, as retention does in time."""

    def change(manifest: Manifest) -> Manifest:
        return manifest.expiring([file.path for file in manifest.files], 0)

    update_manifest(storage, c.SAMPLES, change)


def parts_by_hand(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the parts of samples in steps of a minute."""
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
        claim = int(Decimal(row[c.WEIGHT] * 1000).quantize(0, ROUND_HALF_UP))
        begin = end - timedelta(milliseconds=min(claim, 60_000))
        own = step = _floor(end - timedelta(milliseconds=1))
        while True:
            piece = min(end, step + whole) - max(begin, step)
            claimed = {_STEP: step, c.WEIGHT: piece.total_seconds()}
            yield row | claimed | {_IS_OWN: step == own}
            if step <= begin:
                break
            step -= whole


def _sums(rows: list[dict[str, Any]]) -> dict[str, Any]:
    known = [row | {_LAG: _lag(row)} for row in rows if _lag(row) is not None]
    seconds = sum(row[c.WEIGHT] for row in known)
    aged = [row for row in known if row[c.LAG_MS] is not None]
    over = sum(row[c.WEIGHT] for row in aged if row[c.LAG_MS] > c.OVER_MS)
    last = max(known, key=lambda row: row[c.TIME], default=None)
    found = {
        c.SECONDS: float(seconds),
        c.UNKNOWN_SECONDS: sum(row[c.WEIGHT] for row in rows) - seconds,
        c.LAG_SECONDS: _known_sum([row[_LAG] * row[c.WEIGHT] for row in known]),
        c.LAG_PEAK: _most(row[_LAG] for row in known),
        c.LAG_LAST: last and last[_LAG],
        c.LAG_LAST_AT: last and _ms(last[c.TIME]),
        c.LAG_MS_PEAK: _most(row[c.LAG_MS] for row in rows),
        c.OVER_SECONDS: float(over) if aged else None,
    }
    for offset in (c.MAX, c.COMMITTED):
        seen = [row for row in rows if row[_IS_OWN] and row[offset] is not None]
        seen.sort(key=lambda row: row[c.TIME])
        for end, row in zip(("first", "last"), (seen[:1], seen[-1:]), strict=True):
            found[f"{offset}_{end}_at"] = _ms(row[0][c.TIME]) if row else None
            found[f"{offset}_{end}"] = row[0][offset] if row else None
    return found


def peaks_by_hand(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the peaks of samples in steps of a minute."""
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


def merged_by_hand(
    rows: list[dict[str, Any]], step: timedelta, family: str
) -> list[dict[str, Any]]:
    """Merge parts, or peaks, into those of a step at least as long."""
    names = _KEY if family == QUEUES else (c.CLUSTER, c.GROUP, c.TOPIC)
    by_step: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_step[(*(row[k] for k in names), _floor(row[c.TIME], step))].append(row)
    return [
        dict(zip((*names, c.TIME), key, strict=True))
        | ({c.LAG_PEAK: _most(row[c.LAG_PEAK] for row in each)})
        | (_added(each) if family == QUEUES else {})
        for key, each in by_step.items()
    ]


def _added(rows: list[dict[str, Any]]) -> dict[str, Any]:
    found = {name: _known_sum([row[name] for row in rows]) for name in _SUMS}
    found[c.LAG_MS_PEAK] = _most(row[c.LAG_MS_PEAK] for row in rows)
    edges = [(c.LAG_LAST, max)]
    edges += [(f"{offset}_first", min) for offset in (c.MAX, c.COMMITTED)]
    edges += [(f"{offset}_last", max) for offset in (c.MAX, c.COMMITTED)]
    for name, edge in edges:
        at = f"{name}_at"
        known = [row for row in rows if row[at] is not None]
        row = edge(known, key=lambda row: row[at], default={name: None, at: None})
        found |= {name: row[name], at: row[at]}
    return found


def _known_sum(values: list[Any]) -> Any:
    known = [value for value in values if value is not None]
    return float(sum(known)) if known else None


def _most(values: Iterable[Any]) -> Any:
    return max((value for value in values if value is not None), default=None)


def _lag(row: dict[str, Any]) -> int | None:
    if row[c.MAX] is None or row[c.COMMITTED] is None:
        return None
    return max(0, int(row[c.MAX] - row[c.COMMITTED]))


def _floor(time: datetime, step: timedelta = timedelta(seconds=MINUTE)) -> datetime:
    return time - (time - datetime(1970, 1, 1, tzinfo=UTC)) % step


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
