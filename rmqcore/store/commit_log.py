"""The commit log: every record of a broker, one after another, in files.

Theory. An offset is a byte position since the log began; it never repeats. A file holds
the offsets from the number in its name on. A record never spans two files: when it
does not fit (eight bytes are kept for the blank record that says so), the log goes on
in the next file.

Appending is two steps, because a record contains its own offset: `place` finds where
`size` bytes go, rolling over if need be, and `write` stores them there. Several
records placed together are written together and become visible together.

A torn tail is what a crash leaves after the last whole record. `scan` yields whole
records and stops at the first bytes that are not one; the caller decides whether the
rest is a torn tail or damage, and `cut` removes it. Nothing is ever skipped.

While the disk does not take what was appended, nothing more is appended: records that
would be lost with the machine are refused, until a flush has succeeded.

Cost: an append is one copy into mapped memory, a read one copy out of it. `flush` is
the only call that waits for the disk, and may run in a thread while other calls are
made. No clock and no configuration is read here.
"""

from __future__ import annotations

import contextlib
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rmqcore.errors import ArgumentError, StoreError
from rmqcore.protocol.message import MAGIC_BLANK

from . import record
from .record import BLANK_BYTES, SMALLEST_RECORD, StoredRecord
from .segment import Segment, segment_name, segment_starts

SMALLEST_SEGMENT_BYTES: Final = 4096
_SIZE_MAGIC: Final = struct.Struct(">iI")


class CommitLog:
    """Files of `segment_bytes` each in `directory`, which is created when missing."""

    def __init__(self, directory: Path, segment_bytes: int) -> None:
        if segment_bytes < SMALLEST_SEGMENT_BYTES:
            raise ArgumentError(
                f"commit log files of {segment_bytes} bytes, "
                f"at least {SMALLEST_SEGMENT_BYTES}"
            )
        self._directory = directory
        self._segment_bytes = segment_bytes
        directory.mkdir(parents=True, exist_ok=True)
        _remove_unused(directory)
        self._segments = [
            Segment(directory, start, 1) for start in segment_starts(directory)
        ]
        self._starts = [segment.start for segment in self._segments]
        self._require_no_gap()
        self._end = self._segments[-1].end if self._segments else 0
        self._flushed = self.min_offset
        self._fault: StoreError | None = None
        """Why the last flush failed; None after one that did not."""

    @property
    def min_offset(self) -> int:
        """Where the oldest record begins."""
        return self._starts[0] if self._starts else self._end

    @property
    def max_offset(self) -> int:
        """Where the next record will begin, unless it does not fit the file."""
        return self._end

    @property
    def flushed_offset(self) -> int:
        """The offset before which everything is on disk."""
        return self._flushed

    @property
    def largest_record(self) -> int:
        """The size in bytes of the largest record that fits a file."""
        return self._segment_bytes - BLANK_BYTES

    @property
    def segment_starts(self) -> list[int]:
        """Where the files begin, ascending."""
        return list(self._starts)

    @property
    def last_segment_start(self) -> int:
        """Where the file that is being written begins."""
        return self._starts[-1]

    def segment_start(self, log_offset: int) -> int:
        """Return where the file that holds `log_offset` begins."""
        return self._starts[bisect_right(self._starts, log_offset) - 1]

    def place(self, size: int) -> int:
        """Return where `size` bytes go, after rolling over if they do not fit.

        Raises `StoreError` when they fit no file, no further file can be made, or the
        last flush failed.
        """
        if self._fault is not None:
            raise self._fault
        segments = self._segments
        if segments and self._end + size + BLANK_BYTES <= segments[-1].end:
            return self._end
        if size > self.largest_record:
            raise StoreError(
                f"{size} bytes do not fit a commit log file, "
                f"limit {self.largest_record}"
            )
        self._roll_over(segments[-1] if segments else None)
        return self._end

    def write(self, log_offset: int, data: bytes) -> None:
        """Store whole records at the place that `place` returned for their size."""
        self._segments[-1].write(log_offset, data)
        self._end = log_offset + len(data)

    def read(self, log_offset: int, size: int) -> bytes:
        """Return `size` bytes, or fewer where the log or the file ends earlier."""
        segment = self._segment_at(log_offset)
        if segment is None:
            return b""
        return segment.read(log_offset, min(size, self._end - log_offset))

    def read_pieces(self, pieces: Sequence[tuple[int, int]]) -> bytes:
        """Return several (log offset, size) ranges of whole records, joined."""
        parts: list[bytes] = []
        segment = None
        start = end = -1
        for log_offset, size in pieces:
            if segment is None or not start <= log_offset < end:
                segment = self._segment_at(log_offset)
                if segment is None:
                    continue
                start, end = segment.start, segment.end
            parts.append(segment.read(log_offset, size))
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def record_at(self, log_offset: int) -> bytes | None:
        """Return the whole record at an offset given from outside, or None.

        The offset may be anything: only bytes that check as a record with this very
        offset in it are returned.
        """
        size, magic = self._head_at(log_offset)
        if size < SMALLEST_RECORD or magic == MAGIC_BLANK:
            return None
        data = self.read(log_offset, size)
        try:
            stored = record.parse(data)
        except StoreError:
            return None
        return data if stored.log_offset == log_offset else None

    def scan(self, log_offset: int) -> LogScan:
        """Return the whole records from `log_offset` on, in order."""
        return LogScan(self._segments, log_offset)

    def cut(self, log_offset: int) -> None:
        """End the log at `log_offset`: drop later files, zero the rest of its file."""
        while self._segments and self._segments[-1].start >= max(log_offset, 1):
            if self._segments[-1].start == log_offset and len(self._segments) == 1:
                break
            self._segments.pop().delete()
            self._starts.pop()
        if self._segments and log_offset < self._segments[-1].end:
            self._segments[-1].clear_from(log_offset)
        self._end = log_offset
        self._flushed = min(self._flushed, log_offset)

    def flush(self) -> int:
        """Write everything to disk and return the offset up to which that is done.

        May run in a thread while appends go on; records appended meanwhile are part of
        the next flush. Raises `StoreError` when the disk does not take them.
        """
        end, flushed = self._end, self._flushed
        if end <= flushed:
            return flushed
        for segment in list(self._segments):
            if segment.end > flushed and segment.start < end:
                with contextlib.suppress(FileNotFoundError):  # expired meanwhile
                    self._flush_segment(segment)
        self._fault = None
        self._flushed = max(self._flushed, end)
        return end

    def drop_oldest(self) -> int:
        """Remove the oldest file, never the last; return the new minimum."""
        if len(self._segments) < 2:
            raise StoreError("the commit log's last file is still being written")
        self._segments.pop(0).delete()
        self._starts.pop(0)
        return self._starts[0]

    def abandon(self) -> None:
        """Unmap every file without flushing."""
        for segment in self._segments:
            segment.close()

    # Private, in order of first use

    def _require_no_gap(self) -> None:
        for before, after in zip(self._segments, self._segments[1:], strict=False):
            if before.end != after.start:
                raise StoreError(
                    f"{after.path}: begins at {after.start}, "
                    f"but the file before it ends at {before.end}"
                )

    def _roll_over(self, last: Segment | None) -> None:
        start = self._end if last is None else last.end
        segment = Segment(self._directory, start, self._segment_bytes)
        if last is not None and last.end - self._end >= BLANK_BYTES:
            last.write(self._end, record.blank(last.end - self._end))
        self._segments.append(segment)
        self._starts.append(start)
        self._end = start

    def _flush_segment(self, segment: Segment) -> None:
        try:
            segment.flush()
        except FileNotFoundError:
            raise
        except OSError as error:
            self._fault = StoreError(
                f"{segment.path}: the disk takes no data: {error.strerror}"
            )
            raise self._fault from error

    def _segment_at(self, log_offset: int) -> Segment | None:
        index = bisect_right(self._starts, log_offset) - 1
        if index < 0 or log_offset >= self._segments[index].end:
            return None
        return self._segments[index]

    def _head_at(self, log_offset: int) -> tuple[int, int]:
        segment = self._segment_at(log_offset)
        return (0, 0) if segment is None else _head(segment, log_offset)


