"""Read, and keep short, Spark's log of the files that a stream has read.

Beside its checkpoint Spark writes a file of JSON lines for each batch, one line per
landing file; every tenth is a `.compact` file with all lines so far. Spark drops old
batches, but never a line: the log grows with every file ever read.

On start it reads the lines into a map and drops those of files `READ_WITHIN` older than
the newest; it never reads a file that old, whether or not it is in the map. So these
lines can be removed from the log: Spark builds the same map without them.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from analytics.errors import LakeError

from .naming import LANDING, MINUTE_MS
from .storage import Storage

logger = logging.getLogger(__name__)

CHECKPOINT: Final = "checkpoints/rollup"
_SOURCE_LOG: Final = f"{CHECKPOINT}/sources/0"
_OFFSETS: Final = f"{CHECKPOINT}/offsets"
_COMMITS: Final = f"{CHECKPOINT}/commits"

READ_WITHIN_MS: Final = 72 * 60 * MINUTE_MS
"""A landing file this much older than the newest one read is not read any more.

This is longer than retention keeps unread files, so that it never matters.
"""

_VERSION: Final = "v1"
_COMPACT: Final = ".compact"


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A landing file in the log: the batch it went into, and when it was written."""

    path: str
    batch: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class SourceLog:
    """The files in the log, those of batches that were not finished included."""

    files: tuple[ReadFile, ...]
    committed: int
    """The last batch of files that is in the roll-ups; -1 before the first."""

    @property
    def reads_from_ms(self) -> int:
        """The stream reads no file that was written earlier."""
        newest_ms = max((file.modified_ms for file in self.files), default=0)
        return newest_ms - READ_WITHIN_MS

    @property
    def counted(self) -> set[str]:
        """The paths of files that are in finished batches."""
        return {file.path for file in self.files if file.batch <= self.committed}


def read_log(storage: Storage) -> SourceLog:
    """Return the log as it stands; raises `LakeError` when it cannot be understood."""
    # In this order: a batch that is committed meanwhile counts as not finished.
    committed = _committed(storage)
    files = [
        file
        for path in _newest_parts(storage)
        for file, _line in _decoded(path, storage.read(path))
    ]
    return SourceLog(tuple(files), committed)


def files_of_batch(storage: Storage, number: int) -> list[str]:
    """Return the landing files of a batch that the stream has planned, in order."""
    begin = _reached(storage, number - 1) if number else -1
    end = _reached(storage, number)
    log = read_log(storage)
    return sorted(file.path for file in log.files if begin < file.batch <= end)


def thin_log(storage: Storage) -> int:
    """Drop the lines that Spark itself would drop; return how many.

    Only the newest `.compact` is changed, from which the next is made; Spark deletes
    the older ones. May be interrupted, and may run while a stream runs.
    """
    log = read_log(storage)
    path = next(iter(_newest_parts(storage)), "")
    if not path.endswith(_COMPACT):
        return 0
    lines = _decoded(path, storage.read(path))
    kept = [
        line
        for file, line in lines
        # Unfinished batches are read again, and the last batch is inspected on start.
        if file.modified_ms >= log.reads_from_ms or file.batch >= log.committed
    ]
    if len(kept) < len(lines):
        folder, _slash, name = path.rpartition("/")
        # Hadoop's checksum of a local file; Hadoop checks nothing if it is missing.
        storage.delete(f"{folder}/.{name}.crc")
        storage.replace(path, "\n".join([_VERSION, *kept]).encode())
    return len(lines) - len(kept)


def _newest_parts(storage: Storage) -> list[str]:
    """Return the newest `.compact` and the files of the batches since, in order."""
    numbered = {}
    for file in storage.list_files(_SOURCE_LOG):
        name = file.path.rsplit("/", 1)[1].removesuffix(_COMPACT)
        if name.isdigit():
            numbered[int(name)] = file.path
    compact = [n for n, path in numbered.items() if path.endswith(_COMPACT)]
    begin = max(compact, default=0)
    return [path for number, path in sorted(numbered.items()) if number >= begin]


def _decoded(path: str, data: bytes) -> list[tuple[ReadFile, str]]:
    version, *lines = data.decode().splitlines()
    if version != _VERSION:
        raise LakeError(f"{path} has version {version!r}, this program reads v1")
    found = []
    try:
        for line in lines:
            entry = json.loads(line)
            path_there = unquote(entry["path"]).split(f"/{LANDING}/")[-1]
            read = ReadFile(
                f"{LANDING}/{path_there}",
                int(entry["batchId"]),
                int(entry["timestamp"]),
            )
            found.append((read, line))
    except (ValueError, KeyError, TypeError) as error:
        raise LakeError(f"{path} is not a log of a stream's files: {error}") from error
    return found


def _committed(storage: Storage) -> int:
    """Return the last batch of files that a committed batch of the stream reached.

    The two numbers differ after a stop between noting files and planning their batch.
    """
    number = _last_number(storage, _COMMITS)
    return -1 if number < 0 else _reached(storage, number)


def _reached(storage: Storage, number: int) -> int:
    """Return the last batch of files that is in a batch, from the batch's plan."""
    path = f"{_OFFSETS}/{number}"
    try:
        offset = json.loads(storage.read(path).decode().splitlines()[-1])
        return int(offset["logOffset"])
    except FileNotFoundError as error:
        raise LakeError(f"{path} is gone, the plan of a batch") from error
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise LakeError(f"{path} is not the plan of a batch: {error}") from error


def _last_number(storage: Storage, folder: str) -> int:
    names = (file.path.rsplit("/", 1)[1] for file in storage.list_files(folder))
    return max((int(name) for name in names if name.isdigit()), default=-1)
