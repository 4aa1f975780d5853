from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics.lake import compaction
from analytics.lake.compaction import FEWEST_FILES, SETTLED_MS, absorb, compact, plan
from analytics.lake.manifest import FileEntry, Manifest, load_manifest
from analytics.lake.reader import read_table
from analytics.lake.retention import GRACE_MS, sweep
from analytics.lake.storage import LocalStorage, open_storage
from analytics.lake.writer import LandingWriter
from tests.analytics.rows import HOUR, MINUTE, START_MS, sample_columns

LATER = START_MS + 2 * HOUR


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    opened = open_storage(str(tmp_path))
    assert isinstance(opened, LocalStorage)
    return opened


def land(storage: LocalStorage, minutes: range, run: str = "run", **more: str) -> None:
    writer = LandingWriter(storage, run_id=run)
    for minute in minutes:
        writer.append(sample_columns(START_MS + minute * MINUTE, **more))
    writer.close(START_MS)


def rows(storage: LocalStorage) -> pa.Table:
    return read_table(storage, c.SAMPLES).sort_by(
        [(c.TIME, "ascending"), (c.QUEUE_ID, "ascending")]
    )


def test_landing_files_are_listed_once(storage: LocalStorage) -> None:
    land(storage, range(3))
    assert read_table(storage, c.SAMPLES).num_rows == 0
    assert absorb(storage, c.SAMPLES).rows == 12
    assert absorb(storage, c.SAMPLES).version == 1
    land(storage, range(3, 5))
    assert absorb(storage, c.SAMPLES).rows == 20


def test_a_damaged_file_is_left_out_and_looked_at_again(
    storage: LocalStorage, caplog: pytest.LogCaptureFixture
) -> None:
    land(storage, range(1))
    path = storage.list_files("landing")[0].path
    data = storage.read(path)
    (storage.root / path).write_bytes(data[:100])
    assert absorb(storage, c.SAMPLES).rows == 0
    assert path in caplog.text
    (storage.root / path).write_bytes(data)
    assert absorb(storage, c.SAMPLES).rows == 4


def test_merging_keeps_every_row_and_leaves_fewer_files(
    storage: LocalStorage,
) -> None:
    land(storage, range(30))
    absorb(storage, c.SAMPLES)
    before = rows(storage)
    assert compact(storage, c.SAMPLES, LATER) == 30
    assert len(load_manifest(storage, c.SAMPLES).files) == 1
    assert rows(storage).equals(before)
    assert absorb(storage, c.SAMPLES).rows == 120, "merged files are not new again"
    assert compact(storage, c.SAMPLES, LATER) == 0


def test_clusters_and_days_stay_apart(storage: LocalStorage) -> None:
    land(storage, range(10))
    land(storage, range(10), run="second", cluster="other")
    land(storage, range(1440, 1450))
    absorb(storage, c.SAMPLES)
    compact(storage, c.SAMPLES, START_MS + 48 * HOUR)
    files = load_manifest(storage, c.SAMPLES).files
    assert sorted(file.path.rsplit("/", 1)[0] for file in files) == [
        "compact/samples/cluster=hangzhou/day=2026-03-13",
        "compact/samples/cluster=hangzhou/day=2026-03-14",
        "compact/samples/cluster=other/day=2026-03-13",
    ]


def test_merged_files_tell_which_groups_are_where(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "ROWS_A_ROW_GROUP", 40)
    for name in "cab":
        land(storage, range(10), run=name, group=name)
    absorb(storage, c.SAMPLES)
    before = rows(storage)
    assert compact(storage, c.SAMPLES, LATER) == 30
    assert rows(storage).equals(before)
    (file,) = load_manifest(storage, c.SAMPLES).files
    metadata = parquet.read_metadata(storage.root / file.path)
    place = metadata.schema.names.index(c.GROUP)
    groups = [
        metadata.row_group(number).column(place).statistics
        for number in range(metadata.num_row_groups)
    ]
    assert [(each.min, each.max) for each in groups] == [(n, n) for n in "abc"]


def test_few_or_fresh_files_are_left_alone(storage: LocalStorage) -> None:
    land(storage, range(FEWEST_FILES))
    absorb(storage, c.SAMPLES)
    newest = START_MS + (FEWEST_FILES - 1) * MINUTE
    assert compact(storage, c.SAMPLES, newest + SETTLED_MS) == 0
    assert compact(storage, c.SAMPLES, newest + SETTLED_MS + 1) == FEWEST_FILES


def test_files_are_merged_with_those_of_their_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compaction, "TARGET_ROWS", 1000)
    folder = "compact/samples/cluster=c/day=2026-03-13"
    sizes = [5] * 9 + [50] * 25 + [600]
    manifest = Manifest(c.SAMPLES).with_files(
        FileEntry(f"{folder}/{number:03d}", size, 1, number, number)
        for number, size in enumerate(sizes)
    )
    merges = list(plan(manifest, LATER))
    assert [(len(merge.files), merge.rows) for merge in merges] == [(20, 1000)]


def test_a_merge_that_lost_a_race_changes_nothing(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(storage, range(10))
    absorb(storage, c.SAMPLES)
    stale = load_manifest(storage, c.SAMPLES)
    compact(storage, c.SAMPLES, LATER)
    before = rows(storage)
    monkeypatch.setattr(compaction, "load_manifest", lambda *_: stale)
    assert compact(storage, c.SAMPLES, LATER) == 0
    assert rows(storage).equals(before)


def test_a_killed_merge_leaves_a_file_that_is_swept(storage: LocalStorage) -> None:
    land(storage, range(10))
    absorb(storage, c.SAMPLES)
    (merge,) = plan(load_manifest(storage, c.SAMPLES), LATER)
    compaction._merged(storage, c.SAMPLES, merge)
    written = storage.list_files("compact")[0].modified_ms
    before = rows(storage)
    assert sweep(storage, c.SAMPLES, written + GRACE_MS) == 0
    assert sweep(storage, c.SAMPLES, written + GRACE_MS + 1) == 1
    assert rows(storage).equals(before)
    assert storage.list_files("compact") == []
