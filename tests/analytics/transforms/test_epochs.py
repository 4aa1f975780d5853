from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analytics import contracts as c
from analytics.schemas import table_of
from tests.analytics.lakes import QUEUES, epoch_columns
from tests.analytics.rows import MINUTE, START_MS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]


def epoch(number: int, clients: list[str], **changes: Any) -> dict[str, Any]:
    return epoch_columns(number, START_MS + number * MINUTE, clients) | changes


def newest(spark: SparkSession, *rows: dict[str, Any], since_ms: int = 0) -> DataFrame:
    import pyarrow as pa

    from analytics.transforms.epochs import newest_epochs

    tables = [table_of(c.EPOCHS, row) for row in rows]
    return newest_epochs(spark.createDataFrame(pa.concat_tables(tables)), since_ms)


def test_the_newest_row_of_an_epoch_counts(spark: SparkSession) -> None:
    begun = epoch(1, ["a"], strategy=None)
    ended = begun | {c.TIME: START_MS + 9 * MINUTE, c.STRATEGY: "AVG_BY_CIRCLE"}
    (row,) = newest(spark, begun, ended).collect()
    assert (row[c.STRATEGY], row[c.STRATEGY_SOURCE]) == ("AVG_BY_CIRCLE", "reported")


def test_a_strategy_nobody_knows_is_assumed_to_be_avg(spark: SparkSession) -> None:
    from analytics.transforms.epochs import strategies_in_use

    epochs = newest(spark, epoch(1, ["a"], strategy=None))
    (row,) = strategies_in_use(epochs).collect()
    assert (row[c.STRATEGY], row[c.STRATEGY_SOURCE], row[c.IN_USE]) == (
        "AVG",
        "assumed",
        True,
    )


def test_epochs_that_were_over_are_left_out(spark: SparkSession) -> None:
    """The first ended by its own row, the second because the third began."""
    rows = (
        epoch(1, ["a"], ended_before=START_MS + 2 * MINUTE),
        epoch(2, ["a", "b"]),
        epoch(3, ["a"]),
    )
    kept = newest(spark, *rows, since_ms=START_MS + 2 * MINUTE).collect()
    assert sorted(row[c.EPOCH] for row in kept) == [2, 3]


def test_nothing_is_divided_without_members_or_in_broadcasting(
    spark: SparkSession,
) -> None:
    rows = (epoch(1, []), epoch(2, ["a"], mode="BROADCASTING"))
    assert newest(spark, *rows).count() == 0


def test_epochs_are_divided_in_order_of_their_groups(spark: SparkSession) -> None:
    from pyspark.sql import functions as F  # noqa: N812  the usual name

    from analytics.division import WEIGHTS, candidates_of
    from analytics.transforms.divisions import divisions

    rows = [
        epoch(number, ["a", "b"], group=[name]) for number in (2, 1) for name in "xy"
    ]
    epochs = newest(spark, *rows).withColumn(WEIGHTS, F.lit(None).cast("string"))
    candidates = candidates_of({})
    found = divisions(epochs, candidates, pieces=2).collect()
    assert len(found) == 4 * QUEUES
    for row in found:
        expected = 0 if row[c.QUEUE_ID] < 2 else 1
        assert row["owner_AVG"] == row["owner_in_use"] == expected
        assert row["owner_AVG_BY_CIRCLE"] == row[c.QUEUE_ID] % 2
        assert row["owner_BALANCED"] in {0, 1}
