"""Put batches on the ladder and carry them upwards; see `ladder`.

Every step can be interrupted and repeated: a file's name says what is in it and can be
taken only once, and one change of a manifest lists the files of all clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import UTC
from typing import Any, Final

import pyarrow.compute as pc

from analytics import contracts as c
from analytics.errors import ManifestConflictError

from .compaction import parquet_bytes
from .ladder import (
    CARRY,
    Span,
    carried_until,
    dataset_of,
    files_in,
    span_of,
    spans_due,
    with_batches,
)
from .manifest import FileEntry, Manifest, load_manifest, update_manifest
from .naming import COMPACT, partition
from .reader import read_entry
from .storage import Storage

MOST_MERGED_ROWS: Final = 1_000_000
"""Files with more rows than this in total are not merged: they are few and large
already, and a merge holds all of its rows in memory."""

Merge = Callable[[list[FileEntry], int], Any]
"""Takes files and a step's length (ms); returns their rows merged into such steps."""


def add_batch(
    storage: Storage, family: str, number: int, make: Callable[[], Any]
) -> bool:
    """Put a batch on the lowest rung; False when it is or was there already."""
    dataset = dataset_of(family, c.ROLLUP_LEVELS[0])
    if number < carried_until(load_manifest(storage, dataset)):
        return False
    span = Span(number, number)
    list_files(storage, dataset, put(storage, dataset, make(), span), span)
    return True


def carry(
    storage: Storage, family: str, lower: int, upper: int, *, merge: Merge, now_ms: int
) -> int:
    """Make files of the rung above, and merge the files below that they are made of.

    Returns how many spans of batches were carried.
    """
    below, above = dataset_of(family, lower), dataset_of(family, upper)
    size = CARRY ** c.ROLLUP_LEVELS.index(upper)
    present = load_manifest(storage, below)
    due = spans_due(present, load_manifest(storage, above), size)
    for span in due:
        raised = merge(files_in(present, span), upper * 1000)
        list_files(storage, above, put(storage, above, raised, span), span)
    # This includes the files of a run that ended between the two rungs.
    for span in _unmerged(storage, below, above, size):
        files = files_in(load_manifest(storage, below), span)
        entries = put(storage, below, merge(files, lower * 1000), span)
        paths = [file.path for file in files]
        list_files(storage, below, entries, span, instead_of=paths, now_ms=now_ms)
    return len(due)


def put(storage: Storage, dataset: str, table: Any, span: Span) -> list[FileEntry]:
    """Write a file per cluster, durably; existing files stay as they are."""
    entries = []
    for cluster in table[c.CLUSTER].unique().to_pylist():
        part = table.filter(pc.equal(table[c.CLUSTER], cluster))
        part = part.sort_by([(name, "ascending") for name in _order(part)])
        data = parquet_bytes(part)
        path = _path(dataset, cluster, part, span)
        storage.write_new(path, data)
        entries.append(read_entry(storage, path, len(data)))
    return entries


def list_files(
    storage: Storage,
    dataset: str,
    entries: Iterable[FileEntry],
    span: Span,
    *,
    instead_of: Collection[str] = (),
    now_ms: int = 0,
) -> None:
    """Put the files of a span into a manifest, replacing others.

    Files that are listed already stay. A span without rows is also noted as carried.
    """
    added = list(entries)

    def change(manifest: Manifest) -> Manifest:
        known = manifest.knows()
        new = [entry for entry in added if entry.path not in known]
        gone = set(instead_of) & {file.path for file in manifest.files}
        if instead_of and not gone and new:
            raise ManifestConflictError(f"{dataset}: files to merge are gone")
        changed = manifest.without_files(gone, now_ms).with_files(new)
        return with_batches(changed, span.last + 1)

    update_manifest(storage, dataset, change)


def _unmerged(storage: Storage, below: str, above: str, size: int) -> list[Span]:
    """Return the spans above whose batches are in several small files below."""
    lower = load_manifest(storage, below)
    spans = {span_of(file.path) for file in load_manifest(storage, above).files}
    return sorted(
        (
            span
            for span in spans
            if span.last - span.first + 1 == size
            and any(span_of(file.path) != span for file in files_in(lower, span))
            and sum(file.rows for file in files_in(lower, span)) <= MOST_MERGED_ROWS
        ),
        key=lambda span: span.first,
    )


_KEYS: Final = (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID, c.TIME)


def _order(table: Any) -> list[str]:
    return [name for name in _KEYS if name in table.schema.names]


def _path(dataset: str, cluster: str, table: Any, span: Span) -> str:
    day = pc.min(table[c.TIME]).as_py().astimezone(UTC)
    return f"{COMPACT}/{dataset}/{partition(cluster, day)}/{span.name}.parquet"
