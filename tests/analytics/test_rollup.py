"""Roll-ups against a recomputation from scratch, whatever was cut short on the way."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.pandas.types import from_arrow_schema

from analytics import contracts as c
from analytics.errors import JobCancelledError, LakeError
from analytics.jobs import run_job
from analytics.lake.compaction import absorb
from analytics.lake.ladder import (
    CARRY,
    FAMILIES,
    PEAKS,
    QUEUES,
    dataset_of,
    view_from,
)
from analytics.lake.manifest import load_manifest
from analytics.lake.reader import read_file, read_table
from analytics.lake.retention import (
    GRACE_MS,
    RAW_KEPT_MS,
    GivenUp,
    Swept,
    expire,
    sweep_landing,
)
from analytics.lake.source_log import (
    CHECKPOINT,
    READ_WITHIN_MS,
    files_of_batch,
    read_log,
)
from analytics.lake.storage import LocalStorage, Storage
from analytics.lake.streamed import check_checkpoint, unread_files
from analytics.lake.writer import LandingWriter
from analytics.requests import JobRequest
from analytics.rollup import write_batch
from analytics.schemas import SAMPLES
from analytics.session import close_callback_connections
from analytics.sources import choose_source
from tests.analytics import in_process
from tests.analytics.lakes import epoch_columns
from tests.analytics.rolled import merged_by_hand, parts_by_hand, peaks_by_hand
from tests.analytics.rows import HOUR, MINUTE, SECOND, START_MS, sample_columns
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Each roll-up has a thread that Java calls; none may outlive it."""
    yield
    wait_until(
        # One listens, and one may serve Java's finalizer.
        lambda: len([t for t in threading.enumerate() if "(run)" in t.name]) <= 2,
        "threads that served calls of Java to end",
    )


