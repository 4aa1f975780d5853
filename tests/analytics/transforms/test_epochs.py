from __future__ import annotations

from typing import Any

import pyarrow as pa

from analytics import contracts as c
from analytics.division import Divider, candidates_of
from analytics.schemas import table_of
from analytics.transforms.groups import (
    Divisions,
    Groups,
    queues_named,
    told_epochs,
)
from tests.analytics.lakes import QUEUES, epoch_columns
from tests.analytics.rows import MINUTE, START_MS


def epoch(number: int, clients: list[str], **changes: Any) -> dict[str, Any]:
    return epoch_columns(number, START_MS + number * MINUTE, clients) | changes


def groups(*rows: dict[str, Any], since_ms: int = 0) -> Groups:
    tables = [table_of(c.EPOCHS, row) for row in rows]
    told = told_epochs(pa.concat_tables(tables), lambda _name: True)
    return Groups(told, since_ms, queues_named(told, since_ms, divided_only=True))


def test_the_newest_row_of_an_epoch_counts() -> None:
    begun = epoch(1, ["a"], strategy=None)
    ended = begun | {c.TIME: START_MS + 9 * MINUTE, c.STRATEGY: "AVG_BY_CIRCLE"}
    (row,) = groups(begun, ended).epochs
    assert (row[c.STRATEGY], row[c.STRATEGY_SOURCE]) == ("AVG_BY_CIRCLE", "reported")


def test_a_strategy_nobody_knows_is_assumed_to_be_avg() -> None:
    assumed = groups(epoch(1, ["a"], strategy=None))
    assert assumed.strategies_in_use() == {(0, "AVG"): "assumed"}


def test_epochs_that_were_over_are_left_out() -> None:
    """The first ended by its own row, the second because the third began."""
    rows = (
        epoch(1, ["a"], ended_before=START_MS + 2 * MINUTE),
        epoch(2, ["a", "b"]),
        epoch(3, ["a"]),
    )
    kept = groups(*rows, since_ms=START_MS + 2 * MINUTE).epochs
    assert [row[c.EPOCH] for row in kept] == [2, 3]


def test_nothing_is_divided_without_members_or_in_broadcasting() -> None:
    rows = (epoch(1, []), epoch(2, ["a"], mode="BROADCASTING"))
    assert groups(*rows).epochs == []


def test_epochs_are_divided_in_order_of_their_groups() -> None:
    rows = [
        epoch(number, ["a", "b"], group=[name]) for number in (2, 1) for name in "xy"
    ]
    found = groups(*rows)
    candidates = candidates_of({})
    divided = Divisions(Divider(candidates), candidates, found.of(0, 2), found.number)
    assert len(divided.queue) == 4 * QUEUES
    for row, queue in enumerate(divided.queue.tolist()):
        queue_id = found.queues[queue][-1]
        owners = {name: each[row].as_py() for name, each in divided.owners.items()}
        assert owners["owner_AVG"] == owners["owner_in_use"] == int(queue_id >= 2)
        assert owners["owner_AVG_BY_CIRCLE"] == queue_id % 2
        assert owners["owner_BALANCED"] in {0, 1}
