"""Roll-ups by tasks and without the stream: a batch of files, and merges by buckets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from analytics import contracts as c
from analytics import rollup
from analytics.errors import LakeError
from analytics.lake.ladder import CARRY, FAMILIES, dataset_of
from analytics.lake.manifest import load_manifest
from analytics.lake.storage import LocalStorage, Storage
from analytics.lake.writer import LandingWriter
from analytics.rollup import carry_up, write_batch
from tests.analytics import in_process
from tests.analytics.rolled import rungs
from tests.analytics.rows import MINUTE, SECOND, START_MS, sample_columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUPS = 7


def land(storage: Storage, minute: int) -> str:
    """Write a minute of some groups of two clusters; return one of the files."""
    writer = LandingWriter(storage, run_id=f"run{minute}")
    for second in (0, 30):
        now = START_MS + minute * MINUTE + second * SECOND
        for number in range(GROUPS):
            columns = sample_columns(now, group=f"group-{number}", weight=30.0)
            columns[c.MAX] = [100 + minute * queue + number for queue in range(4)]
            columns[c.CLUSTER] = ("hangzhou", "shanghai")[number % 2]
            writer.append(columns)
    return writer.close(START_MS).files[0]


def landed(storage: Storage) -> list[str]:
    return [file.path for file in storage.list_files("landing/samples")]


def nothing_told(*_told: Any) -> None:
    """Take no notice of progress."""


@pytest.fixture
def by_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few rows there are, they are divided among tasks."""
    monkeypatch.setattr(rollup, "ROWS_HERE", 0)
    monkeypatch.setattr(rollup, "ROWS_A_BUCKET", 100)


def climbed(spark: Any, storage: Storage, until_ms: int) -> dict[str, list[str]]:
    """Roll up ten batches of a minute, and carry them; return what is on each rung."""
    for minute in range(CARRY):
        before = set(landed(storage))
        land(storage, minute)
        paths = sorted(set(landed(storage)) - before)
        write_batch(spark, storage, minute, paths, nothing_told)
    assert carry_up(spark, storage, nothing_told, now_ms=until_ms) == len(FAMILIES)
    return rungs(storage)


def test_tasks_give_what_is_given_here(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    here, there = (LocalStorage(tmp_path / name) for name in ("here", "there"))
    session = in_process.session()
    found = climbed(session, here, START_MS)
    request.getfixturevalue("by_tasks")
    assert climbed(session, there, START_MS) == found


@pytest.mark.spark
@pytest.mark.timeout(1800)
def test_tasks_of_spark_give_what_is_given_here(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = (LocalStorage(tmp_path / name) for name in ("here", "there"))
    found = climbed(in_process.session(), here, START_MS)
    for minute in range(CARRY):
        land(there, minute)
    monkeypatch.setattr(rollup, "ROWS_HERE", 0)
    paths = landed(there)
    of_minute = [paths[at::CARRY] for at in range(CARRY)]
    write_batch(spark, there, 0, of_minute[0], nothing_told)
    monkeypatch.setattr(rollup, "ROWS_HERE", 10_000)
    for minute in range(1, CARRY):
        write_batch(spark, there, minute, of_minute[minute], nothing_told)
    monkeypatch.setattr(rollup, "ROWS_HERE", 0)
    monkeypatch.setattr(rollup, "ROWS_A_BUCKET", 1000)
    carry_up(spark, there, nothing_told, now_ms=START_MS)
    assert rungs(there) == found


@pytest.mark.usefixtures("by_tasks")
def test_a_file_that_is_gone_is_done_without(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    land(storage, 0)
    (kept, *_others) = landed(storage)
    paths = [kept, kept.replace("run0", "gone")]
    write_batch(in_process.session(), storage, 0, paths, nothing_told)
    (file,) = load_manifest(storage, dataset_of("queues", 60)).files
    assert file.cluster == "hangzhou"
    # All that a batch was planned with may be gone.
    write_batch(in_process.session(), storage, 1, paths[1:], nothing_told)
    manifest = load_manifest(storage, dataset_of("queues", 60))
    assert (len(manifest.files), manifest.batches) == (1, 2)


def test_a_file_that_goes_while_it_is_asked_for_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = LocalStorage(tmp_path)
    land(storage, 0)
    entry: Callable[..., Any] = rollup.read_entry

    def gone(lake: Storage, path: str, size: int) -> Any:
        found = entry(lake, path, size)
        lake.delete(path)
        return found

    monkeypatch.setattr(rollup, "read_entry", gone)
    write_batch(in_process.session(), storage, 0, landed(storage), nothing_told)
    assert load_manifest(storage, dataset_of("queues", 60)).batches == 1


def test_a_damaged_file_fails_the_batch_and_writes_nothing(tmp_path: Path) -> None:
    """The next run puts it aside, and does the batch without it."""
    storage = LocalStorage(tmp_path)
    torn = tmp_path / land(storage, 0)
    torn.write_bytes(torn.read_bytes()[:-100])
    with pytest.raises(LakeError, match="not a readable Parquet file"):
        write_batch(in_process.session(), storage, 0, landed(storage), nothing_told)
    assert storage.list_files("compact") == []
