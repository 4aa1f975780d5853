from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics.errors import LakeError
from analytics.lake.compaction import absorb
from analytics.lake.reader import read_entry, read_file, read_table
from analytics.lake.storage import LocalStorage
from analytics.lake.writer import LandingWriter
from analytics.schemas import EPOCHS, SAMPLES
from tests.analytics.rows import SECOND, START_MS, sample_columns


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    storage = LocalStorage(tmp_path)
    writer = LandingWriter(storage, run_id="run")
    for second in range(0, 120, 10):
        writer.append(sample_columns(START_MS + second * SECOND))
    writer.close(START_MS)
    absorb(storage, c.SAMPLES)
    return storage


def test_the_span_is_cut_to_the_millisecond(storage: LocalStorage) -> None:
    since, until = START_MS + 30 * SECOND, START_MS + 50 * SECOND
    table = read_table(storage, c.SAMPLES, since_ms=since, until_ms=until)
    assert table.num_rows == 8
    assert table.schema.equals(SAMPLES)


def test_columns_can_be_picked_without_the_time(storage: LocalStorage) -> None:
    table = read_table(
        storage, c.SAMPLES, until_ms=START_MS + SECOND, columns=[c.MAX, c.QUEUE_ID]
    )
    assert table.column_names == [c.MAX, c.QUEUE_ID]
    assert table[c.QUEUE_ID].to_pylist() == [0, 1, 2, 3]


def test_another_cluster_has_no_rows(storage: LocalStorage) -> None:
    table = read_table(storage, c.SAMPLES, clusters={"elsewhere"})
    assert table.num_rows == 0
    assert table.schema.equals(SAMPLES)


def test_an_empty_data_set_has_its_schema(tmp_path: Path) -> None:
    assert read_table(LocalStorage(tmp_path), c.EPOCHS).schema.equals(EPOCHS)


def test_an_entry_is_read_from_the_footer(storage: LocalStorage) -> None:
    file = storage.list_files("landing")[0]
    entry = read_entry(storage, file.path, file.size)
    assert (entry.rows, entry.cluster) == (24, "hangzhou")
    assert (entry.first_ms, entry.last_ms) == (START_MS, START_MS + 50 * SECOND)


@pytest.mark.parametrize("table", [pa.table({"a": [1]}), SAMPLES.empty_table()])
def test_a_file_without_times_is_refused(tmp_path: Path, table: pa.Table) -> None:
    parquet.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(LakeError, match=r"x\.parquet"):
        read_entry(LocalStorage(tmp_path), "x.parquet", 1)


def test_a_file_of_a_newer_contract_is_refused(tmp_path: Path) -> None:
    newer = SAMPLES.with_metadata({b"rocketscope.schema": b"99"}).empty_table()
    parquet.write_table(newer, tmp_path / "x.parquet")
    with pytest.raises(LakeError, match="schema 99, this program reads up to"):
        read_file(LocalStorage(tmp_path), c.SAMPLES, "x.parquet")
