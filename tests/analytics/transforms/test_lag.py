from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics import jobs, sources
from analytics.jobs import run_job
from analytics.lake.compaction import absorb
from analytics.lake.storage import Storage, open_storage
from analytics.lake.writer import LandingWriter
from analytics.presence import Period
from analytics.requests import JobRequest
from analytics.sources import choose_source
from analytics.transforms.bucket import LAG_TABLES
from analytics.transforms.measured import Measured, measured
from analytics.transforms.steps import NONE, Columns
from tests.analytics import in_process
from tests.analytics.drawn import UNTIL_MS, drawn_rows, write_rows
from tests.analytics.lag_by_hand import LagByHand
from tests.analytics.lag_by_hand import told as told_epochs
from tests.analytics.lakes import epoch_columns
from tests.analytics.rows import MINUTE, SECOND, START_MS, sample_columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = dict[str, Any]
Epochs = tuple[tuple[int, int, int | None], ...]


def land(folder: Path, *points: Row) -> None:
    """Write samples of one queue; each point has `at` in seconds, and columns."""
    writer = LandingWriter(str(folder), run_id="samples")
    for point in points:
        columns = {key: [point[key]] for key in point if key != "at"}
        at_ms = START_MS + point["at"] * SECOND
        writer.append(sample_columns(at_ms, queues=1, **columns))
    writer.close(START_MS)


def tell(folder: Path, epochs: Epochs) -> None:
    """Write epochs of the one queue: number, begin, end (seconds; None: it runs)."""
    writer = LandingWriter(str(folder), c.EPOCHS, run_id="epochs")
    for number, begin, end in epochs:
        row = epoch_columns(number, START_MS + begin * SECOND, ["a"])
        row[c.QUEUES] = [row[c.QUEUES][0][:1]]
        if end is not None:
            row[c.ENDED_BEFORE] = [START_MS + end * SECOND]
        writer.append(row)
    writer.close(START_MS)


def measure(folder: Path, *, since: int, until: int, step: int) -> Measured:
    """Return what was measured of the one group of a lake; times are in seconds."""
    lake = open_storage(str(folder))
    for dataset in (c.SAMPLES, c.EPOCHS):
        absorb(lake, dataset)
    request = JobRequest(
        c.JOB_LAG,
        str(folder),
        str(folder),
        since_ms=START_MS + since * SECOND,
        until_ms=START_MS + until * SECOND,
        step_seconds=step,
    )
    # A moment belongs to the step that ends with it: the end is read, too.
    chosen = choose_source(lake, JobRequest(c.JOB_LAG, str(folder), str(folder)))
    (bucket,), work = sources.plan_work(
        lake, request, chosen, jobs.IN_USE_ONLY, list(LAG_TABLES)
    )
    (found,) = measured(lake, bucket, work)
    return found


def rows_of(columns: Columns) -> list[Row]:
    """Return rows as tables have them."""
    found = []
    for values in zip(*(each.tolist() for each in columns.values()), strict=True):
        row = dict(zip(columns, values, strict=True))
        for name, value in row.items():
            is_known = value != NONE if isinstance(value, int) else not np.isnan(value)
            row[name] = value if is_known else None
        row[c.SINCE] = datetime.fromtimestamp(row[c.SINCE] / 1000, UTC)
        found.append(row)
    return sorted(found, key=lambda row: row[c.SINCE])