def land(folder: Path, *minutes: int, run: str = "run") -> None:
    """Write minutes of two groups, the second with two topics, one unknown at times."""
    writer = LandingWriter(str(folder), run_id=run)
    for minute in minutes:
        for second in (0, 30):
            now = START_MS + minute * MINUTE + second * SECOND
            moved = 60 * minute + second
            writer.append(sample_columns(now, max=[105 + moved * q for q in range(4)]))
            for topic in ("orders", "bills"):
                columns = sample_columns(
                    now,
                    group="billing",
                    topic=topic,
                    max=[200 + moved] * 4,
                    committed=[None if second else 100 + moved // 2] * 4,
                    lag_ms=[minute * 7 * SECOND] * 4,
                    epoch=1 + minute // 4,
                )
                writer.append(columns)
        assert writer.flush(START_MS + (minute + 1) * MINUTE).error is None
    writer.close(START_MS)


def roll_up(spark: SparkSession, lake: Path, progress: Any = None) -> dict[str, Any]:
    request = JobRequest(c.JOB_ROLLUP, str(lake), str(lake / "out"))
    return run_job(lambda: spark, request, progress or (lambda *_: None))


def assert_equal_to_scratch(lake: Path) -> None:
    """Compare each rung with what a plain loop makes of all samples at once."""
    storage = LocalStorage(lake)
    samples = read_table(storage, c.SAMPLES).to_pylist()
    for level in c.ROLLUP_LEVELS:
        step = timedelta(seconds=level)
        for family, by_hand in ((QUEUES, parts_by_hand), (PEAKS, peaks_by_hand)):
            dataset = dataset_of(family, level)
            listed = [
                row
                for file in view_from(storage, family, level).files
                for row in read_file(storage, dataset, file.path).to_pylist()
            ]
            found = merged_by_hand(listed, step, family)
            wanted = merged_by_hand(by_hand(samples), step, family)
            assert _sorted(found) == _sorted(wanted), (level, family)


def _sorted(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(_told, rows))


def test_every_sample_is_on_every_rung_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from analytics import rollup

    monkeypatch.setattr(rollup, "ROWS_HERE", 0)  # everything is a task
    land(tmp_path, 0, 1, 2)
    assert roll_up(spark, tmp_path)["batches"] == 1
    land(tmp_path, 3, 5, run="next")
    assert roll_up(spark, tmp_path)["batches"] == 1
    # Minute 4 comes late, after the one that follows it.
    land(tmp_path, 4, run="late")
    assert roll_up(spark, tmp_path)["batches"] == 1
    assert roll_up(spark, tmp_path)["batches"] == 0
    assert_equal_to_scratch(tmp_path)
    assert unread_files(LocalStorage(tmp_path), c.SAMPLES) == {}
    assert len(read_log(LocalStorage(tmp_path)).counted) == 6


def stop_at(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    """Let the `number`th call of a step of the work fail, after it was done."""
    from analytics.lake import carrying

    work: Callable[..., Any] = getattr(carrying, name)
    calls = 0

    def cut(*given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        made = work(*given, **named)
        if calls == number:
            raise OSError("No space left on device")
        return made

    monkeypatch.setattr(carrying, name, cut)


def test_work_that_was_cut_short_is_done_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut after each kind of write: in a batch, in a carry, between two rungs."""
    from analytics import rollup

    monkeypatch.setattr(rollup, "FILES_A_BATCH", 1)
    land(tmp_path, *range(CARRY))
    cuts = [("put", 1), ("list_files", 2), ("put", 13), ("list_files", 9), ("put", 1)]
    for name, number in cuts:
        with monkeypatch.context() as patch:
            stop_at(patch, name, number)
            with pytest.raises(OSError, match="No space left"):
                roll_up(spark, tmp_path)
    roll_up(spark, tmp_path)
    assert_equal_to_scratch(tmp_path)
    storage = LocalStorage(tmp_path)
    for family in FAMILIES:
        minutes, ten_minutes = (
            load_manifest(storage, dataset_of(family, level)).files
            for level in (60, 600)
        )
        assert len(minutes) == len(ten_minutes) == 1


def test_files_that_are_large_already_are_carried_but_not_merged(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from analytics import rollup
    from analytics.lake import carrying

    monkeypatch.setattr(rollup, "FILES_A_BATCH", 1)
    monkeypatch.setattr(carrying, "MOST_MERGED_ROWS", 0)
    land(tmp_path, *range(CARRY))
    for _run in range(2):
        roll_up(spark, tmp_path)
        storage = LocalStorage(tmp_path)
        for family in FAMILIES:
            files = [
                len(load_manifest(storage, dataset_of(family, level)).files)
                for level in (60, 600)
            ]
            assert files == [CARRY, 1]
    assert_equal_to_scratch(tmp_path)


def test_a_stop_is_taken_between_batches(spark: SparkSession, tmp_path: Path) -> None:
    land(tmp_path, 0)

    def stop(_part: float, phase: str) -> None:
        if phase == "samples":
            raise JobCancelledError("enough")

    with pytest.raises(JobCancelledError):
        roll_up(spark, tmp_path, stop)
    assert roll_up(spark, tmp_path)["batches"] == 1
    assert_equal_to_scratch(tmp_path)


def test_a_truncated_file_is_put_aside_and_holds_nothing_up(
    spark: SparkSession, tmp_path: Path
) -> None:
    land(tmp_path, 0, 1, 2)
    storage = LocalStorage(tmp_path)
    torn = storage.list_files("landing/samples")[1].path
    whole = storage.read(torn)
    (tmp_path / torn).write_bytes(whole[: len(whole) // 2])
    done = roll_up(spark, tmp_path)
    assert (done["files"], done["damaged"], done["batches"]) == (2, 1, 1)
    assert_equal_to_scratch(tmp_path)
    assert storage.read(f"damaged/{torn}") == whole[: len(whole) // 2]
    # A batch that was planned and not done may name a file that is gone since.
    land(tmp_path, 3, 4, run="next")
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, "put", 1)
        with pytest.raises(OSError, match="No space left"):
            roll_up(spark, tmp_path)
    planned = sorted(unread_files(storage, c.SAMPLES))
    storage.delete(planned[0])
    assert roll_up(spark, tmp_path)["batches"] == 1
    assert len(unread_files(storage, c.SAMPLES)) == 0


def test_the_checkpoint_stays_small_over_many_batches(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day a round, of two files and two batches; the log is compacted with each."""
    from analytics import rollup

    monkeypatch.setattr(rollup, "FILES_A_BATCH", 1)
    monkeypatch.setattr(rollup, "BATCHES_KEPT", 2)
    of_log = "spark.sql.streaming.fileSource.log"
    spark.conf.set(f"{of_log}.compactInterval", "2")
    # Else Spark waits for ten minutes before it deletes what it keeps no longer.
    spark.conf.set(f"{of_log}.cleanupDelay", "1")
    storage = LocalStorage(tmp_path)
    lines = []
    try:
        for day in range(6):
            land(tmp_path, 2 * day, 2 * day + 1, run=f"day{day}")
            for at, path in enumerate(sorted(unread_files(storage, c.SAMPLES))):
                seconds = START_MS // SECOND + 86_400 * day + at
                os.utime(tmp_path / path, (seconds, seconds))
            assert roll_up(spark, tmp_path)["batches"] == 2
            lines.append(len(read_log(storage).files))
    finally:
        for name in ("compactInterval", "cleanupDelay"):
            spark.conf.unset(f"{of_log}.{name}")
    assert READ_WITHIN_MS == 72 * HOUR
    # This day's, those of three days before, and the last of the fourth, just 72 h old.
    assert lines == [2, 4, 6, 8, 9, 9]
    for folder in ("commits", "offsets", "sources/0"):
        kept = len(storage.list_files(f"{CHECKPOINT}/{folder}"))
        assert kept < 8, f"{kept} of 12 batches in {folder}"
    # What was forgotten is neither read again nor called unread.
    assert unread_files(storage, c.SAMPLES) == {}
    assert roll_up(spark, tmp_path)["batches"] == 0
    assert_equal_to_scratch(tmp_path)


def test_a_checkpoint_of_a_stream_that_read_samples_goes_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    """It had done one batch, and planned another, of two files, when it was stopped."""
    land(tmp_path, 0)
    storage = LocalStorage(tmp_path)
    check_checkpoint(storage)
    made: list[int] = []

    def write(samples: DataFrame, number: int) -> None:
        if made:
            raise OSError("No space left on device")
        assert samples.count() == 24
        paths = files_of_batch(storage, number)
        write_batch(spark, storage, number, paths, lambda _share: None)
        made.append(number)

    for minutes in ((), (1, 2)):
        land(tmp_path, *minutes, run="next")
        query = (
            spark.readStream.schema(from_arrow_schema(SAMPLES))
            .option("recursiveFileLookup", "true")
            .option("maxFilesPerTrigger", 10)
            .option("maxFileAge", f"{READ_WITHIN_MS}ms")
            .option("ignoreMissingFiles", "true")
            .parquet(storage.uri("landing/samples"))
            .writeStream.foreachBatch(write)
            .option("checkpointLocation", storage.uri(CHECKPOINT))
            .trigger(availableNow=True)
            .start()
        )
        with contextlib.suppress(Exception):
            query.awaitTermination(60)
        assert not query.isActive
    close_callback_connections(spark)
    assert made == [0]
    planned = files_of_batch(storage, 1)
    assert sorted(unread_files(storage, c.SAMPLES)) == planned
    assert len(planned) == 2
    land(tmp_path, 3, run="later")
    assert roll_up(spark, tmp_path)["batches"] == 2
    assert roll_up(spark, tmp_path)["batches"] == 0
    assert_equal_to_scratch(tmp_path)


def test_a_lost_checkpoint_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    land(tmp_path, 0)
    roll_up(spark, tmp_path)
    (tmp_path / CHECKPOINT).rename(tmp_path / "elsewhere")
    with pytest.raises(LakeError, match=r"checkpoints/rollup is gone"):
        roll_up(spark, tmp_path)


def test_a_job_reads_the_finest_source_that_is_not_too_much(tmp_path: Path) -> None:
    from analytics import jobs

    land(tmp_path, *range(6))
    epochs = LandingWriter(str(tmp_path), c.EPOCHS, run_id="epochs")
    epochs.append(epoch_columns(1, START_MS, ["a", "b"]))
    epochs.close(START_MS)
    storage = LocalStorage(tmp_path)
    for dataset in (c.SAMPLES, c.EPOCHS):
        absorb(storage, dataset)
    landed = storage.list_files("landing/samples")
    in_process.roll_up(storage, [file.path for file in landed])
    request = JobRequest(c.JOB_REPORT, str(tmp_path), str(tmp_path / "out"))
    samples = choose_source(storage, request)
    assert (samples.name, samples.rows) == (c.SAMPLES, 144)
    rung = choose_source(storage, request, most_rows=100)
    # The first sample of a minute claims time of the one before.
    assert (rung.name, rung.rows) == ("rollup_queues_60", 92)
    found = {}
    for most in (1000, 100):
        output = tmp_path / f"out-{most}"
        found[most] = _report(tmp_path, output, most, jobs)
    by_samples, by_minutes = found.values()
    assert by_samples.pop("source") == c.SAMPLES
    assert by_minutes.pop("source") == "rollup_queues_60"
    assert by_minutes == by_samples


def _report(lake: Path, output: Path, most: int, jobs: Any) -> dict[str, Any]:
    from pyarrow import parquet

    def choose(storage: Storage, request: JobRequest) -> Any:
        return choose_source(storage, request, most)

    request = JobRequest(
        c.JOB_REPORT,
        str(lake),
        str(output),
        since_ms=START_MS,
        until_ms=START_MS + 6 * MINUTE,
        step_seconds=60,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "choose_source", choose)
        summary = run_job(in_process.session, request, lambda *_: None)
    tables = {
        name: sorted(map(_told, parquet.read_table(output / name).to_pylist()))
        for name in summary["rows"]
    }
    return {"source": summary["source"], **tables}


def _told(row: dict[str, Any]) -> str:
    """Sums in another order differ in the last digits."""
    return repr(
        {
            name: round(value, 9) if isinstance(value, float) else value
            for name, value in row.items()
        }
    )


def test_landing_files_stay_until_the_stream_has_read_them(tmp_path: Path) -> None:
    land(tmp_path, 0, 1)
    storage = LocalStorage(tmp_path)
    absorb(storage, c.SAMPLES)
    landed = storage.list_files("landing/samples")
    unread = unread_files(storage, c.SAMPLES)
    assert unread == {file.path: file.modified_ms for file in landed}
    written = min(unread.values())
    now = written + RAW_KEPT_MS
    assert expire(storage, c.SAMPLES, now - GRACE_MS) == 2
    assert sweep_landing(storage, c.SAMPLES, now, unread) == Swept(0)
    # A stream that never runs must not fill the disk.
    swept = sweep_landing(storage, c.SAMPLES, now + 2 * HOUR, unread)
    last = max(unread.values())
    assert swept == Swept(2, (GivenUp("hangzhou", 2, written, last),))
