"""Each second of a period is known or unknown, whatever happened to the sweeps.

Looks at two groups are drawn (seeded): sweeps late and lost, a broker that is silent, a
broker that is not named, a collector that is away, epochs that turn. The collector's
own sampler makes samples of them. What a job tells of every queue is held against the
looks themselves, second by second, from samples and from every rung.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics import jobs
from analytics.jobs import run_job
from analytics.lake.compaction import absorb
from analytics.lake.ladder import dataset_of
from analytics.lake.storage import Storage, open_storage
from analytics.lake.writer import LandingWriter
from analytics.requests import JobRequest
from analytics.sources import choose_source
from dashboard.collector.samples import SampleColumns, Sampler
from rmqcore.model.columns import Column, QueueKey, Reason
from rmqcore.model.snapshot import QueueTable
from tests.analytics import in_process
from tests.analytics.lakes import epoch_columns
from tests.analytics.rows import SECOND, START_MS

LASTS: Final = 25 * 60
"""Seconds that are looked at; the period asked for is longer, and ends on no step."""
UNTIL: Final = LASTS + 95
KEYS: Final[tuple[QueueKey, ...]] = tuple(
    ("orders", broker, number) for broker in ("a", "b") for number in range(2)
)


@dataclass(slots=True)
class Group:
    """What was seen of a group, and the model of what is known of it."""

    name: str
    busy: bool
    sampler: Sampler = field(default_factory=Sampler)
    epoch: int = 0
    epochs: list[tuple[int, int]] = field(default_factory=list)
    """Number and begin (seconds)."""
    looks: dict[QueueKey, list[tuple[int, bool | None]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Of each queue: when it was looked at, and whether its lag was known; None where
    nothing of before counts any more, since another collector had begun."""

    known: dict[QueueKey, set[int]] = field(default_factory=lambda: defaultdict(set))
    """The seconds of each queue that samples with a known lag claim."""

    def vouched(self, key: QueueKey) -> set[int]:
        """Return the seconds of a queue that its looks vouch for."""
        return {
            second
            for (before, was), (at, is_known) in pairwise(self.looks[key])
            if is_known and was is not None
            for second in range(max(before, at - 60), at)
        }


def play(seed: int, lake: Path) -> list[Group]:
    """Write the lake of a play, and return what was to be seen in it."""
    chance = random.Random(seed)
    groups = [Group("busy", True), Group("quiet", False)]
    writer = LandingWriter(str(lake), run_id="samples")
    epochs = LandingWriter(str(lake), c.EPOCHS, run_id="epochs")
    at = chance.randrange(5, 40)
    while at < LASTS:
        samples = SampleColumns()
        away = 400 <= at < 400 + chance.randrange(200)
        for group in groups:
            if away:
                group.sampler = Sampler()
                for looks in group.looks.values():
                    looks.append((at, None))
                continue
            if group.epoch == 0 or chance.random() < 0.03:
                group.epoch += 1
                group.epochs.append((group.epoch, at))
                columns = epoch_columns(group.epoch, START_MS + at * SECOND, ["x", "y"])
                names = (c.TOPIC, c.BROKER, c.QUEUE_ID)
                queues = [dict(zip(names, key, strict=True)) for key in KEYS]
                epochs.append(columns | {c.GROUP: group.name, c.QUEUES: [queues]})
            table = seen(group, at)
            for key, lag in zip(table.keys, table.lag, strict=True):
                group.looks[key].append((at, lag is not None))
            for key in set(KEYS) - set(table.keys):
                group.looks[key].append((at, None))
            chosen = group.sampler.take(table, at * SECOND, group.epoch)
            for row, weight in chosen:
                if table.lag[row] is not None:
                    claimed = range(at - round(weight), at)
                    group.known[table.keys[row]].update(claimed)
            samples.add(
                group.name,
                table,
                chosen,
                epoch=group.epoch,
                ownership=None,
                span_epoch=group.sampler.span_epoch,
            )
        if len(samples):
            columns = dict(samples.columns)
            now_ms = START_MS + at * SECOND
            writer.append({c.CLUSTER: "hangzhou", c.TIME: now_ms, **columns})
        at += chance.choice((9, 10, 10, 10, 10, 11, 15, 30, 45, 100))
    writer.close(START_MS)
    epochs.close(START_MS)
    return groups


def seen(group: Group, at: int) -> QueueTable:
    """Return a look: broker b is silent for two minutes, and unnamed for two."""
    keys = [key for key in KEYS if not (key[1] == "b" and 700 <= at < 820)]
    silent = [key[1] == "b" and 200 <= at < 320 for key in keys]
    high = [Reason.NO_ANSWER if each else 100 + 7 * at * group.busy for each in silent]
    done = [Reason.NO_ANSWER if each else 100 + 3 * at * group.busy for each in silent]
    lag = [Reason.NO_ANSWER if each else 4 * at * group.busy for each in silent]
    age = [Reason.NO_ANSWER if each else 40 * at * group.busy for each in silent]
    unknown = Column.unknown(len(keys), Reason.NOT_ASKED)
    return QueueTable(
        tuple(keys),
        min=unknown,
        max=Column.of(high),
        committed=Column.of(done),
        lag=Column.of(lag),
        pulled=unknown,
        lag_ms=Column.of(age),
    )


