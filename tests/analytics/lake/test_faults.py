"""Disks that fill up, writers that are killed, files that are damaged.

What was reported written is in the lake once; a reader never sees a part of a file.
"""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics import contracts as c
from analytics.errors import ManifestConflictError
from analytics.lake import storage as storage_module
from analytics.lake.compaction import absorb, compact
from analytics.lake.damaged import put_aside
from analytics.lake.reader import read_table
from analytics.lake.retention import GRACE_MS, sweep
from analytics.lake.storage import LocalStorage
from analytics.lake.writer import LandingWriter
from tests.analytics.rows import HOUR, MINUTE, START_MS, sample_columns

ROOT = Path(__file__).parents[3]
LATER = START_MS + 100 * HOUR


class FullDisk:
    """The system calls of a lake's writes, one of which finds no room.

    A file gets as many bytes as there is room for; a link or a folder fails whole.
    """

    def __init__(self) -> None:
        self.calls_left: int | None = None

    @contextmanager
    def under(self) -> Iterator[None]:
        written, link, folder = (
            storage_module._write_synced,
            os.link,
            storage_module._sync_folder,
        )

        def write(file: Path, source: BinaryIO) -> None:
            if self._is_full():
                file.write_bytes(source.read()[:50])
                raise no_room()
            written(file, source)

        def call(work: Any) -> Any:
            def checked(*given: Any) -> Any:
                if self._is_full():
                    raise no_room()
                return work(*given)

            return checked

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(storage_module, "_write_synced", write)
            patch.setattr(storage_module.os, "link", call(link))
            patch.setattr(storage_module, "_sync_folder", call(folder))
            yield

    def _is_full(self) -> bool:
        if self.calls_left is None:
            return False
        self.calls_left -= 1
        return self.calls_left < 0


def no_room() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def counted(storage: LocalStorage) -> Counter[tuple[Any, int]]:
    rows = read_table(storage, c.SAMPLES, columns=[c.TIME, c.QUEUE_ID]).to_pylist()
    return Counter((row[c.TIME], row[c.QUEUE_ID]) for row in rows)


WORK = st.sampled_from(["minute", "minute", "minute", "absorb", "compact", "sweep"])
ROOM = st.one_of(st.none(), st.integers(0, 8))


@settings(max_examples=25)
@given(st.lists(st.tuples(WORK, ROOM), min_size=1, max_size=30))
def test_a_disk_that_is_full_at_times_costs_no_row(
    steps: list[tuple[str, int | None]],
) -> None:
    disk = FullDisk()
    with tempfile.TemporaryDirectory() as folder, disk.under():
        storage = LocalStorage(Path(folder))
        writer = LandingWriter(storage, run_id="run")
        minutes = written = 0
        listed: Counter[tuple[Any, int]] = Counter()
        for work, room in steps:
            disk.calls_left = room
            now = START_MS + minutes * MINUTE
            try:
                if work == "minute":
                    writer.append(sample_columns(now))
                    minutes += 1
                    report = writer.flush(now + MINUTE)
                    written += report.written_rows
                    assert written + report.pending_rows == 4 * minutes
                    assert report.error is None or "No space left" in report.error
                elif work == "absorb":
                    absorb(storage, c.SAMPLES)
                elif work == "compact":
                    compact(storage, c.SAMPLES, LATER)
                else:
                    sweep(storage, c.SAMPLES, LATER + GRACE_MS)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
            disk.calls_left = None
            seen = counted(storage)
            assert set(seen.values()) <= {1}, "no row twice"
            assert seen >= listed, "what was listed once stays"
            listed = seen
        assert writer.close(LATER).pending_rows == 0
        absorb(storage, c.SAMPLES)
        assert counted(storage) == Counter(
            (row[c.TIME], row[c.QUEUE_ID])
            for minute in range(minutes)
            for row in _rows(START_MS + minute * MINUTE)
        )
        assert not list(Path(folder).rglob(".*")), "no half of a file is left"


def _rows(time_ms: int) -> list[dict[str, Any]]:
    from analytics.schemas import table_of

    return list(table_of(c.SAMPLES, sample_columns(time_ms)).to_pylist())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 2 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"needs the right to mount a small disk: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_real_disk_that_is_full(small_disk: Path) -> None:
    writer = LandingWriter(str(small_disk), run_id="run")
    storage = LocalStorage(small_disk)
    chance = random.Random(1)
    error, minutes = None, 0
    while error is None:
        now = START_MS + minutes * MINUTE
        # Numbers that nothing compresses.
        lags = [chance.getrandbits(50) for _ in range(20_000)]
        writer.append(sample_columns(now, queues=20_000, max=lags, committed=lags))
        error = writer.flush(now + MINUTE).error
        minutes += 1
    assert "No space left on device" in error
    assert writer.pending_rows == 20_000
    assert not list(small_disk.rglob(".*"))
    with pytest.raises(OSError, match="No space left"):
        storage.write_new("large", b"x" * 2_000_000)
    # Readers go on with what is there.
    files = [file.path for file in storage.list_files("landing")]
    assert put_aside(storage, files) == []
    assert len(files) == minutes - 1
    storage.delete(files[0])
    assert writer.flush(LATER).pending_rows == 0
    assert len(storage.list_files("landing")) == minutes - 1


