"""Offsets of a broadcasting member, in a file on its own host (behaviour D2, A3).

The file is root / client id / group / `offsets.json`; it is replaced as a whole, and
the previous version stays beside it as `offsets.json.bak`. Loading uses the backup when
the main file is missing, empty or broken. With neither, the member knows nothing and
starts where its start position says: at the tail by default (A6). With both broken, it
refuses to start rather than lose its place silently.

Invariant: at every instant at least one of the two files is whole. Each is written
under another name, flushed to disk and renamed; a main file that cannot be read never
becomes the backup. Two members with one client id share the file (A5): a write keeps
entries of queues that it does not know itself, and the last writer of a queue wins.

Cost: one read and two small writes with flush per call, in a thread.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from rmqcore.errors import ArgumentError, BodyError, StoreError
from rmqcore.model import MessageQueue

from .file_format import decode_offsets, encode_offsets
from .store import OffsetStore

FILE_NAME: Final = "offsets.json"
BACKUP_SUFFIX: Final = ".bak"
DEFAULT_DIRECTORY: Final = ".rocketmq_offsets"


class FoundIn(Enum):
    """Which file the offsets were read from."""

    MAIN = "main"
    BACKUP = "backup"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class LocalOffsets:
    """What the files held; `problem` says why the main file was not used."""

    offsets: Mapping[MessageQueue, int]
    found_in: FoundIn
    problem: str | None = None


def default_offsets_directory() -> Path:
    """Return the folder in the user's home that Java clients use for offsets, too."""
    return Path.home() / DEFAULT_DIRECTORY


class LocalFileOffsetStore(OffsetStore):
    """The file store of one group of one client. Belongs to one event loop."""

    def __init__(self, root: Path, client_id: str, group: str) -> None:
        super().__init__()
        for what, name in (("client id", client_id), ("group", group)):
            if not name or name in {".", ".."} or "/" in name or "\0" in name:
                raise ArgumentError(f"{what} {name!r} cannot be the name of a folder")
        self.path = root / client_id / group / FILE_NAME
        self.loaded = LocalOffsets({}, FoundIn.NOWHERE)
        self._writing = asyncio.Lock()

    @property
    def backup_path(self) -> Path:
        """Where the previous version is kept."""
        return self.path.with_name(FILE_NAME + BACKUP_SUFFIX)

    async def load(self) -> None:
        """Read the files into memory; `loaded` then says what was found where.

        Raises `StoreError` when there are files, but none that can be read.
        """
        self.loaded = await asyncio.to_thread(self._read_files)
        self._offsets.update(self.loaded.offsets)

    async def persist(self, queue: MessageQueue) -> None:
        """Persist one queue's offset, if memory knows it."""
        await self.persist_all((queue,))

    async def persist_all(self, queues: Collection[MessageQueue]) -> None:
        """Persist the offsets of these queues; raise `StoreError` on failure."""
        if wanted := self._known(queues):
            async with self._writing:
                await asyncio.to_thread(self._write_files, wanted)

    def remove_offset(self, queue: MessageQueue) -> None:
        """End a freeze; the offset itself is kept, as every member owns every queue."""
        self._frozen.discard(queue)

    async def _read(self, queue: MessageQueue) -> int | None:
        return (await asyncio.to_thread(self._read_files)).offsets.get(queue)

    def _read_files(self) -> LocalOffsets:
        main, problem = _read(self.path)
        if main is not None:
            return LocalOffsets(main, FoundIn.MAIN)
        backup, backup_problem = _read(self.backup_path)
        if backup is not None:
            return LocalOffsets(backup, FoundIn.BACKUP, problem)
        if self.backup_path.exists():
            raise StoreError(f"no offsets can be read: {problem}; {backup_problem}")
        return LocalOffsets({}, FoundIn.NOWHERE, problem)

    def _write_files(self, offsets: Mapping[MessageQueue, int]) -> None:
        before = self._read_files()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if before.found_in is FoundIn.MAIN:
                _replace(self.backup_path, encode_offsets(before.offsets))
            _replace(self.path, encode_offsets({**before.offsets, **offsets}))
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written: {error}") from error


def _read(path: Path) -> tuple[dict[MessageQueue, int] | None, str]:
    try:
        data = path.read_bytes()
    except OSError as error:
        return None, f"{path}: {error.strerror}"
    if not data:
        return None, f"{path}: is empty"
    try:
        return decode_offsets(data), ""
    except BodyError as error:
        return None, f"{path}: {error}"


def _replace(path: Path, data: bytes) -> None:
    descriptor, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
