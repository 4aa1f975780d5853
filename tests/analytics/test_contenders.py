"""DuckDB tells the same rows as the job: what the benchmark compares must be equal.

The play is that of `test_time`: sweeps late and lost, a silent broker, one that is not
named, a collector that is away. A second reading of the rules, in another language,
has to come to the same known and unknown time, sums and scores.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analytics import contracts as c
from analytics.division import WITHOUT_OPTIONS
from analytics.jobs import run_job
from analytics.lake.compaction import absorb
from analytics.lake.storage import open_storage
from analytics.requests import JobRequest
from benchmarks.backtest.comparison import TOLD, compare
from benchmarks.backtest.duckdb_sql import DuckContender
from tests.analytics.test_time import play

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]


def request(lake: Path, output: Path, step_seconds: int) -> JobRequest:
    return JobRequest(
        c.JOB_BACKTEST,
        str(lake),
        str(output),
        step_seconds=step_seconds,
        strategies=WITHOUT_OPTIONS,
    )


@pytest.mark.parametrize("step_seconds", [60, 300])
def test_duckdb_tells_the_same_rows(
    spark: SparkSession, tmp_path: Path, step_seconds: int
) -> None:
    lake, ours, theirs = (tmp_path / name for name in ("lake", "ours", "theirs"))
    play(1, lake)
    run_job(lambda: spark, request(lake, ours, step_seconds), lambda *_: None)
    DuckContender(tmp_path).run(request(lake, theirs, step_seconds))
    for dataset, found in compare(ours, theirs, TOLD["duckdb"]).items():
        assert found.rows > 0, dataset
        assert found.wrong == {}, dataset


def test_steps_shorter_than_claims_are_refused(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    play(1, lake)
    for dataset in (c.SAMPLES, c.EPOCHS):
        absorb(open_storage(str(lake)), dataset)
    with pytest.raises(ValueError, match="shorter"):
        DuckContender(tmp_path).run(request(lake, tmp_path / "out", 10))
