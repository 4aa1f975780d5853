"""A small file that is replaced as a whole, with the previous one kept beside it.

At every moment the file or its `.bak` is complete: the new content is on disk under
another name before it takes the place of the old. The content is read through the
caller's parser, so that the `.bak` is read in place of a damaged file, which is not
mistaken for an empty one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from rmqcore.errors import RmqError, StoreError

T = TypeVar("T")


class ConfigFile:
    """One file at `path`, with `path.bak` and, while writing, `path.tmp`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._backup = path.with_name(path.name + ".bak")
        self._new = path.with_name(path.name + ".tmp")
        self._last: bytes | None = None

    def load(self, parse: Callable[[bytes], T]) -> T | None:
        """Return the parsed content; None when neither file nor backup was ever made.

        Raises `StoreError`, naming the file and the reason, when neither can be read.
        """
        reasons = []
        for path in (self.path, self._backup):
            try:
                data = path.read_bytes()
                parsed = parse(data)
            except FileNotFoundError:
                continue
            except (OSError, RmqError, ValueError) as error:
                reasons.append(f"{path}: {error}")
                continue
            if path is self.path:
                self._last = data
            return parsed
        if reasons:
            raise StoreError("; ".join(reasons))
        return None

    def save(self, data: bytes) -> None:
        """Replace the content; write nothing when it is the same as before.

        Raises `StoreError` when the disk does not take it; then the old content stays.
        """
        if data == self._last:
            return
        try:
            self._replace(data)
        except OSError as error:
            raise StoreError(f"{self.path}: not written: {error}") from error
        self._last = data

    def _replace(self, data: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if self._last is not None:
            self._keep_backup()
        self._new.replace(self.path)
        _sync_directory(self.path.parent)

    def _keep_backup(self) -> None:
        # A link, then a rename: there is no moment without the file itself.
        linked = self._backup.with_name(self._backup.name + ".tmp")
        linked.unlink(missing_ok=True)
        linked.hardlink_to(self.path)
        linked.replace(self._backup)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
