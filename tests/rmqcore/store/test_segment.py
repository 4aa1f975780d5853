import errno
import os
from pathlib import Path

import pytest

from rmqcore.errors import StoreError
from rmqcore.store.segment import Segment, segment_name, segment_starts


def test_the_whole_size_is_reserved_at_once(tmp_path: Path) -> None:
    segment = Segment(tmp_path, 8192, 8192)
    assert segment.path.name == "00000000000000008192"
    assert segment.path.stat().st_size == 8192
    assert (segment.start, segment.end) == (8192, 16384)
    segment.close()


def test_what_was_written_is_read_at_its_log_offset(tmp_path: Path) -> None:
    segment = Segment(tmp_path, 100, 4096)
    segment.write(200, b"abcdefgh")
    assert segment.read(202, 3) == b"cde"
    assert segment.read(4190, 100) == bytes(6)
    segment.flush()
    segment.close()
    assert (tmp_path / segment_name(100)).read_bytes()[100:108] == b"abcdefgh"


def test_a_file_keeps_its_size_under_another_setting(tmp_path: Path) -> None:
    Segment(tmp_path, 0, 8192).close()
    segment = Segment(tmp_path, 0, 4096)
    assert segment.end == 8192
    segment.close()


def test_clearing_makes_the_rest_zero(tmp_path: Path) -> None:
    segment = Segment(tmp_path, 0, 4096)
    segment.write(0, b"x" * 100)
    segment.clear_from(50)
    assert segment.read(0, 200) == b"x" * 50 + bytes(150)
    segment.clear_from(50)
    segment.write(50, b"y" * 4)
    assert segment.read(50, 5) == b"yyyy\0"
    segment.delete()
    assert segment_starts(tmp_path) == []


def test_a_file_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / segment_name(0)).mkdir()
    with pytest.raises(StoreError, match=r"0{20}: cannot hold 4096 bytes: Is a dir"):
        Segment(tmp_path, 0, 4096)


def test_other_files_are_no_segments(tmp_path: Path) -> None:
    for name in ("lock", "0" * 19, "x" * 20, segment_name(7), segment_name(3)):
        (tmp_path / name).touch()
    assert segment_starts(tmp_path) == [3, 7]


def test_a_file_that_finds_no_room_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, _start: int, size: int) -> None:
        os.truncate(descriptor, size // 2)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    Segment(tmp_path, 0, 4096).close()
    monkeypatch.setattr(os, "posix_fallocate", full)
    for start in (0, 4096):
        with pytest.raises(StoreError, match="No space left"):
            Segment(tmp_path, start, 8192)
    assert segment_starts(tmp_path) == [0]
