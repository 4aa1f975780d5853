import errno
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from rmqcore.errors import ArgumentError, StoreError
from rmqcore.store import record
from rmqcore.store.commit_log import CommitLog
from rmqcore.store.segment import segment_name

from .records import START_MS, pending

SEGMENT = 4096


@pytest.fixture
def log(tmp_path: Path) -> Iterator[CommitLog]:
    opened = CommitLog(tmp_path, SEGMENT)
    yield opened
    opened.abandon()


def append(log: CommitLog, body: bytes = b"hello", number: int = 0) -> int:
    made = pending(body=body)
    at = log.place(made.size)
    log.write(at, record.encode(made, number, at, START_MS))
    return at


def bodies(log: CommitLog, start: int = 0) -> list[int]:
    return [stored.log_offset for stored in log.scan(start)]


def test_records_follow_one_another(log: CommitLog) -> None:
    assert (log.min_offset, log.max_offset) == (0, 0)
    first, second = append(log), append(log)
    assert (first, second) == (0, pending().size)
    assert log.record_at(second) == log.read(second, pending().size)
    assert bodies(log) == [first, second]


def test_a_record_that_does_not_fit_begins_the_next_file(log: CommitLog) -> None:
    append(log, b"x" * 3000)
    second = append(log, b"y" * 1500)
    assert second == SEGMENT
    assert log.segment_starts == [0, SEGMENT]
    blank = log.read(pending(body=b"x" * 3000).size, 8)
    assert blank == record.blank(SEGMENT - pending(body=b"x" * 3000).size)
    assert bodies(log) == [0, SEGMENT]
    assert log.segment_start(second - 1) == 0
    assert log.segment_start(second + 1) == SEGMENT


def test_eight_bytes_are_kept_for_the_blank(log: CommitLog) -> None:
    largest = SEGMENT - 8 - pending(body=b"").size
    assert append(log, b"x" * largest) == 0
    assert append(log) == SEGMENT
    assert bodies(log) == [0, SEGMENT]


def test_a_record_larger_than_a_file_is_refused(log: CommitLog) -> None:
    with pytest.raises(StoreError, match=r"5000 bytes do not fit .* limit 4088"):
        log.place(5000)


def test_files_too_small_to_be_useful_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="files of 100 bytes, at least 4096"):
        CommitLog(tmp_path, 100)


@pytest.mark.parametrize("offset", [-1, 1, 50, 4095, 4096, 10**12])
def test_offsets_that_are_no_records_give_nothing(log: CommitLog, offset: int) -> None:
    append(log)
    assert log.record_at(offset) is None


def test_a_blank_record_is_no_message(log: CommitLog) -> None:
    append(log, b"x" * 3000)
    append(log, b"y" * 1500)
    assert log.record_at(pending(body=b"x" * 3000).size) is None


def test_reading_stops_at_the_end(log: CommitLog) -> None:
    append(log)
    assert log.read(0, 10_000) == log.record_at(0)
    assert log.read(10_000, 5) == b""


def test_a_record_elsewhere_than_it_says_is_none(log: CommitLog) -> None:
    made = pending()
    at = log.place(made.size)
    log.write(at, record.encode(made, 0, at + 1, START_MS))
    assert log.record_at(at) is None
    scan = log.scan(0)
    assert list(scan) == []
    assert scan.reason == "the record has the offset 1"


def test_flush_says_up_to_where_the_disk_has_it(log: CommitLog) -> None:
    append(log, b"x" * 3000)
    append(log, b"y" * 1500)
    assert log.flushed_offset == 0
    assert log.flush() == log.flushed_offset == log.max_offset
    assert log.flush() == log.max_offset