KILLED = """
import itertools, sys
from pathlib import Path
from analytics import contracts as c
from analytics.lake.compaction import absorb, compact
from analytics.lake.retention import sweep
from analytics.lake.storage import LocalStorage
from analytics.lake.writer import LandingWriter
from tests.analytics.rows import HOUR, MINUTE, START_MS, sample_columns
storage = LocalStorage(Path(sys.argv[1]))
run = int(sys.argv[2])
writer = LandingWriter(storage, run_id=f"run{run}")
print("ready", flush=True)
for minute in itertools.count(run * 10_000):
    now = START_MS + minute * MINUTE
    writer.append(sample_columns(now, queues=50))
    if writer.flush(now + MINUTE).written_rows:
        print(minute, flush=True)
    if minute % 5 == 4:
        absorb(storage, c.SAMPLES)
        compact(storage, c.SAMPLES, now + HOUR)
        sweep(storage, c.SAMPLES, now + HOUR, grace_ms=0)
"""


def test_whoever_writes_and_merges_may_be_killed_at_any_point(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    chance = random.Random(7)
    acknowledged: set[int] = set()
    for run in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path), str(run)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            for _ in range(chance.randrange(1, 30)):
                acknowledged.add(int(child.stdout.readline()))
            time.sleep(chance.uniform(0.0, 0.1))
            child.send_signal(signal.SIGKILL)
            acknowledged |= {int(line) for line in child.stdout if line.endswith("\n")}
        seen = counted(storage)
        assert set(seen.values()) <= {1}
    absorb(storage, c.SAMPLES)
    seen = counted(storage)
    assert set(seen.values()) == {1}
    minutes = Counter(
        (int(at.timestamp() * 1000) - START_MS) // MINUTE for at, _queue in seen
    )
    assert set(minutes.values()) == {50}, "no part of a file"
    assert acknowledged <= set(minutes)
    # One of each may be there that was written and not reported any more.
    assert len(set(minutes) - acknowledged) <= 3


def test_halves_of_killed_writers_go_when_they_are_old(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    for name in ("a/1", "a/b/2"):
        storage.write_new(name, b"whole")
    for name in (".1.77.tmp", "b/.3.78.tmp", ".hidden"):
        (tmp_path / "a" / name).write_bytes(b"half")
    written_ms = (tmp_path / "a" / ".1.77.tmp").stat().st_mtime_ns // 1_000_000
    assert storage.delete_halves("a", written_ms - 60_000) == 0
    assert storage.delete_halves("never", written_ms) == 0
    assert storage.delete_halves("a", written_ms + 60_000) == 2
    left = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert left == [".hidden", "1", "2"]


@pytest.mark.parametrize("kept", [0, 1, 100, -100, -1])
def test_a_damaged_file_is_put_aside_with_its_bytes(
    tmp_path: Path, kept: int, caplog: pytest.LogCaptureFixture
) -> None:
    storage = LocalStorage(tmp_path)
    writer = LandingWriter(storage, run_id="run")
    for minute in range(2):
        writer.append(sample_columns(START_MS + minute * MINUTE))
    first, second = writer.close(LATER).files
    torn = storage.read(first)[:kept]
    (tmp_path / first).write_bytes(torn)
    assert put_aside(storage, [first, second, "landing/samples/gone.parquet"]) == [
        first
    ]
    assert first in caplog.text
    assert storage.read(f"damaged/{first}") == torn
    assert absorb(storage, c.SAMPLES).rows == 4
    assert put_aside(storage, [second]) == []


def test_a_footer_of_nonsense_is_damage_and_a_disk_that_fails_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = LocalStorage(tmp_path)
    writer = LandingWriter(storage, run_id="run")
    writer.append(sample_columns(START_MS))
    (path,) = writer.close(LATER).files
    data = storage.read(path)
    (tmp_path / path).write_bytes(data[:-200] + b"\xff" * 192 + data[-8:])

    def unreadable(_path: str) -> Any:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(storage, "open_input", unreadable)
        with pytest.raises(OSError, match="Input/output"):
            put_aside(storage, [path])
        assert absorb(storage, c.SAMPLES).rows == 0, "looked at again next time"
    assert put_aside(storage, [path]) == [path]
    with pytest.raises(ManifestConflictError):
        absorb(storage, c.SAMPLES).without_files({path}, 0)
