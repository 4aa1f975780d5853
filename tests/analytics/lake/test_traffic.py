from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from analytics import contracts as c
from analytics.errors import LakeError
from analytics.lake.carrying import add_batch
from analytics.lake.ladder import QUEUES, dataset_of
from analytics.lake.storage import Storage, open_storage
from analytics.lake.traffic import TopicTraffic, read_traffic
from analytics.schemas import schema_of
from tests.analytics.rows import MINUTE, SECOND, START_MS

LOWEST = dataset_of(QUEUES, c.ROLLUP_LEVELS[0])
TEN = 10 * MINUTE


def parts(
    rate: float,
    minutes: range,
    *,
    queue_id: int = 0,
    every: int = 10,
    late: int = 0,
    **changes: Any,
) -> Iterator[dict[str, Any]]:
    """Return the minutes of a queue that is sampled each `every` s, at a rate a second.

    `late` is by how many seconds a group's samples come after those of others.
    """
    for minute in minutes:
        begin = START_MS + minute * MINUTE
        first = begin + (every + late) * SECOND
        last = begin + (60 - 60 % every - (every if late else 0) + late) * SECOND
        yield {
            c.CLUSTER: "hangzhou",
            c.GROUP: "settlement",
            c.TOPIC: "orders",
            c.BROKER: "broker-a",
            c.QUEUE_ID: queue_id,
            c.EPOCH: 1,
            c.TIME: begin,
            c.SECONDS: 60.0,
            c.UNKNOWN_SECONDS: 0.0,
            f"{c.MAX}_first_at": first,
            f"{c.MAX}_first": round((first - START_MS) * rate / 1000) + 1000,
            f"{c.MAX}_last_at": last,
            f"{c.MAX}_last": round((last - START_MS) * rate / 1000) + 1000,
            **changes,
        }


def added(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Let a queue begin with its first message, as one does that is new."""
    first, *others = rows
    begin = first[f"{c.MAX}_first"]
    for row in (first, *others):
        ends = (f"{c.MAX}_first", f"{c.MAX}_last")
        yield {**row, **{end: row[end] - begin for end in ends}}


@pytest.fixture
def lake(tmp_path: Path) -> Storage:
    return open_storage(str(tmp_path))


def put(storage: Storage, *of_queues: Iterator[dict[str, Any]]) -> None:
    rows = [row for each in of_queues for row in each]
    table = pa.Table.from_pylist(rows, schema=schema_of(LOWEST))
    add_batch(storage, QUEUES, 0, lambda: table)


def asked(storage: Storage, **changes: Any) -> TopicTraffic:
    values: dict[str, Any] = {
        "cluster": "hangzhou",
        "topic": "orders",
        "since_ms": START_MS,
        "until_ms": START_MS + 6 * TEN,
        "step_seconds": 600,
    }
    return read_traffic(storage, **(values | changes))


def test_the_queues_of_a_topic_are_summed_in_each_step(lake: Storage) -> None:
    put(lake, parts(3, range(41)), parts(7, range(41), queue_id=1))
    found = asked(lake)
    # The fifth ten minutes have only begun.
    assert found.rates == [10.0] * 4 + [None] * 2
    assert found.rolled_ms == START_MS + 4 * TEN
    assert not any(found.partial)


def test_two_groups_that_read_a_queue_count_once(lake: Storage) -> None:
    late = parts(6, range(41), every=30, late=7, **{c.GROUP: "billing"})
    put(lake, parts(6, range(41)), late)
    found = asked(lake)
    assert found.rates[:4] == pytest.approx([6.0] * 4, abs=0.01)
    assert list(found.groups) == ["billing", "settlement"]


def test_quiet_queues_and_others_are_told_apart(lake: Storage) -> None:
    put(
        lake,
        parts(0, range(21), every=60),
        parts(5, range(21), **{c.TOPIC: "refunds"}),
        parts(5, range(21), **{c.CLUSTER: "beijing"}),
    )
    assert asked(lake).rates[:2] == [0.0, 0.0]


def test_time_without_samples_is_unknown_and_never_0(lake: Storage) -> None:
    put(lake, parts(4, range(12)), parts(4, range(32, 51)))
    found = asked(lake)
    assert found.rates == [4.0, None, None, 4.0, 4.0, None]


def test_a_sum_is_partial_while_a_queue_that_was_known_is_not(lake: Storage) -> None:
    put(
        lake,
        parts(2, range(41)),
        parts(2, range(21), queue_id=1),
        added(parts(2, range(30, 41), queue_id=2)),
    )
    found = asked(lake)
    assert found.rates[:4] == [4.0, 4.0, 2.0, 4.0]
    assert list(found.partial[:4]) == [False, False, True, True]
    assert found.queues == 3


def test_a_sum_is_partial_before_a_queue_that_was_there_is_known(lake: Storage) -> None:
    put(lake, parts(2, range(41)), parts(2, range(20, 41), queue_id=1))
    found = asked(lake)
    assert found.rates[:4] == [2.0, 2.0, 4.0, 4.0]
    assert list(found.partial[:4]) == [True, True, False, False]


def test_a_topic_that_was_created_again_counts_nothing_negative(lake: Storage) -> None:
    fresh = [
        {**row, f"{c.MAX}_first": 0, f"{c.MAX}_last": 50}
        for row in parts(1, range(15, 16))
    ]
    after = (
        {**row, f"{c.MAX}_first": 50, f"{c.MAX}_last": 50}
        for row in parts(0, range(16, 31))
    )
    put(lake, parts(1, range(15)), iter(fresh), after)
    rates = asked(lake).rates
    assert all(rate is None or rate >= 0 for rate in rates)
    assert rates[0] == 1.0


def test_nothing_is_known_of_a_topic_that_no_group_reads(lake: Storage) -> None:
    assert set(asked(lake).rates) == {None}
    put(lake, parts(1, range(41)))
    found = asked(lake, topic="unread")
    assert set(found.rates) == {None}
    assert list(found.groups) == []


def test_what_would_be_too_much_to_read_is_not_read(lake: Storage) -> None:
    put(lake, parts(1, range(41)))
    with pytest.raises(LakeError, match="at most 40"):
        asked(lake, most_rows=40)
