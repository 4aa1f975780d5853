from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from analytics import contracts as c
from analytics.presence import Period
from analytics.schemas import table_of
from tests.analytics.lakes import epoch_columns
from tests.analytics.rows import SECOND, START_MS, sample_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]


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


def there(spark: SparkSession, *epochs: tuple[int, int, int | None]) -> DataFrame:
    """Return epochs of the one queue: number, begin, end (seconds; None: it runs)."""
    import pyarrow as pa

    from analytics.schemas import EPOCHS
    from analytics.transforms.epochs import told_epochs
    from analytics.transforms.presence import queues_there

    tables = [EPOCHS.empty_table()]
    for number, begin, end in epochs:
        row = epoch_columns(number, START_MS + begin * SECOND, ["a"])
        row[c.QUEUES] = [row[c.QUEUES][0][:1]]
        if end is not None:
            row[c.ENDED_BEFORE] = [START_MS + end * SECOND]
        tables.append(table_of(c.EPOCHS, row))
    return queues_there(
        told_epochs(
            spark.createDataFrame(pa.concat_tables(tables, promote_options="default"))
        )
    )


def steps_of(
    frame: DataFrame, epochs: DataFrame, *, since: int, until: int, step: int
) -> DataFrame:
    from analytics.transforms.lag import steps_of_parts
    from analytics.transforms.parts import parts_of

    period = Period(START_MS + since * SECOND, START_MS + until * SECOND, step * SECOND)
    return steps_of_parts(
        parts_of(frame, period.step_ms, period.until_ms), epochs, period
    )


