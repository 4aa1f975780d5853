from __future__ import annotations

from pathlib import Path

import pytest

from analytics import contracts as c
from analytics.errors import MissingFileError
from analytics.lake import reader
from analytics.lake.compaction import absorb, compact
from analytics.lake.manifest import Manifest, load_manifest
from analytics.lake.reader import read_table
from analytics.lake.retention import (
    GRACE_MS,
    RAW_KEPT_MS,
    GivenUp,
    Swept,
    expire,
    sweep,
    sweep_landing,
)
from analytics.lake.storage import LocalStorage
from analytics.lake.writer import LandingWriter
from tests.analytics.rows import HOUR, MINUTE, START_MS, sample_columns


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    """A lake of two files: 00:00 and 01:00."""
    storage = LocalStorage(tmp_path)
    writer = LandingWriter(storage, run_id="run")
    for hour in range(2):
        writer.append(sample_columns(START_MS + hour * HOUR))
    writer.close(START_MS)
    absorb(storage, c.SAMPLES)
    return storage


def landing(storage: LocalStorage) -> list[str]:
    return [file.path for file in storage.list_files("landing")]


def test_old_rows_leave_the_manifest_then_the_disk(storage: LocalStorage) -> None:
    now = START_MS + HOUR
    assert expire(storage, c.SAMPLES, now, kept_ms=HOUR - 1) == 1
    assert read_table(storage, c.SAMPLES).num_rows == 4
    assert len(landing(storage)) == 2
    assert sweep(storage, c.SAMPLES, now + GRACE_MS - 1) == 0
    assert sweep(storage, c.SAMPLES, now + GRACE_MS) == 1
    assert len(landing(storage)) == 1
    assert load_manifest(storage, c.SAMPLES).retired == ()


def test_a_row_that_is_just_young_enough_stays(storage: LocalStorage) -> None:
    assert expire(storage, c.SAMPLES, START_MS + HOUR, kept_ms=HOUR) == 0
    assert load_manifest(storage, c.SAMPLES).version == 1


def test_files_that_a_stream_has_yet_to_read_stay(storage: LocalStorage) -> None:
    now = START_MS + HOUR + 1
    expire(storage, c.SAMPLES, now, kept_ms=0)
    waiting = landing(storage)[:1]
    unread = {waiting[0]: now}
    swept = sweep_landing(storage, c.SAMPLES, now + GRACE_MS, unread)
    assert swept == Swept(1)
    assert landing(storage) == waiting
    assert absorb(storage, c.SAMPLES).rows == 0, "neither is new again"


def test_files_that_a_stream_never_read_are_given_up_with_a_word(
    storage: LocalStorage, caplog: pytest.LogCaptureFixture
) -> None:
    now = START_MS + RAW_KEPT_MS + HOUR
    unread = {path: START_MS + at * HOUR for at, path in enumerate(landing(storage))}
    expire(storage, c.SAMPLES, now - GRACE_MS, kept_ms=0)
    assert sweep_landing(storage, c.SAMPLES, now - HOUR, unread) == Swept(0)
    assert caplog.text == ""
    # The second was written just 48 hours ago.
    swept = sweep_landing(storage, c.SAMPLES, now, unread)
    assert swept == Swept(1, (GivenUp("hangzhou", 1, START_MS, START_MS),))
    assert landing(storage) == [max(unread)]
    (told,) = caplog.messages
    assert "cluster=hangzhou landing files given up: 1," in told
    assert "written 2026-03-13T00:00:00+00:00 to 2026-03-13T00:00:00+00:00" in told
    # Once is enough, also where the stream has read neither yet.
    assert sweep_landing(storage, c.SAMPLES, now, unread) == Swept(0)


def test_what_is_given_up_is_told_for_each_cluster(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    writer = LandingWriter(storage, run_id="run")
    for cluster in ("hangzhou", "ü/b"):
        for minute in range(3):
            columns = sample_columns(START_MS + minute * MINUTE)
            writer.append(columns | {c.CLUSTER: cluster})
    writer.close(START_MS)
    absorb(storage, c.SAMPLES)
    unread = {path: START_MS + at for at, path in enumerate(sorted(landing(storage)))}
    now = START_MS + RAW_KEPT_MS + HOUR
    expire(storage, c.SAMPLES, now - GRACE_MS, kept_ms=0)
    assert sweep_landing(storage, c.SAMPLES, now, unread).given_up == (
        GivenUp("hangzhou", 3, START_MS + 3, START_MS + 5),
        GivenUp("ü/b", 3, START_MS, START_MS + 2),
    )


def test_a_reader_with_an_old_manifest_starts_again(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = load_manifest(storage, c.SAMPLES)
    expire(storage, c.SAMPLES, START_MS + HOUR, kept_ms=HOUR - 1)
    sweep(storage, c.SAMPLES, START_MS + HOUR + GRACE_MS)
    answers: list[Manifest] = [stale, load_manifest(storage, c.SAMPLES)]
    monkeypatch.setattr(reader, "load_manifest", lambda *_: answers.pop(0))
    assert read_table(storage, c.SAMPLES).num_rows == 4


def test_a_file_that_stays_missing_is_an_error(
    storage: LocalStorage,
) -> None:
    (storage.root / landing(storage)[0]).unlink()
    with pytest.raises(MissingFileError, match="is gone"):
        read_table(storage, c.SAMPLES)


def test_a_merged_landing_file_is_deleted_and_its_rows_stay(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    writer = LandingWriter(storage, run_id="run")
    for minute in range(10):
        writer.append(sample_columns(START_MS + minute * MINUTE))
    writer.close(START_MS)
    absorb(storage, c.SAMPLES)
    now = START_MS + HOUR
    compact(storage, c.SAMPLES, now)
    assert sweep(storage, c.SAMPLES, now + GRACE_MS) == 10
    assert landing(storage) == []
    assert absorb(storage, c.SAMPLES).rows == 40
    assert read_table(storage, c.SAMPLES).num_rows == 40
