from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics.errors import SchemaError
from analytics.lake.naming import cluster_of, landing_path
from analytics.lake.writer import LandingWriter
from analytics.schemas import SAMPLES
from tests.analytics.rows import MINUTE, SECOND, START_MS, sample_columns


@pytest.fixture
def writer(tmp_path: Path) -> LandingWriter:
    return LandingWriter(str(tmp_path), run_id="run1")


@contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """Let no file of this process grow past `size` bytes: a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_minute_becomes_one_file_when_it_is_over(
    writer: LandingWriter, tmp_path: Path
) -> None:
    for second in range(0, 60, 10):
        assert writer.append(sample_columns(START_MS + second * SECOND)) == 4
        assert writer.flush(START_MS + second * SECOND).files == ()
    report = writer.flush(START_MS + MINUTE)
    assert report.files == (
        "landing/samples/cluster=hangzhou/day=2026-03-13/0000-run1-000000.parquet",
    )
    assert (report.written_rows, report.pending_rows) == (24, 0)
    table = parquet.read_table(tmp_path / report.files[0], partitioning=None)
    assert table.num_rows == 24
    assert table.schema.equals(SAMPLES)


def test_each_cluster_has_files_of_its_own(
    writer: LandingWriter, tmp_path: Path
) -> None:
    writer.append(sample_columns(START_MS, cluster=["a/b", "ü", "a/b", "ü"]))
    files = writer.close(START_MS).files
    assert sorted(cluster_of(file) for file in files) == ["a/b", "ü"]
    for file in files:
        table = parquet.read_table(tmp_path / file, partitioning=None)
        assert set(table[c.CLUSTER].to_pylist()) == {cluster_of(file)}


def test_rows_that_are_refused_leave_nothing_behind(writer: LandingWriter) -> None:
    with pytest.raises(SchemaError):
        writer.append(sample_columns(START_MS, committed=[-1] * 4))
    assert writer.pending_rows == 0
    assert writer.append(sample_columns(START_MS, queues=0)) == 0
    assert writer.close(START_MS).files == ()


def test_a_full_disk_keeps_the_rows_and_says_so(
    writer: LandingWriter, tmp_path: Path
) -> None:
    writer.append(sample_columns(START_MS))
    with files_limited_to(100):
        report = writer.flush(START_MS + MINUTE)
    assert report.error is not None
    assert "File too large" in report.error
    assert (report.written_rows, report.pending_rows) == (0, 4)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]

    mended = writer.flush(START_MS + MINUTE)
    assert (mended.written_rows, mended.pending_rows, mended.error) == (4, 0, None)


def test_an_unclear_failure_does_not_write_rows_twice(
    writer: LandingWriter, tmp_path: Path
) -> None:
    """The file got its name, but the answer was lost: the retry finds it there."""
    first = LandingWriter(str(tmp_path), run_id="run1")
    for each in (first, writer):
        each.append(sample_columns(START_MS))
        assert each.close(START_MS).written_rows == 4
    assert len(list(tmp_path.rglob("*.parquet"))) == 1


def test_the_oldest_rows_are_given_up_only_beyond_the_limit(tmp_path: Path) -> None:
    blocked = tmp_path / "landing"
    blocked.write_text("a file where a folder should be")
    writer = LandingWriter(str(tmp_path), run_id="run1", max_pending_rows=10)
    reports = []
    for minute in range(4):
        writer.append(sample_columns(START_MS + minute * MINUTE))
        reports.append(writer.flush(START_MS + (minute + 1) * MINUTE))
    assert [report.dropped_rows for report in reports] == [0, 0, 4, 4]
    blocked.unlink()
    report = writer.flush(START_MS + 4 * MINUTE)
    assert report.written_rows == 8
    assert report.files[0] == landing_path(
        c.SAMPLES, "hangzhou", START_MS + 2 * MINUTE, "run1", 2
    )


def test_a_run_id_that_would_break_names_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a/b"):
        LandingWriter(str(tmp_path), run_id="a/b")


KILLED_WRITER = """
import sys
from analytics.lake.writer import LandingWriter
from tests.analytics.rows import MINUTE, START_MS, sample_columns
writer = LandingWriter(sys.argv[1], run_id="killed")
for minute in range(10_000):
    writer.append(sample_columns(START_MS + minute * MINUTE, queues=500))
    report = writer.flush(START_MS + (minute + 1) * MINUTE)
    print(*report.files, sep="\\n", flush=True)
"""


@pytest.mark.parametrize("lines", [1, 7, 23])
def test_a_killed_writer_loses_nothing_it_acknowledged(
    tmp_path: Path, lines: int
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED_WRITER, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as child:
        assert child.stdout is not None
        acknowledged = [child.stdout.readline().strip() for _ in range(lines)]
        child.send_signal(signal.SIGKILL)
        acknowledged += child.stdout.read().split()
    seen = {path.relative_to(tmp_path).as_posix() for path in _visible(tmp_path)}
    assert set(acknowledged) <= seen
    for path in _visible(tmp_path):
        assert parquet.read_table(path, partitioning=None).num_rows == 500


def _visible(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*.parquet") if path.name[0] != "."]
