"""One file of the commit log: fixed size, mapped into memory.

The whole size is reserved when the file is made, so a full disk is an error there and
not a fault in the middle of a record. Data written to the mapping belongs to the
operating system at once: it survives a kill of the process, and is on disk after
`flush`.

A write becomes visible by its first four bytes, the record's size, which are stored
last: a process killed inside a write leaves a size of zero, the end of the log.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from pathlib import Path
from typing import Final

from rmqcore.errors import StoreError

NAME_DIGITS: Final = 20
_SIZE_BYTES: Final = 4


def segment_name(start: int) -> str:
    """Return the name of the file that begins at log offset `start`."""
    return f"{start:0{NAME_DIGITS}d}"


def segment_starts(directory: Path) -> list[int]:
    """Return the starts of the segment files in a directory, ascending."""
    names = (path.name for path in directory.iterdir())
    return sorted(int(n) for n in names if len(n) == NAME_DIGITS and n.isdigit())


class Segment:
    """A file of `size_bytes` bytes from log offset `start` on."""

    __slots__ = ("_map", "end", "path", "size_bytes", "start")

    def __init__(self, directory: Path, start: int, size_bytes: int) -> None:
        self.path = directory / segment_name(start)
        self.start = start
        is_new = not self.path.exists()
        try:
            self.size_bytes, self._map = _map_file(self.path, size_bytes)
        except OSError as error:
            if is_new:
                # Some file systems keep what they had reserved when the space ran out.
                with contextlib.suppress(OSError):
                    self.path.unlink()
            raise StoreError(
                f"{self.path}: cannot hold {size_bytes} bytes: {error.strerror}"
            ) from error
        self.end = start + self.size_bytes

    def write(self, log_offset: int, data: bytes) -> None:
        """Store one or more records; all become visible with the first one's size."""
        at = log_offset - self.start
        view = memoryview(data)
        self._map[at + _SIZE_BYTES : at + len(data)] = view[_SIZE_BYTES:]
        self._map[at : at + _SIZE_BYTES] = view[:_SIZE_BYTES]

    def read(self, log_offset: int, size: int) -> bytes:
        """Return `size` bytes from `log_offset` on, fewer at the end of the file."""
        at = log_offset - self.start
        return self._map[at : at + size]

    def clear_from(self, log_offset: int) -> None:
        """Zero everything from `log_offset` to the end again."""
        at = log_offset - self.start
        if self._map[at:].count(0) == self.size_bytes - at:
            return
        self._map.close()
        os.truncate(self.path, at)
        _, self._map = _map_file(self.path, self.size_bytes)

    def flush(self) -> None:
        """Wait until all data written so far is on disk. May run in a thread."""
        # Not the map's own flush, which holds the interpreter's lock meanwhile.
        descriptor = os.open(self.path, os.O_RDWR)
        try:
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Unmap the file, without flushing it."""
        self._map.close()

    def delete(self) -> None:
        """Unmap and remove the file."""
        self._map.close()
        self.path.unlink()


def _map_file(path: Path, size_bytes: int) -> tuple[int, mmap.mmap]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        # A file made under another setting keeps its size.
        size_bytes = max(size_bytes, os.fstat(descriptor).st_size)
        os.posix_fallocate(descriptor, 0, size_bytes)
        return size_bytes, mmap.mmap(descriptor, size_bytes)
    finally:
        os.close(descriptor)