def steps(
    spark: SparkSession,
    *points: dict[str, Any],
    step: int = 60,
    until: int = 0,
    epochs: tuple[tuple[int, int, int | None], ...] = ((1, -3600, None),),
) -> list[Any]:
    """Return the steps of the queue's epochs, whole ones up to the last sample's."""
    from analytics.transforms.lag import of_epochs

    last = max([until, *(point["at"] for point in points)])
    frame = steps_of(
        samples(spark, *points),
        there(spark, *epochs),
        since=0,
        until=-(-last // step) * step,
        step=step,
    )
    return of_epochs(frame).orderBy(c.SINCE, c.EPOCH).collect()


def told(rows: list[Any]) -> list[tuple[float, float]]:
    return [(row[c.SECONDS], row[c.UNKNOWN_SECONDS]) for row in rows]


def test_an_offset_committed_ahead_of_the_maximum_is_no_lag(
    spark: SparkSession,
) -> None:
    (row,) = steps(spark, {"at": 10, "max": 10, "committed": 12})
    assert (row[c.LAG_MEAN], row[c.LAG_PEAK], row[c.SECONDS]) == (0, 0, 10)


def test_a_mean_weighs_what_samples_claim(spark: SparkSession) -> None:
    (row,) = steps(
        spark,
        {"at": 50, "max": 100, "committed": 100, "weight": 50.0},
        {"at": 60, "max": 160, "committed": 100, "weight": 10.0},
    )
    assert row[c.LAG_MEAN] == 10
    assert (row[c.LAG_PEAK], row[c.LAG_LAST], row[c.SECONDS]) == (60, 60, 60)


def test_what_is_claimed_belongs_to_the_steps_that_it_lies_in(
    spark: SparkSession,
) -> None:
    point = {"at": 75, "max": 7, "committed": 0, "weight": 30.0}
    first, second = steps(spark, point, until=120)
    assert told([first, second]) == [(15, 45), (15, 45)]
    assert (first[c.LAG_MEAN], second[c.LAG_PEAK]) == (7, 7)
    tens = steps(spark, point, step=10)
    assert told(tens) == [(0, 10)] * 4 + [(5, 5), (10, 0), (10, 0), (5, 5)]
    (minute,) = steps(spark, point | {"at": 60, "weight": 300.0})
    assert told([minute]) == [(60, 0)], "no sample claims more than a minute"


def test_time_that_nothing_claims_is_unknown(spark: SparkSession) -> None:
    """Before the first sample, in a hole, while the lag is not known, at the end."""
    rows = steps(
        spark,
        {"at": 20, "weight": 0.0},
        {"at": 60, "weight": 40.0},
        {"at": 130, "weight": 10.0},
        {"at": 200, "weight": 60.0, "committed": None},
        until=300,
    )
    assert told(rows) == [(40, 20), (0, 60), (10, 50), (0, 60), (0, 60)]
    assert [row[c.LAG_MEAN] for row in rows] == [5, None, 5, None, None]
    assert [row[c.LAG_LAST] for row in rows] == [5, None, 5, None, None]


def test_a_queue_s_time_begins_and_ends_with_its_epochs(spark: SparkSession) -> None:
    claims = [{"at": at, "epoch": 4} for at in range(10, 200, 10)]
    rows = steps(spark, *claims, epochs=((4, 30, 150),), until=240)
    assert [row[c.SINCE].minute for row in rows] == [0, 1, 2]
    assert told(rows) == [(30, 0), (60, 0), (30, 0)]


def test_an_epoch_left_open_ends_where_the_next_one_begins(
    spark: SparkSession,
) -> None:
    rows = steps(spark, {"at": 60}, epochs=((1, 0, None), (2, 40, None)))
    lengths = [(row[c.EPOCH], sum(told([row])[0])) for row in rows]
    assert lengths == [(1, 40), (2, 20)]


def test_without_an_epoch_s_word_there_is_what_samples_claim(
    spark: SparkSession,
) -> None:
    rows = steps(spark, {"at": 10}, {"at": 250}, epochs=(), until=300)
    assert [row[c.SINCE].minute for row in rows] == [0, 4]
    assert told(rows) == [(10, 50), (10, 50)]


def test_the_last_known_lag_is_kept_when_the_end_is_unknown(
    spark: SparkSession,
) -> None:
    (row,) = steps(
        spark,
        {"at": 10, "max": 7, "committed": 4},
        {"at": 20, "max": 9, "committed": None},
    )
    assert row[c.LAG_LAST] == 3
    assert (row[c.SECONDS], row[c.UNKNOWN_SECONDS]) == (10, 50)


def test_time_over_the_threshold_is_at_most_the_known_time(
    spark: SparkSession,
) -> None:
    (row,) = steps(
        spark,
        {"at": 10, "lag_ms": c.OVER_MS + 1},
        {"at": 20, "lag_ms": c.OVER_MS},
        {"at": 60, "lag_ms": c.OVER_MS + 1, "committed": None, "weight": 40.0},
    )
    assert (row[c.OVER_SECONDS], row[c.SECONDS]) == (10, 20)


def test_a_rate_spans_from_step_to_step(spark: SparkSession) -> None:
    rows = steps(
        spark,
        {"at": 50, "max": 100, "committed": 50},
        {"at": 70, "max": 300, "committed": 90},
    )
    assert [row[c.IN_RATE] for row in rows] == [None, 10]
    assert [row[c.OUT_RATE] for row in rows] == [None, 2]


def test_steps_between_two_samples_have_the_rate_of_both(spark: SparkSession) -> None:
    rows = steps(
        spark,
        {"at": 10, "max": 100},
        {"at": 60, "max": 600, "weight": 50.0},
        {"at": 70, "max": 620},
        step=10,
    )
    assert [row[c.IN_RATE] for row in rows] == [None, *[10] * 5, 2]


def test_an_offset_that_went_back_gives_no_rate(spark: SparkSession) -> None:
    rows = steps(
        spark,
        {"at": 10, "max": 100, "committed": 100},
        {"at": 70, "max": 20, "committed": 100},
        {"at": 130, "max": 80, "committed": 40},
    )
    assert [row[c.IN_RATE] for row in rows] == [None, None, 1]
    assert [row[c.OUT_RATE] for row in rows] == [None, 0, None]


def test_a_gap_gives_no_rate_across_it(spark: SparkSession) -> None:
    rows = steps(
        spark,
        {"at": 10, "max": 0},
        {"at": 250, "max": 2400},
        {"at": 260, "max": 2600},
    )
    assert [row[c.IN_RATE] for row in rows] == [*[None] * 4, 20]


def test_steps_start_on_whole_multiples_of_their_length(spark: SparkSession) -> None:
    (row,) = steps(spark, {"at": 59, "max": 1}, step=3600)
    assert row[c.SINCE].replace(tzinfo=UTC) == datetime(2026, 3, 13, tzinfo=UTC)
    assert row[c.SECONDS] + row[c.UNKNOWN_SECONDS] == 3600


def test_queues_of_two_epochs_in_a_step_become_one_row(spark: SparkSession) -> None:
    """The first sample of an epoch claims time of the one before: known all the same.

    What is by epoch does not know in which of the two that time was.
    """
    from analytics.transforms.lag import lag_by_queue, of_epochs

    frame = steps_of(
        samples(
            spark,
            {"at": 10, "max": 10, "committed": 0, "epoch": 1},
            {"at": 20, "max": 40, "committed": 0, "epoch": 2},
            {"at": 30, "max": 40, "committed": 0, "epoch": 2},
        ),
        there(spark, (1, 0, 20), (2, 20, None)),
        since=0,
        until=30,
        step=60,
    )
    (row,) = lag_by_queue(frame).collect()
    assert row[c.LAG_MEAN] == 30
    assert (row[c.LAG_LAST], *told([row])[0]) == (40, 30, 0)
    assert told(of_epochs(frame).orderBy(c.EPOCH).collect()) == [(10, 10), (10, 0)]


def test_a_sum_says_of_how_many_queues_it_is(spark: SparkSession) -> None:
    """Four queues, of which broker-b's two are not sampled in the second minute."""
    import pyarrow as pa

    from analytics.transforms.epochs import told_epochs
    from analytics.transforms.lag import lag_by_group, lag_by_queue, lag_by_topic
    from analytics.transforms.parts import peaks_of
    from analytics.transforms.presence import queues_there

    brokers = ["broker-a", "broker-a", "broker-b", "broker-b"]
    halves = [
        brokers if at <= 60 or at > 120 else brokers[:2] for at in range(10, 190, 10)
    ]
    tables = [
        table_of(
            c.SAMPLES,
            sample_columns(
                START_MS + (number + 1) * 10 * SECOND,
                queues=len(seen),
                broker=seen,
                queue_id=[place % 2 for place in range(len(seen))],
            ),
        )
        for number, seen in enumerate(halves)
    ]
    row = epoch_columns(1, START_MS, ["a"])
    row[c.QUEUES] = [
        [
            {c.TOPIC: "orders", c.BROKER: broker, c.QUEUE_ID: place % 2}
            for place, broker in enumerate(brokers)
        ]
    ]
    frame = spark.createDataFrame(pa.concat_tables(tables))
    epochs = queues_there(told_epochs(spark.createDataFrame(table_of(c.EPOCHS, row))))
    found = steps_of(frame, epochs, since=0, until=180, step=60).cache()
    peaks, queues = peaks_of(frame, 60 * SECOND), lag_by_queue(found)
    for table in (
        lag_by_group(peaks, found, queues),
        lag_by_topic(peaks, found, queues),
    ):
        rows = table.orderBy(c.SINCE).collect()
        assert [(row[c.QUEUE_COUNT], row[c.KNOWN_QUEUES]) for row in rows] == [
            (4, 4),
            (4, 2),
            (4, 4),
        ]
        assert told(rows) == [(60, 0), (30, 30), (60, 0)]
        assert [row[c.LAG_PEAK] for row in rows] == [20, 10, 20]


def test_a_reported_owner_goes_before_the_inferred_one(spark: SparkSession) -> None:
    from analytics.transforms.lag import lag_by_consumer, owners_seen

    frame = samples(
        spark,
        {"at": 10, "max": 5, "committed": 0, "owner": "b"},
        {"at": 70, "max": 5, "committed": 0},
    )
    owners = spark.createDataFrame(
        [("hangzhou", "settlement", "orders", "broker-a", 0, 1, "a")],
        [*c.QUEUE_KEY, c.EPOCH, c.CLIENT_ID],
    )
    steps = steps_of(frame, there(spark, (1, 0, None)), since=0, until=120, step=60)
    rows = lag_by_consumer(steps, owners, owners_seen(frame, 60 * SECOND)).collect()
    found = {row[c.SINCE].minute: row[c.CLIENT_ID] for row in rows}
    assert found == {0: "b", 1: "a"}


def test_a_consumer_s_lag_is_not_counted_once_per_epoch(spark: SparkSession) -> None:
    from analytics.transforms.lag import lag_by_consumer, owners_seen

    points = [
        {"at": at, "max": 6, "committed": 0, "epoch": 1 + (at > 30)}
        for at in range(10, 70, 10)
    ]
    frame = samples(spark, *points)
    owners = spark.createDataFrame(
        [
            ("hangzhou", "settlement", "orders", "broker-a", 0, number, "a")
            for number in (1, 2)
        ],
        [*c.QUEUE_KEY, c.EPOCH, c.CLIENT_ID],
    )
    epochs = there(spark, (1, 0, 30), (2, 30, None))
    steps = steps_of(frame, epochs, since=0, until=60, step=60)
    (row,) = lag_by_consumer(steps, owners, owners_seen(frame, 60 * SECOND)).collect()
    assert (row[c.LAG_MEAN], row[c.QUEUE_COUNT], row[c.KNOWN_QUEUES]) == (6, 1, 1)
    assert told([row]) == [(60, 0)]