def test_nothing_is_placed_after_a_flush_that_failed(
    log: CommitLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    append(log, b"x" * 300)
    with monkeypatch.context() as patched:
        patched.setattr("rmqcore.store.segment.os.fdatasync", full)
        with pytest.raises(StoreError, match="takes no data: No space left"):
            log.flush()
    with pytest.raises(StoreError, match="takes no data: No space left"):
        log.place(300)
    log.flush()
    assert log.place(300) == log.max_offset == log.flushed_offset


def test_a_file_that_expired_meanwhile_is_no_fault(
    tmp_path: Path, log: CommitLog
) -> None:
    append(log, b"x" * 300)
    (tmp_path / segment_name(0)).unlink()
    assert log.flush() == log.max_offset
    assert log.place(300) == log.max_offset


def test_the_log_is_found_again(tmp_path: Path, log: CommitLog) -> None:
    append(log, b"x" * 3000)
    append(log, b"y" * 1500)
    again = CommitLog(tmp_path, SEGMENT)
    scan = again.scan(0)
    assert len(list(scan)) == 2
    assert (scan.end, scan.reason) == (log.max_offset, None)
    again.cut(scan.end)
    assert again.max_offset == log.max_offset
    again.abandon()


def test_cut_removes_what_follows(log: CommitLog) -> None:
    append(log)
    second = append(log)
    append(log, b"x" * 3900)
    log.flush()
    log.cut(second)
    assert (log.max_offset, log.flushed_offset) == (second, second)
    assert log.segment_starts == [0]
    assert bodies(log) == [0]
    assert append(log, b"again") == second
    assert bodies(log) == [0, second]


def test_cut_at_a_file_boundary_keeps_the_file_before(log: CommitLog) -> None:
    append(log, b"x" * 3000)
    append(log, b"y" * 1500)
    log.cut(SEGMENT)
    assert (log.segment_starts, log.max_offset) == ([0], SEGMENT)
    assert append(log) == SEGMENT


def test_cut_may_leave_an_empty_first_file(log: CommitLog) -> None:
    append(log)
    log.cut(0)
    assert (log.segment_starts, bodies(log)) == ([0], [])


def test_old_files_are_dropped_but_never_the_last(log: CommitLog) -> None:
    for _ in range(3):
        append(log, b"x" * 3000)
    assert log.drop_oldest() == log.min_offset == SEGMENT
    assert log.record_at(0) is None
    log.drop_oldest()
    with pytest.raises(StoreError, match="still being written"):
        log.drop_oldest()


def test_cut_at_the_start_of_the_only_file_left(log: CommitLog) -> None:
    append(log, b"x" * 3000)
    append(log, b"y" * 3000)
    log.drop_oldest()
    log.cut(SEGMENT)
    assert (log.segment_starts, log.max_offset) == ([SEGMENT], SEGMENT)
    assert bodies(log, SEGMENT) == []


def test_a_dropped_file_does_not_stop_a_flush(tmp_path: Path, log: CommitLog) -> None:
    append(log, b"x" * 3000)
    append(log, b"y" * 3000)
    (tmp_path / segment_name(0)).unlink()
    assert log.flush() == log.max_offset


def test_a_gap_between_files_is_named(tmp_path: Path) -> None:
    for start in (0, 2 * SEGMENT):
        with (tmp_path / segment_name(start)).open("wb") as file:
            file.truncate(SEGMENT)
    with pytest.raises(StoreError, match=r"begins at 8192, but .* ends at 4096"):
        CommitLog(tmp_path, SEGMENT)


def test_a_last_file_that_never_got_its_size_is_nothing(tmp_path: Path) -> None:
    (tmp_path / segment_name(0)).touch()
    log = CommitLog(tmp_path, SEGMENT)
    assert log.segment_starts == []
    log.abandon()


def test_pieces_are_read_across_files_and_gaps(log: CommitLog) -> None:
    size = pending(body=b"x" * 3000).size
    first, second = append(log, b"x" * 3000), append(log, b"y" * 3000)
    pieces = [(first, size), (10 * SEGMENT, size), (second, size)]
    expected = log.read(first, size) + log.read(second, size)
    assert log.read_pieces(pieces) == expected
    assert log.read_pieces([(10 * SEGMENT, size)]) == b""


def test_no_record_begins_in_a_files_last_bytes(log: CommitLog) -> None:
    append(log)
    assert log.record_at(SEGMENT - 3) is None


@pytest.mark.parametrize("size", [20, SEGMENT])
def test_a_scan_ends_at_a_size_that_cannot_be(log: CommitLog, size: int) -> None:
    append(log)
    end = log.max_offset
    log.write(end, struct.pack(">iI", size, 0xDAA320A7))
    scan = log.scan(0)
    assert len(list(scan)) == 1
    assert scan.end == end
    assert scan.reason == f"a record of {size} bytes cannot be here"
