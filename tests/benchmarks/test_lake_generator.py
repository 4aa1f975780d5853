"""Generated lakes are sampled as the collector samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analytics import contracts as c
from analytics.lake.reader import read_table
from analytics.lake.storage import open_storage
from benchmarks.lake_generator import (
    SWEEP_MS,
    Groups,
    Looks,
    Sampling,
    Shape,
    generate,
    key_columns,
)
from dashboard.collector.samples import SampleColumns, Sampler
from rmqcore.model.columns import Column, Reason
from rmqcore.model.snapshot import QueueTable

SHAPE = Shape(groups=12, queues=4, hours=0.25, changes=400.0, idle_share=0.4)
FIGURES = (c.WEIGHT, c.MAX, c.COMMITTED, c.EPOCH)


def collected(shape: Shape, at: list[int]) -> list[tuple[Any, ...]]:
    """Return what the collector's own sampler makes of the same play, row by row."""
    groups = Groups(shape)
    samplers = [Sampler() for _group in range(shape.groups)]
    found: list[tuple[Any, ...]] = []
    for number, now_ms in enumerate(at):
        groups.step(now_ms)
        if number:
            groups.change_members()
        columns = SampleColumns()
        for group, sampler in enumerate(samplers):
            table = seen(groups, group)
            epoch = int(groups.epoch[group])
            chosen = sampler.take(table, now_ms, epoch)
            span_epoch = sampler.span_epoch
            columns.add(
                f"{group}",
                table,
                chosen,
                epoch=epoch,
                ownership=None,
                span_epoch=span_epoch,
            )
        names = (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID, *FIGURES)
        rows = zip(*(columns.columns[name] for name in names), strict=True)
        found += [(now_ms, int(group), *rest) for group, *rest in rows]
    return found


def seen(groups: Groups, group: int) -> QueueTable:
    top = [int(value) for value in groups.top[group]]
    done = [int(value) for value in groups.done[group]]
    queues = range(groups.shape.queues)
    unknown = Column.unknown(len(queues), Reason.NOT_ASKED)
    return QueueTable(
        tuple(groups.shape.queue(group, queue) for queue in queues),
        min=unknown,
        max=Column.of(top),
        committed=Column.of(done),
        lag=Column.of([a - b for a, b in zip(top, done, strict=True)]),
        pulled=unknown,
        lag_ms=unknown,
    )


def generated(shape: Shape, at: list[int]) -> list[tuple[Any, ...]]:
    """Return what `Sampling` makes of it, in the same form."""
    groups, sampling = Groups(shape), Sampling()
    keys = [
        (group, *shape.queue(group, queue))
        for group in range(shape.groups)
        for queue in range(shape.queues)
    ]
    found: list[tuple[Any, ...]] = []
    for number, now_ms in enumerate(at):
        groups.step(now_ms)
        if number:
            groups.change_members()
        looks = Looks.at(groups)
        taken = sampling.take(looks, now_ms)
        rows = zip(
            [key for key, chosen in zip(keys, taken.is_taken, strict=True) if chosen],
            taken.seconds.tolist(),
            looks.top[taken.is_taken].tolist(),
            looks.done[taken.is_taken].tolist(),
            taken.epoch.tolist(),
            strict=True,
        )
        found += [(now_ms, *key, *figures) for key, *figures in rows]
    return found


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("apart", [(10,), (10, 10, 9, 11, 13, 10, 30, 100)])
def test_queues_are_taken_as_by_the_collector(
    seed: int, apart: tuple[int, ...]
) -> None:
    shape = Shape(groups=12, queues=4, changes=400.0, idle_share=0.4, seed=seed)
    at = [shape.start_ms]
    while len(at) < 60:
        at.append(at[-1] + 1000 * apart[len(at) % len(apart)])
    found = generated(shape, at)
    assert found == collected(shape, at)
    weights = {row[5] for row in found}
    assert {0.0, 10.0} < weights
    assert max(weights) > 30


def test_a_lake_claims_all_time_once(tmp_path: Path) -> None:
    rows = generate(str(tmp_path), SHAPE)
    storage = open_storage(str(tmp_path))
    samples = read_table(storage, c.SAMPLES).to_pylist()
    assert len(samples) == rows
    began = {
        (row[c.GROUP], row[c.EPOCH]): row[c.BEGAN].timestamp()
        for row in read_table(storage, c.EPOCHS).to_pylist()
    }
    assert len(began) > SHAPE.groups
    claimed: dict[tuple[Any, ...], float] = {}
    by_time = sorted(samples, key=lambda row: row[c.TIME])
    for row in by_time:
        key = tuple(row[name] for name in c.QUEUE_KEY)
        at = row[c.TIME].timestamp()
        before = claimed.get(key, at)
        assert at - row[c.WEIGHT] == before
        assert began[row[c.GROUP], row[c.EPOCH]] <= before
        next_began = began.get((row[c.GROUP], row[c.EPOCH] + 1), at)
        assert at <= next_began or row[c.WEIGHT] == 0
        claimed[key] = at
    assert len(claimed) == len(key_columns(SHAPE)[c.GROUP])
    last_ms = SHAPE.start_ms + (SHAPE.sweeps - 1) * SWEEP_MS
    assert min(claimed.values()) * 1000 >= last_ms - 50_000
