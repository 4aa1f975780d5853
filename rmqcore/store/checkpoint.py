"""The checkpoint: up to where the derived data is on disk, and how it gets there.

Recovery relies on the order of writing: first the log, then queues and index, last the
small file that says so. A checkpoint that fails halfway leaves the old one in place,
and everything after the old one is read from the log again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields

from .commit_log import CommitLog
from .config_file import ConfigFile
from .consume_queue import ConsumeQueue, UnsavedEntries
from .key_index import KeyIndex, UnsavedKeys


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Up to where everything is on disk.

    `entries` is the sum over all queues of the number their next entry gets,
    `key_bytes` the size of the key index: if either is smaller, something was lost.
    """

    log_offset: int
    entries: int
    key_bytes: int

    @classmethod
    def of(
        cls, log_offset: int, queues: Iterable[ConsumeQueue], index: KeyIndex
    ) -> Checkpoint:
        """Return the checkpoint of queues and index that reach up to `log_offset`."""
        return cls(log_offset, sum(queue.max for queue in queues), index.total_bytes)

    @classmethod
    def parse(cls, data: bytes) -> Checkpoint:
        """Read the output of `dump`; raise `ValueError` when it is something else."""
        members = json.loads(data)
        try:
            return cls(*(int(members[field.name]) for field in fields(cls)))
        except (TypeError, KeyError) as error:
            raise ValueError(f"not a checkpoint: {error}") from None

    def dump(self) -> bytes:
        """Return the checkpoint as JSON."""
        return json.dumps(asdict(self)).encode()


@dataclass(slots=True)
class CheckpointWork:
    """The writes of a checkpoint; `run` may be called in a thread, once."""

    log: CommitLog
    file: ConfigFile
    checkpoint: Checkpoint
    entries: list[tuple[ConsumeQueue, UnsavedEntries]]
    keys: list[UnsavedKeys]
    lock: threading.Lock
    dropped: set[int] = field(default_factory=set)
    """Ids of queues that have been deleted since then; they are not written."""

    def run(self) -> None:
        """Write log, queues and index to the disk, then the checkpoint."""
        self.log.flush()
        for queue, entries in self.entries:
            with self.lock:
                if id(queue) not in self.dropped:
                    entries.write()
        for keys in self.keys:
            with self.lock:
                keys.write()
        with self.lock:
            if not self.dropped:
                self.file.save(self.checkpoint.dump())
