from __future__ import annotations

from array import array
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from analytics import contracts as c
from analytics.errors import SchemaError
from analytics.schemas import BY_NAME, schema_of, table_of, version_of

from .rows import START_MS, sample_columns


def test_scalars_stand_for_every_row() -> None:
    table = table_of(c.SAMPLES, sample_columns(START_MS, queues=3))
    assert table[c.GROUP].to_pylist() == ["settlement"] * 3
    assert table[c.TIME].to_pylist() == [datetime(2026, 3, 13, tzinfo=UTC)] * 3


def test_columns_left_out_are_unknown_not_zero() -> None:
    table = table_of(c.SAMPLES, sample_columns(START_MS))
    assert table[c.LAG_MS].null_count == 4
    assert table[c.OWNER].null_count == 4


@pytest.mark.parametrize(
    "times",
    [
        array("q", [START_MS, START_MS + 1]),
        np.array([START_MS, START_MS + 1]),
        pa.array([START_MS, START_MS + 1]),
        [datetime(2026, 3, 13, tzinfo=UTC), datetime(2026, 3, 13, 0, 1, tzinfo=UTC)],
    ],
)
def test_times_come_as_the_caller_has_them(times: Any) -> None:
    table = table_of(c.SAMPLES, sample_columns(START_MS, queues=2, time=times))
    assert table[c.TIME][0].as_py() == datetime(2026, 3, 13, tzinfo=UTC)
    assert table.schema.equals(schema_of(c.SAMPLES))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({c.COMMITTED: [3, -1]}, "samples.committed: -1 is below 0"),
        ({c.COMMITTED: ["x", None]}, "samples.committed"),
        ({c.TOPIC: [None, "orders"]}, "samples.topic: 1 of 2 are null"),
        ({c.GROUP: None}, "samples.group: 2 of 2 are null"),
        ({c.WEIGHT: [1.0, float("nan")]}, "samples.weight: NaN"),
        ({c.QUEUE_ID: [0, 2**40]}, "samples.queue_id"),
        ({c.TOPIC: ["orders"]}, "columns differ in length"),
        ({"offset": [1, 2]}, "samples has no column offset"),
    ],
)
def test_rows_that_break_the_contract_are_named(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        table_of(c.SAMPLES, sample_columns(START_MS, queues=2, **changes))


def test_a_single_number_everywhere_is_not_a_table() -> None:
    with pytest.raises(SchemaError, match="no column is a sequence"):
        table_of(c.SAMPLES, {c.CLUSTER: "a", c.QUEUE_ID: 1})


def test_an_unknown_data_set_is_refused_with_the_names() -> None:
    with pytest.raises(
        SchemaError,
        match=r"'lag'; the known ones are epochs, .*, samples",
    ):
        schema_of("lag")


def test_an_epoch_keeps_members_and_queues() -> None:
    members = [{c.CLIENT_ID: "a@1", c.STRATEGY: "AVG", c.SUBSCRIPTIONS: None}]
    queues = [{c.TOPIC: "orders", c.BROKER: "broker-a", c.QUEUE_ID: 0}]
    table = table_of(
        c.EPOCHS,
        {
            c.CLUSTER: "hangzhou",
            c.GROUP: "settlement",
            c.EPOCH: 1,
            c.TIME: START_MS,
            c.BEGAN: START_MS,
            c.MEMBERS: [members],
            c.QUEUES: [queues],
        },
    )
    assert table[c.MEMBERS].to_pylist() == [members]
    assert table[c.QUEUES].to_pylist() == [queues]
    assert table[c.ENDED].null_count == 1


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_schemas_carry_the_version_of_the_contract(name: str) -> None:
    assert version_of(schema_of(name)) == c.SCHEMA_VERSION
    assert version_of(pa.schema([])) == 0
