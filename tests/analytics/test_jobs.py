from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics.errors import JobCancelledError, JobError
from analytics.jobs import run_job
from analytics.requests import JobRequest
from rmqcore.allocation import scores
from tests.analytics import in_process
from tests.analytics.lakes import two_epochs
from tests.analytics.rows import MINUTE, START_MS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_SLOW: Final = pytest.mark.timeout(1800)


class Output:
    """A finished job: its summary, the phases it told, and its rows as dicts."""

    def __init__(self, folder: Path, summary: dict[str, Any], phases: list[str]):
        self.folder = folder
        self.summary = summary
        self.phases = phases

    def rows(self, dataset: str, *order: str) -> list[dict[str, Any]]:
        rows = parquet.read_table(self.folder / dataset).to_pylist()
        return sorted(rows, key=lambda row: [row[name] for name in order])


@pytest.fixture(
    scope="module",
    params=["here", pytest.param("spark", marks=[pytest.mark.spark, _SLOW])],
)
def output(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Output:
    """Return a report that was made here, and by tasks of Spark."""
    start = in_process.session
    if request.param == "spark":
        spark = request.getfixturevalue("spark")
        start = lambda: spark  # noqa: E731
    folder = tmp_path_factory.mktemp("job")
    two_epochs(folder / "lake")
    asked = JobRequest(
        job=c.JOB_REPORT,
        lake=str(folder / "lake"),
        output=str(folder / "out"),
        groups=("settlement",),
        step_seconds=60,
        added_members=(1,),
    )
    phases: list[str] = []
    summary = run_job(start, asked, lambda _part, phase: phases.append(phase))
    return Output(folder / "out", summary, phases)


def test_lag_by_queue_is_weighed_and_unknown_is_not_zero(output: Output) -> None:
    rows = output.rows(c.LAG_BY_QUEUE, c.SINCE, c.QUEUE_ID)
    assert len(rows) == 8
    silent, hot = rows[0], rows[3]
    assert (silent[c.SECONDS], silent[c.UNKNOWN_SECONDS]) == (0, 60)
    assert silent[c.LAG_MEAN] is None
    assert silent[c.OUT_RATE] is None
    assert silent[c.IN_RATE] == 10
    assert hot[c.SINCE] == datetime(2026, 3, 13, tzinfo=UTC)
    assert hot[c.LAG_MEAN] == sum(20 * second for second in range(10, 61, 10)) / 6
    assert (hot[c.LAG_PEAK], hot[c.LAG_LAST]) == (1200, 1200)
    assert (hot[c.IN_RATE], hot[c.OUT_RATE]) == (50, 30)


def test_lag_by_group_says_how_many_queues_are_known(output: Output) -> None:
    first, second = output.rows(c.LAG_BY_GROUP, c.SINCE)
    assert (first[c.QUEUE_COUNT], first[c.KNOWN_QUEUES]) == (4, 3)
    assert (second[c.QUEUE_COUNT], second[c.KNOWN_QUEUES]) == (4, 4)
    assert second[c.LAG_PEAK] == 120 * 20
    assert second[c.IN_RATE] == 80
    known = [(row[c.SECONDS], row[c.UNKNOWN_SECONDS]) for row in (first, second)]
    assert known == [(45, 15), (60, 0)], "a queue in four was not known"


def test_lag_by_consumer_follows_the_strategy_in_use(output: Output) -> None:
    rows = output.rows(c.LAG_BY_CONSUMER, c.SINCE, c.CLIENT_ID)
    counts = [(row[c.CLIENT_ID], row[c.QUEUE_COUNT]) for row in rows]
    assert counts == [("a", 4), ("a", 2), ("b", 2)]
    assert rows[1][c.LAG_LAST] == 0
    assert rows[2][c.LAG_LAST] == 120 * 20


def test_skew_agrees_with_the_scores_of_a_plan(output: Output) -> None:
    rows = {(row[c.STRATEGY], row[c.EPOCH]): row for row in output.rows(c.SKEW_BY_TIME)}
    assert {strategy for strategy, _epoch in rows} == {
        "AVG",
        "AVG_BY_CIRCLE",
        "CONSISTENT_HASH",
        "BALANCED",
        "in_use+1",
    }
    for strategy, loads in (
        ("AVG", [20, 60]),
        ("AVG_BY_CIRCLE", [20, 60]),
        ("BALANCED", [30, 50]),
        ("in_use+1", [20, 10, 50]),
    ):
        row = rows[strategy, 2]
        expected = scores(loads)
        assert row["load_max_to_mean"] == pytest.approx(expected.max_over_mean)
        assert row["load_variation"] == pytest.approx(expected.variation)
        assert row["load_gini"] == pytest.approx(expected.gini)
    assert rows["AVG", 1]["load_gini"] == 0
    assert rows["AVG", 2][c.IDLE_COUNT] == 0


def test_members_carry_what_they_would_have_had(output: Output) -> None:
    rows = [
        row
        for row in output.rows(c.LOAD_BY_MEMBER, c.EPOCH, c.CLIENT_ID)
        if row[c.STRATEGY] == "AVG_BY_CIRCLE"
    ]
    loads = [(row[c.CLIENT_ID], row[c.QUEUE_COUNT], row[c.LOAD]) for row in rows]
    assert loads == [("a", 4, 80), ("a", 2, 20), ("b", 2, 60)]


def test_a_report_of_a_group_has_its_members_over_time(output: Output) -> None:
    loads = sorted(
        (row[c.SINCE], row[c.CLIENT_ID], row[c.LOAD])
        for row in output.rows(c.MEMBER_BY_TIME)
        if row[c.STRATEGY] == "AVG_BY_CIRCLE"
    )
    assert [load[1:] for load in loads] == [("a", 80), ("a", 20), ("b", 60)]


def test_strategies_are_summed_up_with_their_moves(output: Output) -> None:
    rows = {row[c.STRATEGY]: row for row in output.rows(c.STRATEGIES)}
    assert {name: row[c.IN_USE] for name, row in rows.items()} == {
        "AVG": True,
        "AVG_BY_CIRCLE": False,
        "CONSISTENT_HASH": False,
        "BALANCED": False,
        "in_use+1": False,
    }
    assert rows["AVG"][c.MOVES] == 2
    assert rows["BALANCED"][c.MOVES] == 1
    assert rows["AVG"][c.EPOCH_COUNT] == 2
    mean = (45 * 1.0 + 60 * 1.5) / 105  # each step by how much of it is known
    assert rows["AVG"]["load_max_to_mean"] == pytest.approx(mean)


def test_overload_is_more_than_any_member_was_seen_to_take(output: Output) -> None:
    """One member consumed 50 a second, and had a load of 80: too much for anybody."""
    rows = {(row[c.STRATEGY], row[c.EPOCH]): row for row in output.rows(c.SKEW_BY_TIME)}
    loads = {key: (row[c.LOAD_PEAK], row[c.OVERLOAD]) for key, row in rows.items()}
    assert loads["AVG", 1] == (80, True)
    assert loads["AVG", 2] == (60, True)
    assert loads["BALANCED", 2] == (50, False)
    totals = {row[c.STRATEGY]: row for row in output.rows(c.STRATEGIES)}
    assert totals["AVG"][c.OVERLOAD_SECONDS] == 45 + 60
    assert totals["BALANCED"][c.OVERLOAD_SECONDS] == 45
    for row in totals.values():
        assert (row[c.SECONDS], row[c.UNKNOWN_SECONDS]) == (105, 15)


def test_the_summary_is_written_last_and_tells_the_period(output: Output) -> None:
    summary = json.loads((output.folder / c.SUMMARY).read_text())
    assert summary == output.summary
    assert summary["since"] == "2026-03-13T00:00:00+00:00"
    assert summary["step_seconds"] == 60
    assert summary["rows"][c.LAG_BY_QUEUE] == 8
    assert output.phases[-2:] == ["summary", "done"]


def test_reports_find_the_columns_that_they_show(output: Output) -> None:
    from dashboard.reports.data.tables import ALERTS, TABLES

    for key, table in TABLES.items():
        if table is ALERTS:  # from the database, not from the job
            continue
        names = set(parquet.read_schema(_any_part(output.folder / key)).names)
        assert {column.key for column in table.columns} <= names, key


def _any_part(folder: Path) -> Path:
    return next(folder.glob("*.parquet"))


def test_a_part_of_the_period_still_has_rates(tmp_path: Path) -> None:
    two_epochs(tmp_path / "lake")
    request = JobRequest(
        job=c.JOB_LAG,
        lake=str(tmp_path / "lake"),
        output=str(tmp_path / "out"),
        since_ms=START_MS + MINUTE,
        until_ms=START_MS + MINUTE + 10_000,
        groups=("settlement",),
        clusters=("hangzhou",),
        step_seconds=10,
    )
    run_job(in_process.session, request, lambda *_: None)
    rows = parquet.read_table(tmp_path / "out" / c.LAG_BY_QUEUE).to_pylist()
    assert sorted(row[c.IN_RATE] for row in rows) == [10, 10, 10, 50]


def test_nothing_to_read_is_said_before_spark_starts(tmp_path: Path) -> None:
    two_epochs(tmp_path)
    request = JobRequest(c.JOB_LAG, str(tmp_path), str(tmp_path), until_ms=START_MS)

    def never() -> SparkSession:
        raise AssertionError("Spark must not start for nothing")

    with pytest.raises(JobError, match=r"no sample until 2026-.*52 in all"):
        run_job(never, request, lambda *_: None)


def test_a_job_stops_where_its_progress_says_so(tmp_path: Path) -> None:
    two_epochs(tmp_path / "lake")

    def stop(part: float, _phase: str) -> None:
        if part >= 0.2:
            raise JobCancelledError("enough")

    request = JobRequest(c.JOB_LAG, str(tmp_path / "lake"), str(tmp_path / "out"))
    with pytest.raises(JobCancelledError):
        run_job(in_process.session, request, stop)
    assert not (tmp_path / "out" / c.SUMMARY).exists()
