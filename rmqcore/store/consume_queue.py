"""One queue's index into the commit log: entry n says where message n is.

An entry is 20 bytes: log offset, record size, tags code. Entries are numbered without
gaps from `min_offset` to `max_offset`; the numbers are the queue offsets that clients
see.

Theory. The queue is derived data: it can always be rebuilt from the log. So appending
only changes memory, and `unsaved` returns the new entries for writing to the files, in
a thread if need be; `mark_saved` is called when that is done. The newest entries stay
in memory, because consumers at the head of a queue read nothing else; older ones are
read from the files. The name of a file is the number of its first entry, and a file is
only ever appended to.

Cost: 20 bytes of memory per entry that is new or unsaved, one file read per access to
old ones, a binary search for a time. An empty queue costs no file.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final

from rmqcore.errors import StoreError

from .segment import segment_name, segment_starts

ENTRY: Final = struct.Struct(">qiq")
ENTRY_BYTES: Final = ENTRY.size

_ENTRIES_PER_FILE: Final = 300_000
_KEPT_ENTRIES: Final = 2_048
"""This many of the newest entries stay in memory after they were saved."""

Entry = tuple[int, int, int]


@lru_cache(maxsize=1024)
def _entries(count: int) -> struct.Struct:
    return struct.Struct(">" + "qiq" * count)


@dataclass(frozen=True, slots=True)
class UnsavedEntries:
    """Entries that must be appended to a queue's files, and where they end."""

    directory: Path
    first: int
    data: bytes

    @property
    def end(self) -> int:
        """The number after the last entry."""
        return self.first + len(self.data) // ENTRY_BYTES

    def write(self) -> None:
        """Append the entries to the queue's files and wait for the disk.

        The entry's place follows from its number, so writing the same entries twice
        does no harm.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        number, data = self.first, self.data
        while data:
            start = self._file_start(number)
            room = (start + _ENTRIES_PER_FILE - number) * ENTRY_BYTES
            descriptor = os.open(
                self.directory / segment_name(start), os.O_WRONLY | os.O_CREAT, 0o644
            )
            try:
                at = (number - start) * ENTRY_BYTES
                written = os.pwrite(descriptor, data[:room], at)
                os.ftruncate(descriptor, at + written // ENTRY_BYTES * ENTRY_BYTES)
                os.fdatasync(descriptor)
            finally:
                os.close(descriptor)
            number += written // ENTRY_BYTES
            data = data[written // ENTRY_BYTES * ENTRY_BYTES :]

    def _file_start(self, number: int) -> int:
        starts = segment_starts(self.directory)
        index = bisect_right(starts, number) - 1
        if index >= 0 and number < starts[index] + _ENTRIES_PER_FILE:
            return starts[index]
        return number


class ConsumeQueue:
    """The entries of one queue of one topic."""

    __slots__ = ("_first_in_memory", "_recent", "_saved", "_starts", "directory", "min")

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._starts = segment_starts(directory) if directory.is_dir() else []
        self.min = self._starts[0] if self._starts else 0
        self._first_in_memory = self._saved = self._end_on_disk()
        self._recent = bytearray()

    @property
    def max(self) -> int:
        """The number that the next entry gets."""
        return self._first_in_memory + len(self._recent) // ENTRY_BYTES

    @property
    def total_bytes(self) -> int:
        """The size of the entries that are kept."""
        return (self.max - self.min) * ENTRY_BYTES

    @property
    def is_empty(self) -> bool:
        """Whether no entry is left, or none was ever there."""
        return self.min >= self.max

    def append(self, log_offset: int, size: int, tags_code: int) -> None:
        """Add the entry with the number `max`."""
        self._recent += ENTRY.pack(log_offset, size, tags_code)

    def append_block(
        self, log_offsets: Sequence[int], sizes: Sequence[int], codes: Sequence[int]
    ) -> None:
        """Add several entries, given by column."""
        numbers = chain.from_iterable(zip(log_offsets, sizes, codes, strict=True))
        self._recent += _entries(len(sizes)).pack(*numbers)

    def begin_at(self, number: int) -> None:
        """Forget everything, on disk as well, and give the next entry this number."""
        self.delete()
        self.min = self._first_in_memory = self._saved = number
        if number:
            # A file without entries keeps the number across a restart.
            self.directory.mkdir(parents=True)
            (self.directory / segment_name(number)).touch()
            self._starts = [number]

    def entries(self, first: int, count: int) -> Iterator[Entry]:
        """Return up to `count` entries from `first` on; callers check the bounds."""
        return ENTRY.iter_unpack(self._raw(first, min(count, self.max - first)))

    def entry(self, number: int) -> Entry | None:
        """Return one entry, None where there is none."""
        if not self.min <= number < self.max:
            return None
        return next(self.entries(number, 1), None)

    def search(self, target: int, value_of: Callable[[Entry], int]) -> int:
        """Return the first number whose value is not below `target`, else `max`.

        `value_of` must not decrease from entry to entry.
        """
        low, high = self.min, self.max
        while low < high:
            middle = (low + high) // 2
            (entry,) = self.entries(middle, 1)
            if value_of(entry) < target:
                low = middle + 1
            else:
                high = middle
        return low

    def drop_before_log_offset(self, log_offset: int) -> None:
        """Raise `min` past every entry whose record is no longer in the log."""
        self.min = self.search(log_offset, lambda entry: entry[0])
        while len(self._starts) > 1 and self._starts[1] <= self.min:
            (self.directory / segment_name(self._starts.pop(0))).unlink()

    def drop_from_log_offset(self, log_offset: int) -> None:
        """Remove entries of records at or after `log_offset`; all must be saved."""
        end = self.search(log_offset, lambda entry: entry[0])
        while self._starts and self._starts[-1] > end:
            (self.directory / segment_name(self._starts.pop())).unlink()
        if self._starts:
            path = self.directory / segment_name(self._starts[-1])
            os.truncate(path, (end - self._starts[-1]) * ENTRY_BYTES)
        self._recent.clear()
        self._first_in_memory = self._saved = end

    def unsaved(self) -> UnsavedEntries | None:
        """Return the entries that are not in the files yet, None when all are."""
        if self._saved == self.max:
            return None
        at = (self._saved - self._first_in_memory) * ENTRY_BYTES
        return UnsavedEntries(self.directory, self._saved, bytes(self._recent[at:]))

    def mark_saved(self, written: UnsavedEntries) -> None:
        """Note that entries are in the files, and drop old ones from memory."""
        if written.first != self._saved:
            return
        self._saved = written.end
        surplus = self._saved - self._first_in_memory - _KEPT_ENTRIES
        if surplus > 0:
            del self._recent[: surplus * ENTRY_BYTES]
            self._first_in_memory += surplus
        self._starts = segment_starts(self.directory)

    def delete(self) -> None:
        """Remove every entry and file."""
        if self.directory.is_dir():
            for path in self.directory.iterdir():
                path.unlink()
            self.directory.rmdir()
        self._starts = []
        self._recent.clear()
        self.min = self._first_in_memory = self._saved = 0

    # Private, in order of first use

    def _end_on_disk(self) -> int:
        if not self._starts:
            return 0
        last = self.directory / segment_name(self._starts[-1])
        return self._starts[-1] + last.stat().st_size // ENTRY_BYTES

    def _raw(self, first: int, count: int) -> bytes:
        if count <= 0:
            return b""
        in_memory = self._first_in_memory
        if first >= in_memory:
            at = (first - in_memory) * ENTRY_BYTES
            return bytes(self._recent[at : at + count * ENTRY_BYTES])
        data = b""
        end = min(first + count, in_memory)
        while first < end:
            piece = self._read_file(first, end - first)
            data += piece
            first += len(piece) // ENTRY_BYTES
        missing = count - len(data) // ENTRY_BYTES
        return data + self._raw(in_memory, missing)

    def _read_file(self, first: int, count: int) -> bytes:
        start = self._starts[bisect_left(self._starts, first + 1) - 1]
        count = min(count, start + _ENTRIES_PER_FILE - first)
        with (self.directory / segment_name(start)).open("rb") as file:
            file.seek((first - start) * ENTRY_BYTES)
            data = file.read(count * ENTRY_BYTES)
        if not data:
            raise StoreError(f"{self.directory}: entry {first} is missing")
        return data