class LogScan:
    """Iterates over whole records; then says where it stopped, and why.

    `end` is where the last whole record ends; `reason` is what is wrong with the bytes
    there, None when nothing was ever written there.
    """

    def __init__(self, segments: list[Segment], log_offset: int) -> None:
        self.end = log_offset
        self.reason: str | None = None
        self._segments = segments

    def __iter__(self) -> Iterator[StoredRecord]:
        for segment in [s for s in self._segments if s.end > self.end]:
            at = max(self.end, segment.start)
            while True:
                size, magic = _head(segment, at)
                if magic == MAGIC_BLANK and size == segment.end - at:
                    break
                if size == 0 and magic == 0:
                    return
                try:
                    stored = _record_in(segment, at, size)
                except StoreError as error:
                    self.reason = str(error)
                    return
                yield stored
                at = self.end = at + size


def _remove_unused(directory: Path) -> None:
    """Remove a last file that was created but never got its size: it is empty."""
    starts = segment_starts(directory)
    if starts:
        last = directory / segment_name(starts[-1])
        if last.stat().st_size < SMALLEST_SEGMENT_BYTES:
            last.unlink()


def _head(segment: Segment, log_offset: int) -> tuple[int, int]:
    head = segment.read(log_offset, BLANK_BYTES)
    if len(head) < BLANK_BYTES:
        return 0, 0
    size, magic = _SIZE_MAGIC.unpack(head)
    return size, magic


def _record_in(segment: Segment, log_offset: int, size: int) -> StoredRecord:
    if size < SMALLEST_RECORD or log_offset + size > segment.end:
        raise StoreError(f"a record of {size} bytes cannot be here")
    stored = record.parse(segment.read(log_offset, size))
    if stored.log_offset != log_offset:
        raise StoreError(f"the record has the offset {stored.log_offset}")
    return stored
