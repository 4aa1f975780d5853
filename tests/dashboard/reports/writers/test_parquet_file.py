"""Parquet files are read by DuckDB, which did not write them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import pytest
from pyarrow import parquet

from analytics import contracts as c
from dashboard.models import JobRun
from dashboard.reports.data.facts import facts_of
from dashboard.reports.data.results import NoResultError
from dashboard.reports.data.tables import (
    BY_CONSUMER,
    BY_QUEUE,
    BY_TOPIC,
    MEMBERS,
)
from dashboard.reports.report import Report
from dashboard.reports.writers.parquet_file import UNIT, write_parquet
from tests.dashboard.reports.finished import MISSING, STEPS, finished_run

pytestmark = pytest.mark.django_db

SHANGHAI = ZoneInfo("Asia/Shanghai")


@pytest.fixture
def run(lake: Path) -> JobRun:
    return finished_run(lake)


@pytest.fixture
def file(run: JobRun, tmp_path: Path) -> Path:
    path = tmp_path / "queues.parquet"
    write_parquet(Report(run, SHANGHAI), BY_QUEUE, path)
    return path


def test_duckdb_reads_types_and_nulls(file: Path) -> None:
    table = duckdb.read_parquet(str(file))
    kinds = dict(zip(table.columns, map(str, table.types), strict=True))
    assert kinds[c.QUEUE_ID] == "BIGINT"
    assert kinds[c.LAG_MEAN] == "DOUBLE"
    assert kinds[c.SINCE] == "TIMESTAMP WITH TIME ZONE"
    rows = table.order("since, queue_id").fetchall()
    assert len(rows) == 2 * (STEPS - len(MISSING))
    first = dict(zip(table.columns, rows[0], strict=True))
    assert first[c.SINCE].astimezone(UTC) == datetime(2026, 3, 13, tzinfo=UTC)
    assert first[c.LAG_MEAN] is None, "unknown is null, never 0"
    assert first[c.UNKNOWN_SECONDS] == 60


def test_its_sum_is_the_figure_of_the_page(
    run: JobRun, file: Path, tmp_path: Path
) -> None:
    topics = tmp_path / "topics.parquet"
    write_parquet(Report(run, SHANGHAI), BY_TOPIC, topics)
    sums = [
        duckdb.sql(f"select sum(lag_mean), max(lag_ms_peak) from '{path}'").fetchall()
        for path in (file, topics)
    ]
    assert sums[0] == sums[1]
    groups = duckdb.sql(
        f"select since, sum(lag_mean) from '{file}' group by since order by since"
    ).fetchall()
    assert groups[0][1] is None
    assert groups[-1][1] == 2 * 50.5 * (STEPS - 1)
    known = [lag for _since, lag in groups if lag is not None]
    assert facts_of(Report(run, SHANGHAI)).measured.whole.total_seconds() == 60 * len(
        known
    )


def test_units_and_zone_stand_in_the_schema(file: Path) -> None:
    schema = parquet.read_schema(file)
    assert schema.field(c.LAG_MEAN).metadata == {UNIT: b"messages"}
    assert schema.field(c.LAG_MS_PEAK).metadata == {UNIT: b"ms"}
    assert schema.field(c.SINCE).type.tz == "Asia/Shanghai"
    assert schema.metadata[b"rocketscope.group"] == b"settlement"
    assert schema.metadata[b"rocketscope.step_seconds"] == b"60"


def test_a_zone_without_a_name_is_utc(run: JobRun, tmp_path: Path) -> None:
    path = tmp_path / "utc.parquet"
    write_parquet(Report(run), BY_CONSUMER, path)
    assert parquet.read_schema(path).field(c.SINCE).type.tz == "UTC"
    assert duckdb.sql(f"select distinct client_id from '{path}'").fetchall() == [
        ("=1+1",)
    ]


def test_a_run_without_the_table_says_so(run: JobRun, tmp_path: Path) -> None:
    with pytest.raises(NoResultError, match="has no load_by_member"):
        write_parquet(Report(run), MEMBERS, tmp_path / "no.parquet")
