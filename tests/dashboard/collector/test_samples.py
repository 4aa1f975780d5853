from __future__ import annotations

from dashboard.collector.ownership import Ownership, RowOwners
from dashboard.collector.samples import FIELDS, SampleColumns, Sampler
from rmqcore.model.columns import Reason

from .sights import keys, table

QUEUES = keys(2)
QUIET = table(QUEUES)


def test_the_first_sweep_samples_everything() -> None:
    assert Sampler().take(QUIET, 0) == [(0, 10.0), (1, 10.0)]


def test_quiet_queues_are_sampled_once_a_minute() -> None:
    sampler = Sampler()
    sampler.take(QUIET, 0)
    taken = {
        second: sampler.take(QUIET, second * 1000) for second in range(10, 130, 10)
    }
    assert [second for second, rows in taken.items() if rows] == [60, 120]
    assert taken[60] == [(0, 60.0), (1, 60.0)]


def test_lag_or_traffic_is_sampled_each_time() -> None:
    sampler = Sampler()
    sampler.take(QUIET, 0)
    lagging = table(QUEUES, high=[105, 100])
    assert sampler.take(lagging, 10_000) == [(0, 10.0)]
    assert sampler.take(lagging, 20_100) == [(0, 10.1)]
    drained = table(QUEUES, high=[105, 100], committed=[105, 100])
    assert sampler.take(drained, 30_100) == [(0, 10.0)]
    assert sampler.take(drained, 40_100) == []


def test_a_sweep_slightly_early_is_not_missed() -> None:
    sampler = Sampler()
    lagging = table(QUEUES, high=[105, 105])
    sampler.take(lagging, 0)
    assert sampler.take(lagging, 9_400) == [(0, 9.4), (1, 9.4)]
    assert sampler.take(lagging, 10_400) == []


def test_columns_hold_null_for_unknown_and_owners_only_as_reported() -> None:
    seen = table(QUEUES, committed=[Reason.NOTHING_COMMITTED, 100])
    rows = (RowOwners(("c1",), "reported"), RowOwners(("c1",), "inferred"))
    columns = SampleColumns()
    columns.add(
        "g", seen, [(0, 10.0), (1, 60.0)], epoch=3, ownership=Ownership(rows, True, 1)
    )
    assert len(columns) == 2
    assert columns.columns["committed"] == [None, 100]
    assert columns.columns["owner"] == ["c1", None]
    assert columns.columns["weight"] == [10.0, 60.0]
    assert {len(columns.columns[name]) for name in FIELDS} == {2}


def test_without_a_look_at_owners_there_is_none() -> None:
    columns = SampleColumns()
    columns.add("g", QUIET, [(0, 10.0)], epoch=None, ownership=None)
    assert columns.columns["owner"] == [None]
    assert columns.columns["epoch"] == [None]
