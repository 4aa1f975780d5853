from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from analytics import contracts as c
from analytics.schemas import table_of
from tests.analytics.rows import SECOND, START_MS, sample_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


def samples(spark: SparkSession, *points: dict[str, Any]) -> DataFrame:
    """Return samples of one queue; each point has `at` in seconds, and columns."""
    import pyarrow as pa

    tables = [
        table_of(
            c.SAMPLES,
            sample_columns(
                START_MS + point["at"] * SECOND,
                queues=1,
                **{key: [point[key]] for key in point if key != "at"},
            ),
        )
        for point in points
    ]
    return spark.createDataFrame(pa.concat_tables(tables))


def steps(spark: SparkSession, *points: dict[str, Any], step: int = 60) -> list[Any]:
    from analytics.transforms.lag import queue_steps

    return queue_steps(samples(spark, *points), step).orderBy(c.SINCE).collect()


def test_an_offset_committed_ahead_of_the_maximum_is_no_lag(
    spark: SparkSession,
) -> None:
    (row,) = steps(spark, {"at": 0, "max": 10, "committed": 12})
    assert (row[c.LAG_MEAN], row[c.LAG_PEAK], row[c.SECONDS]) == (0, 0, 10)


def test_a_mean_weighs_what_samples_stand_for(spark: SparkSession) -> None:
    (row,) = steps(
        spark,
        {"at": 0, "max": 100, "committed": 100, "weight": 50.0},
        {"at": 50, "max": 160, "committed": 100, "weight": 10.0},
    )
    assert row[c.LAG_MEAN] == 10
    assert (row[c.LAG_PEAK], row[c.LAG_LAST], row[c.SECONDS]) == (60, 60, 60)


def test_the_last_known_lag_is_kept_when_the_end_is_unknown(
    spark: SparkSession,
) -> None:
    (row,) = steps(
        spark,
        {"at": 0, "max": 7, "committed": 4},
        {"at": 10, "max": 9, "committed": None},
    )
    assert row[c.LAG_LAST] == 3
    assert (row[c.SECONDS], row[c.UNKNOWN_SECONDS]) == (10, 10)


def test_a_rate_spans_from_step_to_step(spark: SparkSession) -> None:
    rows = steps(
        spark,
        {"at": 50, "max": 100, "committed": 50},
        {"at": 70, "max": 300, "committed": 90},
    )
    assert [row[c.IN_RATE] for row in rows] == [None, 10]
    assert [row[c.OUT_RATE] for row in rows] == [None, 2]


def test_an_offset_that_went_back_gives_no_rate(spark: SparkSession) -> None:
    rows = steps(
        spark,
        {"at": 0, "max": 100, "committed": 100},
        {"at": 60, "max": 20, "committed": 100},
        {"at": 120, "max": 80, "committed": 40},
    )
    assert [row[c.IN_RATE] for row in rows] == [None, None, 1]
    assert [row[c.OUT_RATE] for row in rows] == [None, 0, None]


def test_a_gap_gives_no_rate_across_it(spark: SparkSession) -> None:
    rows = steps(
        spark,
        {"at": 0, "max": 0},
        {"at": 240, "max": 2400},
        {"at": 250, "max": 2600},
    )
    assert [row[c.IN_RATE] for row in rows] == [None, 20]


def test_steps_start_on_whole_multiples_of_their_length(spark: SparkSession) -> None:
    (row,) = steps(spark, {"at": 59, "max": 1}, step=3600)
    assert row[c.SINCE].replace(tzinfo=UTC) == datetime(2026, 3, 13, tzinfo=UTC)


def test_queues_of_two_epochs_in_a_step_become_one_row(spark: SparkSession) -> None:
    from analytics.transforms.lag import lag_by_queue, queue_steps

    frame = samples(
        spark,
        {"at": 0, "max": 10, "committed": 0, "epoch": 1},
        {"at": 10, "max": 40, "committed": 0, "epoch": 2},
        {"at": 20, "max": 40, "committed": 0, "epoch": 2},
    )
    (row,) = lag_by_queue(queue_steps(frame, 60)).collect()
    assert row[c.LAG_MEAN] == 30
    assert (row[c.LAG_LAST], row[c.SECONDS]) == (40, 30)


def test_a_reported_owner_goes_before_the_inferred_one(spark: SparkSession) -> None:
    from analytics.transforms.lag import lag_by_consumer, owners_seen, queue_steps

    frame = samples(
        spark,
        {"at": 0, "max": 5, "committed": 0, "owner": "b"},
        {"at": 60, "max": 5, "committed": 0},
    )
    owners = spark.createDataFrame(
        [("hangzhou", "settlement", "orders", "broker-a", 0, 1, "a")],
        [*c.QUEUE_KEY, c.EPOCH, c.CLIENT_ID],
    )
    steps = queue_steps(frame, 60)
    rows = lag_by_consumer(steps, owners, owners_seen(frame, 60)).collect()
    found = {row[c.SINCE].minute: row[c.CLIENT_ID] for row in rows}
    assert found == {0: "b", 1: "a"}
