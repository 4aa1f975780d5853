"""Every group is in one bucket, and a task reads the rows of its groups once."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics.lake.buckets import Bucket, plan_buckets, read_epochs, read_groups
from analytics.lake.compaction import absorb, compact
from analytics.lake.manifest import FileEntry, load_manifest
from analytics.lake.storage import Storage, open_storage
from analytics.lake.writer import LandingWriter
from analytics.schemas import table_of
from tests.analytics.lakes import epoch_columns
from tests.analytics.rows import HOUR, MINUTE, START_MS, sample_columns

NAMES = [f"group-{number:02d}" for number in range(40)]
SPAN = {"since_ms": START_MS, "until_ms": START_MS + HOUR}


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    """Return a lake of ten merged minutes and one that has only just landed."""
    opened = open_storage(str(tmp_path))
    for minutes in (range(10), range(10, 11)):
        writer = LandingWriter(opened, run_id=f"from{minutes[0]}")
        for minute in minutes:
            for name in reversed(NAMES):
                columns = sample_columns(START_MS + minute * MINUTE)
                writer.append(columns | {c.GROUP: name})
        writer.close(START_MS)
        absorb(opened, c.SAMPLES)
        compact(opened, c.SAMPLES, START_MS + HOUR)
    return opened


def files(storage: Storage) -> tuple[FileEntry, ...]:
    return load_manifest(storage, c.SAMPLES).files


def planned(storage: Storage, rows_each: int, groups: list[str]) -> list[Bucket]:
    return plan_buckets(
        storage,
        files(storage),
        ["hangzhou", "other"],
        groups=groups,
        rows_each=rows_each,
        **SPAN,
    )


def rows_of(
    storage: Storage, names: list[str], bucket: Bucket
) -> list[tuple[object, ...]]:
    keys = (c.GROUP, c.QUEUE_ID, c.TIME)
    return [
        tuple(row[key] for key in keys)
        for table in read_groups(
            storage, files(storage), keys, groups=names, bucket=bucket, **SPAN
        )
        for row in table.to_pylist()
        if bucket.holds(row[c.GROUP])
    ]


@pytest.mark.parametrize("rows_each", [1, 200, 500, 10_000])
def test_buckets_hold_all_groups_once(storage: Storage, rows_each: int) -> None:
    buckets = planned(storage, rows_each, [])
    for cluster in ("hangzhou", "other"):
        of_cluster = [each for each in buckets if each.cluster == cluster]
        for name in ["", *NAMES, "unheard of"]:
            assert sum(each.holds(name) for each in of_cluster) == 1
    total = sum(file.rows for file in files(storage))
    each_group = total // len(NAMES)
    sizes = [
        sum(bucket.holds(name) for name in NAMES) * each_group
        for bucket in buckets
        if bucket.cluster == "hangzhou"
    ]
    assert max(sizes) <= rows_each + each_group
    assert len(sizes) == min(len(NAMES), -(-total // rows_each))


@pytest.mark.parametrize("are_named", [True, False])
def test_a_bucket_has_each_row_of_its_groups_once(
    storage: Storage, are_named: bool
) -> None:
    found = []
    for bucket in planned(storage, 300, []):
        if bucket.cluster == "other":
            continue
        names = [name for name in NAMES if bucket.holds(name)]
        found += rows_of(storage, names if are_named else [], bucket)
    assert len(found) == sum(file.rows for file in files(storage))
    assert len(set(found)) == len(found)


def test_only_wanted_groups_count(storage: Storage) -> None:
    wanted = NAMES[3:5]
    assert len(planned(storage, 10_000, wanted)) == 2
    outside = planned(storage, 1, ["zzz"])
    assert [each.cluster for each in outside] == ["hangzhou", "other"]


def test_of_a_merged_file_only_the_row_groups_of_a_bucket_are_read(
    storage: Storage,
) -> None:
    (merged, landed) = sorted(files(storage), key=lambda file: file.path)
    with storage.open_input(merged.path) as source:
        table = parquet.read_table(source)
    sink = pa.BufferOutputStream()
    each = merged.rows // len(NAMES)
    parquet.write_table(table, sink, row_group_size=each)
    path = merged.path.replace(".parquet", "-fine.parquet")
    storage.write_new(path, bytes(sink.getvalue()))
    fine = FileEntry(path, merged.rows, 0, merged.first_ms, merged.last_ms)
    columns = (c.GROUP, c.TIME)
    whole, some = Bucket("hangzhou", "", ""), Bucket("hangzhou", NAMES[7], NAMES[9])
    for groups, bucket in ((NAMES[7:9], whole), ([], some), (NAMES[:8], some)):
        more = {"groups": groups, "bucket": bucket, **SPAN}
        (read,) = read_groups(storage, [fine], columns, **more)
        assert read.num_rows == len(set(groups or NAMES[7:9]) - set(NAMES[:7])) * each
        (read,) = read_groups(storage, [landed], columns, **more)
        assert read.num_rows == landed.rows
    weighed = plan_buckets(storage, [fine], ["hangzhou"], rows_each=each * 10, **SPAN)
    assert [bucket.begin for bucket in weighed] == ["", *NAMES[10::10]]


def test_a_file_that_notes_nothing_is_read_all_the_same(storage: Storage) -> None:
    merged = min(files(storage), key=lambda file: file.path)
    with storage.open_input(merged.path) as source:
        table = parquet.read_table(source)
    each = merged.rows // len(NAMES)
    path = merged.path.replace(".parquet", "-bare.parquet")
    write_bare(storage, path, table, each)
    bare = FileEntry(path, merged.rows, 0, merged.first_ms, merged.last_ms)
    weighed = plan_buckets(storage, [bare], ["hangzhou"], rows_each=each * 10, **SPAN)
    assert [bucket.begin for bucket in weighed] == ["", *NAMES[10::10]]

    one = epoch_columns(1, START_MS, ["a"])
    epochs = [table_of(c.EPOCHS, one | {c.GROUP: name}) for name in NAMES]
    path = path.replace("samples", "epochs")
    write_bare(storage, path, pa.concat_tables(epochs), 1)
    entry = FileEntry(path, len(NAMES), 0, 0, 0)
    (read,) = read_epochs(storage, [entry], Bucket("hangzhou", NAMES[7], NAMES[9]))
    assert read[c.GROUP].to_pylist() == NAMES


def write_bare(storage: Storage, path: str, table: pa.Table, rows_each: int) -> None:
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, row_group_size=rows_each, write_statistics=False)
    storage.write_new(path, bytes(sink.getvalue()))
