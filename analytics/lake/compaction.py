"""Keep the number of files small: list new landing files, merge small ones.

`absorb` puts landing files that the manifest does not know into it, as they are.
`compact` merges files of about one size (a factor of ten apart), of one cluster and
one day, sorted by queue and time: each row is rewritten a few times at most, however
small the files were. A killed compaction leaves at worst a file that no manifest lists,
which `retention.sweep` removes. Peak memory: `TARGET_ROWS` rows.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyarrow import parquet

from analytics import contracts as c
from analytics.errors import LakeError, ManifestConflictError

from .manifest import FileEntry, Manifest, load_manifest, update_manifest
from .naming import LANDING, MINUTE_MS, compact_path
from .reader import read_entry, read_file
from .storage import Storage

logger = logging.getLogger(__name__)

TARGET_ROWS: Final = 2_000_000
FEWEST_FILES: Final = 10
SETTLED_MS: Final = 2 * MINUTE_MS
"""Files younger than this may still get neighbours and are left alone."""

ROWS_A_ROW_GROUP: Final = 32_768
EPOCHS_A_ROW_GROUP: Final = 2_048
"""Each has a list of members and a list of queues."""

_RISING: Final = frozenset(
    (
        c.TIME,
        c.MAX,
        c.COMMITTED,
        c.PULLED,
        c.LAG_LAST_AT,
        *(
            f"{offset}_{end}"
            for offset in (c.MAX, c.COMMITTED)
            for end in ("first_at", "first", "last_at", "last")
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Merge:
    """Files to be merged into one, all of one cluster and day."""

    files: tuple[FileEntry, ...]

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    def replacement(
        self, entry: FileEntry, now_ms: int
    ) -> Callable[[Manifest], Manifest]:
        """Return the change of the manifest that replaces the files with `entry`."""
        paths = {file.path for file in self.files}
        return lambda manifest: manifest.without_files(paths, now_ms).with_files(
            [entry]
        )


def absorb(storage: Storage, dataset: str) -> Manifest:
    """Add landing files that the manifest does not know; return the new version.

    A file that cannot be read is logged and left out, and looked at again next time.
    """
    entries: dict[str, FileEntry] = {}

    def change(manifest: Manifest) -> Manifest:
        known = manifest.knows()
        # Listed inside the change: after a lost race the folder may hold more files.
        for file in storage.list_files(f"{LANDING}/{dataset}"):
            if file.path not in known and file.path not in entries:
                entry = _entry_or_none(storage, file.path, file.size)
                if entry is not None:
                    entries[file.path] = entry
        return manifest.with_files(
            entry for path, entry in sorted(entries.items()) if path not in known
        )

    return update_manifest(storage, dataset, change)


def compact(storage: Storage, dataset: str, now_ms: int) -> int:
    """Merge what is worth merging; return how many files were replaced."""
    replaced = 0
    for merge in plan(load_manifest(storage, dataset), now_ms):
        entry = _merged(storage, dataset, merge)
        try:
            update_manifest(storage, dataset, merge.replacement(entry, now_ms))
        except ManifestConflictError as error:
            # Another process compacted or retired one of them: its change stands.
            logger.info("dataset=%s merge given up: %s", dataset, error)
            continue
        replaced += len(merge.files)
    return replaced


def plan(manifest: Manifest, now_ms: int) -> Iterator[Merge]:
    """Yield the merges that a manifest calls for at `now_ms`."""
    tiers: dict[tuple[str, int], list[FileEntry]] = {}
    for file in sorted(manifest.files, key=lambda file: (file.first_ms, file.path)):
        settled = file.last_ms < now_ms - SETTLED_MS
        if settled and file.rows < TARGET_ROWS // 2:
            folder = file.path.rsplit("/", 1)[0].split("/", 2)[2]
            tiers.setdefault((folder, len(str(file.rows))), []).append(file)
    for key in sorted(tiers):
        yield from _batches(tiers[key])


def _batches(files: Sequence[FileEntry]) -> Iterator[Merge]:
    batch: list[FileEntry] = []
    rows = 0
    for file in files:
        batch.append(file)
        rows += file.rows
        if rows >= TARGET_ROWS:
            yield Merge(tuple(batch))
            batch, rows = [], 0
    if len(batch) >= FEWEST_FILES:
        yield Merge(tuple(batch))


def _merged(storage: Storage, dataset: str, merge: Merge) -> FileEntry:
    table = pa.concat_tables(
        [read_file(storage, dataset, file.path) for file in merge.files]
    )
    order = [name for name in _ORDER if name in table.schema.names]
    table = table.sort_by([(name, "ascending") for name in order])
    data = parquet_bytes(table)
    first_ms = min(file.first_ms for file in merge.files)
    last_ms = max(file.last_ms for file in merge.files)
    path = compact_path(
        dataset, merge.files[0].cluster, first_ms, last_ms, _name_of(merge)
    )
    storage.write_new(path, data)
    return FileEntry(path, table.num_rows, len(data), first_ms, last_ms)


_ORDER: Final = (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID, c.TIME)


def _name_of(merge: Merge) -> str:
    """Name a merge by what goes into it, so that doing it again changes nothing."""
    digest = hashlib.sha256("\n".join(file.path for file in merge.files).encode())
    return digest.hexdigest()[:12]


def _entry_or_none(storage: Storage, path: str, size: int) -> FileEntry | None:
    try:
        return read_entry(storage, path, size)
    except FileNotFoundError:
        return None
    except (LakeError, OSError) as error:
        logger.warning("file left out of the manifest: %s", error)
        return None


def parquet_bytes(table: Any) -> bytes:
    """Return a table as the bytes of one file.

    Row groups are small, for readers that want some groups of many. Numbers that rise
    are stored as differences, and repeated values as numbers with a dictionary beside.
    """
    sink = pa.BufferOutputStream()
    rising = [name for name in table.schema.names if name in _RISING]
    options: dict[str, Any] = {"row_group_size": EPOCHS_A_ROW_GROUP}
    if c.QUEUES not in table.schema.names:
        options = {
            "row_group_size": ROWS_A_ROW_GROUP,
            "use_dictionary": [n for n in table.schema.names if n not in rising],
            "column_encoding": dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
        }
    parquet.write_table(table, sink, compression="zstd", **options)
    return bytes(sink.getvalue())
