"""Spark's log of files, as it stands on disk, without Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analytics import contracts as c
from analytics.errors import LakeError
from analytics.lake.source_log import (
    CHECKPOINT,
    READ_WITHIN_MS,
    SourceLog,
    files_of_batch,
    read_log,
    thin_log,
)
from analytics.lake.storage import LocalStorage
from analytics.lake.streamed import unread_files
from tests.analytics.rows import HOUR, START_MS

LOG = f"{CHECKPOINT}/sources/0"


def entry(batch: int, modified_ms: int) -> str:
    path = f"file:/srv/lake/landing/samples/cluster=%25C3%25BC/{batch}.parquet"
    named = {"path": path, "timestamp": modified_ms, "batchId": batch}
    return json.dumps(named)


def write(lake: Path, name: str, *lines: str) -> Path:
    file = lake / CHECKPOINT / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["v1", *lines]))
    return file


def commit(lake: Path, batch: int, files: int | None = None) -> None:
    write(lake, f"commits/{batch}", '{"nextBatchWatermarkMs":0}')
    offset = json.dumps({"logOffset": batch if files is None else files})
    write(lake, f"offsets/{batch}", '{"batchWatermarkMs":0}', offset)


def batches(lake: Path) -> list[int]:
    return [file.batch for file in read_log(LocalStorage(lake)).files]


def test_a_log_is_read_from_its_newest_compact_on(tmp_path: Path) -> None:
    for batch in range(9):
        write(tmp_path, f"sources/0/{batch}", entry(batch, START_MS))
    assert batches(tmp_path) == list(range(9))
    old = [entry(batch, START_MS) for batch in range(10)]
    write(tmp_path, "sources/0/9.compact", *old)
    write(tmp_path, "sources/0/10", entry(10, START_MS))
    assert batches(tmp_path) == list(range(11))
    commit(tmp_path, 9)
    log = read_log(LocalStorage(tmp_path))
    assert len(log.counted) == 10
    assert "landing/samples/cluster=%C3%BC/9.parquet" in log.counted


def test_nothing_was_read_before_the_first_run(tmp_path: Path) -> None:
    assert read_log(LocalStorage(tmp_path)) == SourceLog((), -1)
    assert thin_log(LocalStorage(tmp_path)) == 0


def test_files_that_were_noted_and_not_planned_shift_the_numbers(
    tmp_path: Path,
) -> None:
    """Batch 1 of the stream has what 1 and 2 note: it stopped before it planned 1."""
    for batch in range(4):
        write(tmp_path, f"sources/0/{batch}", entry(batch, START_MS))
    commit(tmp_path, 0)
    commit(tmp_path, 1, files=2)
    storage = LocalStorage(tmp_path)
    assert len(read_log(storage).counted) == 3
    named = [
        [int(path.rsplit("/", 1)[1].removesuffix(".parquet")) for path in paths]
        for paths in (files_of_batch(storage, 0), files_of_batch(storage, 1))
    ]
    assert named == [[0], [1, 2]]


def test_a_batch_whose_plan_is_gone_has_no_files_to_tell(tmp_path: Path) -> None:
    write(tmp_path, "sources/0/0", entry(0, START_MS))
    commit(tmp_path, 1, files=0)
    with pytest.raises(LakeError, match="offsets/0 is gone"):
        files_of_batch(LocalStorage(tmp_path), 1)


def test_lines_that_spark_would_forget_are_dropped_and_no_others(
    tmp_path: Path,
) -> None:
    newest = START_MS + 100 * HOUR
    ages = [0, newest - READ_WITHIN_MS - 1, newest - READ_WITHIN_MS, START_MS, newest]
    lines = [entry(batch, at or START_MS) for batch, at in enumerate(ages)]
    compact = write(tmp_path, "sources/0/9.compact", *lines)
    checksum = compact.with_name(".9.compact.crc")
    checksum.write_bytes(b"of the bytes before")
    for batch, at in ((10, newest - 1), (11, START_MS)):
        write(tmp_path, f"sources/0/{batch}", entry(batch, at))
    commit(tmp_path, 10)
    storage = LocalStorage(tmp_path)
    before = read_log(storage)
    # 0, 1 and 3 are too old; 11 is, too, but it is in no finished batch.
    assert thin_log(storage) == 3
    assert batches(tmp_path) == [2, 4, 10, 11]
    assert compact.read_text().splitlines() == ["v1", lines[2], lines[4]]
    assert not checksum.exists(), "Hadoop would find the new bytes damaged"
    after = read_log(storage)
    assert after.reads_from_ms == before.reads_from_ms
    assert thin_log(storage) == 0


def test_the_last_batch_stays_whatever_its_age(tmp_path: Path) -> None:
    old, new = entry(9, START_MS), entry(8, START_MS + 2 * READ_WITHIN_MS)
    write(tmp_path, "sources/0/9.compact", entry(7, START_MS), new, old)
    commit(tmp_path, 9)
    assert thin_log(LocalStorage(tmp_path)) == 1
    assert batches(tmp_path) == [8, 9]


def test_what_the_stream_will_not_read_is_not_waited_for(tmp_path: Path) -> None:
    """Its line is gone, and so is nothing else: the file itself may be there yet."""
    storage = LocalStorage(tmp_path)
    storage.write_new("landing/samples/one.parquet", b"bytes")
    (file,) = storage.list_files("landing")
    commit(tmp_path, 0)
    for after_ms, is_waited in ((READ_WITHIN_MS, True), (READ_WITHIN_MS + 1, False)):
        write(tmp_path, "sources/0/0", entry(0, file.modified_ms + after_ms))
        unread = unread_files(storage, c.SAMPLES)
        assert unread == ({file.path: file.modified_ms} if is_waited else {})


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("sources/0/0", "v2\n", "has version 'v2', this program reads v1"),
        ("sources/0/0", "v1\n{}", "is not a log of a stream's files"),
        ("sources/0/0", "v1\nwhat", "is not a log of a stream's files"),
        ("offsets/0", "v1\n-", "is not the plan of a batch"),
    ],
)
def test_a_log_of_another_kind_is_left_alone(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    write(tmp_path, "sources/0/0", entry(0, START_MS))
    commit(tmp_path, 0)
    (tmp_path / CHECKPOINT / name).write_text(text)
    with pytest.raises(LakeError, match=told):
        thin_log(LocalStorage(tmp_path))
    assert (tmp_path / CHECKPOINT / name).read_text() == text
