"""A lake in memory, whose writes can be cut short at a chosen moment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from analytics.lake.storage import StoredFile


class CutError(OSError):
    """What stands for a kill, or for a disk that is full."""


class MemoryStorage:
    """Files as bytes, with the clock of the test.

    `cut_after` is the number of changes that are made before one is refused, with
    everything after it; None refuses nothing. With `is_made` the refused one is made.
    """

    url = "memory://lake"

    def __init__(self, now: Callable[[], int]) -> None:
        self.files: dict[str, tuple[bytes, int]] = {}
        self.cut_after: int | None = None
        self.is_made = False
        self._now = now

    def uri(self, path: str) -> str:
        return f"{self.url}/{path}"

    def write_new(self, path: str, data: bytes) -> bool:
        return self._changed(lambda: self._write(path, data))

    def write_file(self, path: str, source: Path) -> bool:
        return self.write_new(path, source.read_bytes())

    def replace(self, path: str, data: bytes) -> None:
        def change() -> bool:
            self.files[path] = (data, self._now())
            return True

        self._changed(change)

    def read(self, path: str) -> bytes:
        try:
            return self.files[path][0]
        except KeyError:
            raise FileNotFoundError(path) from None

    def list_files(self, prefix: str) -> list[StoredFile]:
        return [
            StoredFile(path, len(data), at)
            for path, (data, at) in sorted(self.files.items())
            if path.startswith(f"{prefix}/")
        ]

    def delete(self, path: str) -> None:
        self._changed(lambda: self.files.pop(path, None) is not None)

    def delete_tree(self, path: str) -> None:
        for file in self.list_files(path):
            self.delete(file.path)

    def delete_halves(self, prefix: str, before_ms: int) -> int:
        return 0

    def open_input(self, path: str) -> Any:
        return pa.BufferReader(self.read(path))

    def _write(self, path: str, data: bytes) -> bool:
        if path in self.files:
            return False
        self.files[path] = (data, self._now())
        return True

    def _changed(self, change: Callable[[], bool]) -> bool:
        if self.cut_after is None:
            return change()
        if self.cut_after <= 0:
            if self.cut_after == 0 and self.is_made:
                change()
            self.cut_after -= 1
            raise CutError("No space left on device")
        self.cut_after -= 1
        return change()