def reported(lake: Path, level: int, step: int) -> dict[str, list[dict[str, Any]]]:
    """Run a report over the whole play from a source, and return its tables."""

    def choose(storage: Storage, request: JobRequest) -> Any:
        chosen = choose_source(storage, request, 10**9 if not level else 0)
        return chosen if not level else _rung(storage, request, level)

    output = lake.parent / f"out-{level}-{step}"
    request = JobRequest(
        c.JOB_REPORT,
        str(lake),
        str(output),
        since_ms=START_MS,
        until_ms=START_MS + UNTIL * SECOND,
        groups=("busy", "quiet"),
        step_seconds=step,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "choose_source", choose)
        summary = run_job(in_process.session, request, lambda *_: None)
    assert summary["source"] == (dataset_of("queues", level) if level else c.SAMPLES)
    return {
        name: parquet.read_table(output / name).to_pylist() for name in summary["rows"]
    }


def _rung(storage: Storage, request: JobRequest, level: int) -> Any:
    from analytics.sources import _sources

    return next(each for each in _sources(storage, request) if each.level == level)


@pytest.fixture(scope="module", params=[1, 2])
def played(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[Group]]:
    lake = tmp_path_factory.mktemp("time") / "lake"
    groups = play(request.param, lake)
    storage = open_storage(str(lake))
    absorb(storage, c.SAMPLES)
    absorb(storage, c.EPOCHS)
    landed = [file.path for file in storage.list_files("landing/samples")]
    in_process.roll_up(storage, landed[:10], landed[10:20], landed[20:])
    return lake, groups


def second_of(row: dict[str, Any]) -> int:
    return round(row[c.SINCE].timestamp()) - START_MS // SECOND


def steps_of(first: int, step: int) -> Iterator[tuple[int, set[int]]]:
    """Yield each step from a second on, with the seconds of it in the period."""
    for begin in range(first - first % step, UNTIL, step):
        yield begin, set(range(max(begin, first), min(begin + step, UNTIL)))


@pytest.mark.parametrize(("level", "step"), [(0, 10), (0, 60), (60, 60), (600, 600)])
def test_known_and_unknown_make_up_the_period(
    played: tuple[Path, list[Group]], level: int, step: int
) -> None:
    lake, groups = played
    tables = reported(lake, level, step)
    by_queue = {
        (
            row[c.GROUP],
            (row[c.TOPIC], row[c.BROKER], row[c.QUEUE_ID]),
            second_of(row),
        ): row
        for row in tables[c.LAG_BY_QUEUE]
    }
    by_group = {(row[c.GROUP], second_of(row)): row for row in tables[c.LAG_BY_GROUP]}
    expected = set()
    for group in groups:
        for begin, seconds in steps_of(group.epochs[0][1], step):
            rows = []
            for key in KEYS:
                expected.add((group.name, key, begin))
                row = by_queue[group.name, key, begin]
                known = len(seconds & group.known[key])
                assert row[c.SECONDS] == pytest.approx(known), (
                    group.name,
                    key,
                    begin,
                )
                length = row[c.SECONDS] + row[c.UNKNOWN_SECONDS]
                assert length == pytest.approx(len(seconds))
                assert (row[c.OVER_SECONDS] or 0) <= row[c.SECONDS] + 1e-9
                assert (row[c.LAG_MEAN] is None) == (not known)
                rows.append(row)
            whole = by_group[group.name, begin]
            assert whole[c.QUEUE_COUNT] == len(KEYS)
            assert whole[c.KNOWN_QUEUES] == sum(row[c.SECONDS] > 0 for row in rows)
            mean = sum(row[c.SECONDS] for row in rows) / len(KEYS)
            assert whole[c.SECONDS] == pytest.approx(mean)
            assert whole[c.UNKNOWN_SECONDS] == pytest.approx(len(seconds) - mean)
    assert by_queue.keys() == expected
    for row in tables[c.STRATEGIES]:
        (group,) = (each for each in groups if each.name == row[c.GROUP])
        there = UNTIL - group.epochs[0][1]
        assert row[c.SECONDS] + row[c.UNKNOWN_SECONDS] == pytest.approx(there)
        for name in (c.OVERLOAD_SECONDS, c.NEVER_SECONDS):
            assert (row[name] or 0) <= row[c.SECONDS] + 1e-9
        best = sum(len(each) for each in group.known.values()) / len(KEYS)
        assert row[c.SECONDS] <= best + 1e-9
        # Where an epoch turned, it is not known in which one a claim's time was.
        assert row[c.SECONDS] >= best - 100 * len(group.epochs)


def test_the_play_has_what_it_is_about(played: tuple[Path, list[Group]]) -> None:
    for group in played[1]:
        known = group.known
        assert len(group.epochs) > 1
        assert len(known[KEYS[3]]) < len(known[KEYS[0]]) < LASTS - 100
        for key in KEYS:
            vouched = group.vouched(key)
            assert known[key] <= vouched
            if group.busy:
                assert known[key] == vouched
