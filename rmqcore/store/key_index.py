"""The places of messages by key: for every key of a record, a hash and a place.

Theory. An entry is eight bytes: the CRC-32 of `topic#key`, and the record's distance
from the beginning of its commit log file. There is one list of entries per log file, in
the order of the log, in memory while the log file is new and in a file of the same name
later. A look-up searches the bytes for the hash, which costs about 1 ms per million
messages and needs nothing sorted or rewritten when a message is appended.

Hashes collide, so a found place is a candidate: the caller compares the real key.

The index is derived data, like the consume queues: `unsaved` and `mark_saved` work as
they do there.
"""

from __future__ import annotations

import os
import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from .segment import segment_name, segment_starts

_ENTRY: Final = struct.Struct(">II")
_HASH: Final = struct.Struct(">I")


def key_hash(topic: bytes, key: bytes) -> int:
    """Return the hash under which a key of a topic is found."""
    return zlib.crc32(key, topic_seed(topic))


@lru_cache(maxsize=4096)
def topic_seed(topic: bytes) -> int:
    """Return the value that the CRC-32 of a key starts from, for keys of this topic."""
    return zlib.crc32(topic + b"#")


@dataclass(frozen=True, slots=True)
class UnsavedKeys:
    """Index entries that belong in the file of one log file, from `at` on."""

    path: Path
    at: int
    data: bytes

    def write(self) -> None:
        """Store the entries at their place and wait for the disk."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            written = 0
            while written < len(self.data):
                written += os.pwrite(descriptor, self.data[written:], self.at + written)
            os.ftruncate(descriptor, self.at + len(self.data))
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)


class KeyIndex:
    """Entries by log file. The newest log file's entries are kept in memory."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._starts = segment_starts(directory)
        self._sizes = {
            start: self._path(start).stat().st_size for start in self._starts
        }
        self._recent: dict[int, bytearray] = {}
        self._saved: dict[int, int] = {}

    @property
    def total_bytes(self) -> int:
        """The size of all entries, saved or not."""
        sizes = self._sizes | {s: len(e) for s, e in self._recent.items()}
        return sum(sizes.values())

    def append(
        self, segment_start: int, log_offset: int, hashes: Iterable[int]
    ) -> None:
        """Add the keys of one record, given as hashes."""
        entries = self._recent.get(segment_start)
        if entries is None:
            entries = self._open(segment_start)
        distance = log_offset - segment_start
        for hashed in hashes:
            entries += _ENTRY.pack(hashed, distance)

    def append_block(self, segment_start: int, numbers: Sequence[int]) -> None:
        """Add keys of several records: hash and record's distance, alternating."""
        entries = self._recent.get(segment_start)
        if entries is None:
            entries = self._open(segment_start)
        entries += _pairs(len(numbers)).pack(*numbers)

    def candidates(self, hashed: int) -> Iterator[int]:
        """Yield the log offsets of records that may have the key, newest first."""
        wanted = _HASH.pack(hashed)
        for start in reversed(self._starts):
            entries = self._entries(start)
            at = entries.rfind(wanted)
            while at >= 0:
                if at % _ENTRY.size == 0:
                    yield start + _HASH.unpack_from(entries, at + _HASH.size)[0]
                at = entries.rfind(wanted, 0, at + _HASH.size - 1)

    def drop_before(self, log_offset: int) -> None:
        """Forget the log files that end at or before `log_offset`, on disk as well."""
        while len(self._starts) > 1 and self._starts[1] <= log_offset:
            self._forget(self._starts[0])

    def drop_from(self, log_offset: int) -> None:
        """Forget every entry of a record at or after `log_offset`."""
        for start in [start for start in self._starts if start >= log_offset]:
            self._forget(start)
        if not self._starts:
            return
        start = self._starts[bisect_right(self._starts, log_offset) - 1]
        entries = self._open(start)
        kept = len(entries)
        while kept and _distance(entries, kept) >= log_offset - start:
            kept -= _ENTRY.size
        del entries[kept:]
        self._saved[start] = min(self._saved[start], kept)

    def unsaved(self) -> list[UnsavedKeys]:
        """Return the entries that are not in the files yet."""
        return [
            UnsavedKeys(self._path(start), saved, bytes(self._recent[start][saved:]))
            for start, saved in self._saved.items()
            if saved < len(self._recent[start])
        ]

    def mark_saved(self, written: UnsavedKeys) -> None:
        """Note that entries are in a file, and drop older log files from memory."""
        start = int(written.path.name)
        if self._saved.get(start) != written.at:
            return
        self._saved[start] = written.at + len(written.data)
        self._sizes[start] = self._saved[start]
        if start != self._starts[-1] and self._saved[start] == len(self._recent[start]):
            del self._recent[start], self._saved[start]

    # Private, in order of first use

    def _open(self, start: int) -> bytearray:
        entries = self._recent.get(start)
        if entries is None:
            entries = self._recent[start] = bytearray(self._entries(start))
            # An entry torn by a crash does not count.
            del entries[len(entries) // _ENTRY.size * _ENTRY.size :]
            self._saved[start] = len(entries)
            if start not in self._starts:
                self._starts.append(start)
        return entries

    def _entries(self, start: int) -> bytes | bytearray:
        recent = self._recent.get(start)
        if recent is not None:
            return recent
        path = self._path(start)
        return path.read_bytes() if path.exists() else b""

    def _path(self, start: int) -> Path:
        return self._directory / segment_name(start)

    def _forget(self, start: int) -> None:
        self._starts.remove(start)
        self._recent.pop(start, None)
        self._saved.pop(start, None)
        self._sizes.pop(start, None)
        self._path(start).unlink(missing_ok=True)


@lru_cache(maxsize=1024)
def _pairs(numbers: int) -> struct.Struct:
    return struct.Struct(f">{numbers}I")


def _distance(entries: bytearray, end: int) -> int:
    distance: int = _HASH.unpack_from(entries, end - _HASH.size)[0]
    return distance
