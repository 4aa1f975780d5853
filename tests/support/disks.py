"""Disks that are full or read-only: a small file system in memory, mounted for a test.

Mounting needs root; without it the test is skipped and says so.
"""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BLOCK = 4096


class SmallDisk:
    """A file system of a few megabytes that a test fills, empties and locks."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    def fill(self) -> None:
        """Take all the room that is left, so that the next byte finds none."""
        with self._filler.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(BLOCK))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def make_room(self) -> None:
        """Give back what `fill` took."""
        self._filler.unlink(missing_ok=True)

    def lock(self) -> None:
        """Refuse all writes; no file may be open for writing."""
        _mount("-o", "remount,ro", str(self.path))

    def unlock(self) -> None:
        """Accept writes again."""
        _mount("-o", "remount,rw", str(self.path))


@contextmanager
def small_disk(path: Path, megabytes: int) -> Iterator[SmallDisk]:
    """Mount a disk at a new directory; skip the test where that is impossible."""
    path.mkdir()
    try:
        _mount("-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(path))
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no small disk can be mounted (it needs root): {error}")
    try:
        yield SmallDisk(path)
    finally:
        # Lazily: a process that the test has just killed may still hold a file.
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def _mount(*arguments: str) -> None:
    command = ["mount", *arguments]
    subprocess.run(command, check=True, capture_output=True, text=True)