def steps(
    folder: Path,
    *points: Row,
    step: int = 60,
    until: int = 0,
    epochs: Epochs = ((1, -3600, None),),
) -> list[Row]:
    """Return the steps of the queue's epochs, whole ones up to the last sample's."""
    lake = folder / f"lake{len(list(folder.iterdir()))}"
    land(lake, *points)
    tell(lake, epochs)
    last = max([until, *(point["at"] for point in points)])
    found = measure(lake, since=0, until=-(-last // step) * step, step=step)
    return rows_of(found.of_epochs)


def told(rows: list[Row]) -> list[tuple[float, float]]:
    return [(row[c.SECONDS], row[c.UNKNOWN_SECONDS]) for row in rows]


def test_an_offset_committed_ahead_of_the_maximum_is_no_lag(
    tmp_path: Path,
) -> None:
    (row,) = steps(tmp_path, {"at": 10, "max": 10, "committed": 12})
    assert (row[c.LAG_MEAN], row[c.LAG_PEAK], row[c.SECONDS]) == (0, 0, 10)


def test_a_mean_weighs_what_samples_claim(tmp_path: Path) -> None:
    (row,) = steps(
        tmp_path,
        {"at": 50, "max": 100, "committed": 100, "weight": 50.0},
        {"at": 60, "max": 160, "committed": 100, "weight": 10.0},
    )
    assert row[c.LAG_MEAN] == 10
    assert (row[c.LAG_PEAK], row[c.LAG_LAST], row[c.SECONDS]) == (60, 60, 60)


def test_what_is_claimed_belongs_to_the_steps_that_it_lies_in(
    tmp_path: Path,
) -> None:
    point = {"at": 75, "max": 7, "committed": 0, "weight": 30.0}
    first, second = steps(tmp_path, point, until=120)
    assert told([first, second]) == [(15, 45), (15, 45)]
    assert (first[c.LAG_MEAN], second[c.LAG_PEAK]) == (7, 7)
    tens = steps(tmp_path, point, step=10)
    assert told(tens) == [(0, 10)] * 4 + [(5, 5), (10, 0), (10, 0), (5, 5)]
    (minute,) = steps(tmp_path, point | {"at": 60, "weight": 300.0})
    assert told([minute]) == [(60, 0)], "no sample claims more than a minute"


def test_time_that_nothing_claims_is_unknown(tmp_path: Path) -> None:
    """Before the first sample, in a hole, while the lag is not known, at the end."""
    rows = steps(
        tmp_path,
        {"at": 20, "weight": 0.0},
        {"at": 60, "weight": 40.0},
        {"at": 130, "weight": 10.0},
        {"at": 200, "weight": 60.0, "committed": None},
        until=300,
    )
    assert told(rows) == [(40, 20), (0, 60), (10, 50), (0, 60), (0, 60)]
    assert [row[c.LAG_MEAN] for row in rows] == [5, None, 5, None, None]
    assert [row[c.LAG_LAST] for row in rows] == [5, None, 5, None, None]


def test_a_queue_s_time_begins_and_ends_with_its_epochs(tmp_path: Path) -> None:
    claims = [{"at": at, "epoch": 4} for at in range(10, 200, 10)]
    rows = steps(tmp_path, *claims, epochs=((4, 30, 150),), until=240)
    assert [row[c.SINCE].minute for row in rows] == [0, 1, 2]
    assert told(rows) == [(30, 0), (60, 0), (30, 0)]


def test_an_epoch_left_open_ends_where_the_next_one_begins(
    tmp_path: Path,
) -> None:
    rows = steps(tmp_path, {"at": 60}, epochs=((1, 0, None), (2, 40, None)))
    lengths = [(row[c.EPOCH], sum(told([row])[0])) for row in rows]
    assert lengths == [(1, 40), (2, 20)]


def test_without_an_epoch_s_word_there_is_what_samples_claim(
    tmp_path: Path,
) -> None:
    rows = steps(tmp_path, {"at": 10}, {"at": 250}, epochs=(), until=300)
    assert [row[c.SINCE].minute for row in rows] == [0, 4]
    assert told(rows) == [(10, 50), (10, 50)]


def test_the_last_known_lag_is_kept_when_the_end_is_unknown(
    tmp_path: Path,
) -> None:
    (row,) = steps(
        tmp_path,
        {"at": 10, "max": 7, "committed": 4},
        {"at": 20, "max": 9, "committed": None},
    )
    assert row[c.LAG_LAST] == 3
    assert (row[c.SECONDS], row[c.UNKNOWN_SECONDS]) == (10, 50)


def test_time_over_the_threshold_is_at_most_the_known_time(
    tmp_path: Path,
) -> None:
    (row,) = steps(
        tmp_path,
        {"at": 10, "lag_ms": c.OVER_MS + 1},
        {"at": 20, "lag_ms": c.OVER_MS},
        {"at": 60, "lag_ms": c.OVER_MS + 1, "committed": None, "weight": 40.0},
    )
    assert (row[c.OVER_SECONDS], row[c.SECONDS]) == (10, 20)


def test_a_rate_spans_from_step_to_step(tmp_path: Path) -> None:
    rows = steps(
        tmp_path,
        {"at": 50, "max": 100, "committed": 50},
        {"at": 70, "max": 300, "committed": 90},
    )
    assert [row[c.IN_RATE] for row in rows] == [None, 10]
    assert [row[c.OUT_RATE] for row in rows] == [None, 2]


def test_steps_between_two_samples_have_the_rate_of_both(tmp_path: Path) -> None:
    rows = steps(
        tmp_path,
        {"at": 10, "max": 100},
        {"at": 60, "max": 600, "weight": 50.0},
        {"at": 70, "max": 620},
        step=10,
    )
    assert [row[c.IN_RATE] for row in rows] == [None, *[10] * 5, 2]


def test_an_offset_that_went_back_gives_no_rate(tmp_path: Path) -> None:
    rows = steps(
        tmp_path,
        {"at": 10, "max": 100, "committed": 100},
        {"at": 70, "max": 20, "committed": 100},
        {"at": 130, "max": 80, "committed": 40},
    )
    assert [row[c.IN_RATE] for row in rows] == [None, None, 1]
    assert [row[c.OUT_RATE] for row in rows] == [None, 0, None]


def test_a_gap_gives_no_rate_across_it(tmp_path: Path) -> None:
    rows = steps(
        tmp_path,
        {"at": 10, "max": 0},
        {"at": 250, "max": 2400},
        {"at": 260, "max": 2600},
    )
    assert [row[c.IN_RATE] for row in rows] == [*[None] * 4, 20]


def test_steps_start_on_whole_multiples_of_their_length(tmp_path: Path) -> None:
    (row,) = steps(tmp_path, {"at": 59, "max": 1}, step=3600)
    assert row[c.SINCE].replace(tzinfo=UTC) == datetime(2026, 3, 13, tzinfo=UTC)
    assert row[c.SECONDS] + row[c.UNKNOWN_SECONDS] == 3600


def test_queues_of_two_epochs_in_a_step_become_one_row(tmp_path: Path) -> None:
    """The first sample of an epoch claims time of the one before: known all the same.

    What is by epoch does not know in which of the two that time was.
    """
    land(
        tmp_path,
        {"at": 10, "max": 10, "committed": 0, "epoch": 1},
        {"at": 20, "max": 40, "committed": 0, "epoch": 2},
        {"at": 30, "max": 40, "committed": 0, "epoch": 2},
    )
    tell(tmp_path, ((1, 0, 20), (2, 20, None)))
    found = measure(tmp_path, since=0, until=30, step=60)
    (row,) = rows_of(found.queues)
    assert row[c.LAG_MEAN] == 30
    assert (row[c.LAG_LAST], *told([row])[0]) == (40, 30, 0)
    assert told(rows_of(found.of_epochs)) == [(10, 10), (10, 0)]


def test_a_sum_says_of_how_many_queues_it_is(tmp_path: Path) -> None:
    """Four queues, of which broker-b's two are not sampled in the second minute."""
    brokers = ["broker-a", "broker-a", "broker-b", "broker-b"]
    halves = [
        brokers if at <= 60 or at > 120 else brokers[:2] for at in range(10, 190, 10)
    ]
    writer = LandingWriter(str(tmp_path), run_id="samples")
    for number, seen in enumerate(halves):
        writer.append(
            sample_columns(
                START_MS + (number + 1) * 10 * SECOND,
                queues=len(seen),
                broker=seen,
                queue_id=[place % 2 for place in range(len(seen))],
            )
        )
    writer.close(START_MS)
    row = epoch_columns(1, START_MS, ["a"])
    row[c.QUEUES] = [
        [
            {c.TOPIC: "orders", c.BROKER: broker, c.QUEUE_ID: place % 2}
            for place, broker in enumerate(brokers)
        ]
    ]
    epochs = LandingWriter(str(tmp_path), c.EPOCHS, run_id="epochs")
    epochs.append(row)
    epochs.close(START_MS)
    found = measure(tmp_path, since=0, until=180, step=60)
    for table in (found.by_group, found.by_topic):
        rows = rows_of(table)
        assert [(row[c.QUEUE_COUNT], row[c.KNOWN_QUEUES]) for row in rows] == [
            (4, 4),
            (4, 2),
            (4, 4),
        ]
        assert told(rows) == [(60, 0), (30, 30), (60, 0)]
        assert [row[c.LAG_PEAK] for row in rows] == [20, 10, 20]


def test_a_reported_owner_goes_before_the_inferred_one(tmp_path: Path) -> None:
    land(
        tmp_path,
        {"at": 10, "max": 5, "committed": 0, "owner": "b"},
        {"at": 70, "max": 5, "committed": 0},
    )
    tell(tmp_path, ((1, 0, None),))
    found = measure(tmp_path, since=0, until=120, step=60)
    rows = rows_of(found.by_consumer)
    names = {row[c.SINCE].minute: found.clients[row["consumer"]] for row in rows}
    assert names == {0: "b", 1: "a"}


def test_a_consumer_s_lag_is_not_counted_once_per_epoch(tmp_path: Path) -> None:
    points = [
        {"at": at, "max": 6, "committed": 0, "epoch": 1 + (at > 30)}
        for at in range(10, 70, 10)
    ]
    land(tmp_path, *points)
    tell(tmp_path, ((1, 0, 30), (2, 30, None)))
    found = measure(tmp_path, since=0, until=60, step=60)
    (row,) = rows_of(found.by_consumer)
    assert (row[c.LAG_MEAN], row[c.QUEUE_COUNT], row[c.KNOWN_QUEUES]) == (6, 1, 1)
    assert told([row]) == [(60, 0)]


KEYS: Final = (*c.QUEUE_KEY, c.CLIENT_ID, c.SINCE)


def tables_of(start: Any, lake: Path, name: str, **changes: Any) -> dict[str, Any]:
    """Run a job over all of a lake, and return its tables of lag by key and step."""
    asked: dict[str, Any] = {"since_ms": START_MS, "until_ms": UNTIL_MS} | changes
    output = lake.parent / name
    request = JobRequest(c.JOB_LAG, str(lake), str(output), **asked)
    summary = run_job(start, request, lambda *_: None)
    found: dict[str, Any] = {}
    for dataset in LAG_TABLES:
        table = parquet.read_table(output / dataset)
        assert summary["rows"][dataset] == table.num_rows
        assert table.schema.equals(LAG_TABLES[dataset])
        names = [key for key in KEYS if key in table.schema.names]
        found[dataset] = {}
        for row in table.to_pylist():
            row[c.SINCE] = round(row[c.SINCE].timestamp() * 1000)
            found[dataset][tuple(row[key] for key in names)] = row
        assert len(found[dataset]) == table.num_rows
    return found


def same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for dataset, rows in expected.items():
        assert found[dataset].keys() == rows.keys(), dataset
        assert rows
        for key, row in rows.items():
            for name, value in row.items():
                mine = found[dataset][key][name]
                if isinstance(value, float) and mine is not None:
                    assert math.isclose(mine, value, rel_tol=1e-9, abs_tol=1e-9), key
                else:
                    assert mine == value, (dataset, key, name)


@pytest.mark.parametrize(
    ("seed", "step"), [(1, 60), (2, 600), (3, 60), (4, 10), (5, 600)]
)
def test_any_lake_has_the_tables_of_a_plain_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, step: int
) -> None:
    """In buckets of few groups, and with parts of the groups at once."""
    samples, epochs = drawn_rows(seed)
    write_rows(tmp_path / "lake", samples, epochs)
    monkeypatch.setattr(sources, "ROWS_A_BUCKET", 500 * seed)
    monkeypatch.setattr("analytics.transforms.measured._ROWS_AT_ONCE", 300 * seed)
    found = tables_of(in_process.session, tmp_path / "lake", "out", step_seconds=step)
    by_hand = LagByHand(
        samples, told_epochs(epochs), Period(START_MS, UNTIL_MS, step * SECOND)
    )
    same(found, {dataset: by_hand.table(dataset) for dataset in LAG_TABLES})


@pytest.mark.parametrize("seed", [7, 8])
def test_a_part_of_a_lake_has_the_tables_of_a_plain_loop(
    tmp_path: Path, seed: int
) -> None:
    """One cluster, some groups, and a period in the middle."""
    samples, epochs = drawn_rows(seed)
    write_rows(tmp_path / "lake", samples, epochs)
    since_ms, until_ms = START_MS + 7 * MINUTE, START_MS + 15 * MINUTE + 3 * SECOND
    found = tables_of(
        in_process.session,
        tmp_path / "lake",
        "out",
        since_ms=since_ms,
        until_ms=until_ms,
        clusters=("shanghai",),
        groups=("untold", "beta"),
        step_seconds=60,
    )
    samples, epochs = (
        [
            row
            for row in rows
            if row[c.CLUSTER] == "shanghai" and row[c.GROUP] in {"untold", "beta"}
        ]
        for rows in (samples, epochs)
    )
    by_hand = LagByHand(
        samples, told_epochs(epochs), Period(since_ms, until_ms, MINUTE)
    )
    same(found, {dataset: by_hand.table(dataset) for dataset in LAG_TABLES})


@pytest.mark.spark
@pytest.mark.timeout(1800)
def test_roll_ups_have_the_tables_of_their_samples(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Apart from consumers: roll-ups do not name owners."""
    lake = tmp_path / "lake"
    samples, epochs = drawn_rows(9)
    # Without an epoch's number, a row's neighbours depend on how far back is read.
    write_rows(lake, [row for row in samples if row[c.EPOCH] is not None], epochs)
    until_ms = START_MS + 20 * MINUTE
    asked: dict[str, Any] = {"until_ms": until_ms, "step_seconds": 60}
    run_job(
        lambda: spark,
        JobRequest(c.JOB_ROLLUP, str(lake), str(lake / "out")),
        lambda *_: None,
    )
    expected = tables_of(lambda: spark, lake, "samples", **asked)
    same(tables_of(in_process.session, lake, "here", **asked), expected)

    def choose(storage: Storage, request: JobRequest) -> Any:
        return next(
            each for each in sources._sources(storage, request) if each.level == 60
        )

    monkeypatch.setattr(jobs, "choose_source", choose)
    found = tables_of(lambda: spark, lake, "rung", **asked)
    del expected[c.LAG_BY_CONSUMER]
    for tables in (found, expected):
        for rows in tables.values():  # a sample after the end is read in one of them
            for key in [key for key in rows if key[-1] >= until_ms - MINUTE]:
                del rows[key]
    same(found, expected)
