"""The ladder of roll-ups: minutes, ten minutes, hours; which files are on which rung.

A rung is a pair of data sets: `queues` has parts of steps per queue and epoch, `peaks`
the highest lag of a group or topic at one moment. A *part* is what some samples say
about a step; parts of one step add up, so that late samples simply make one more part
and nothing ever waits for them.

The stream numbers its batches from 0. Batch n becomes file n of the lowest rung (one
per cluster). Ten files there become one file on the rung above and, merged, one file
in their own place; so on upwards, as an odometer carries. A file's name says which
batches are in it, so that doing any of this twice changes nothing, and each batch is on
every rung exactly once: in a file there, or in files below that wait to be carried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from analytics import contracts as c
from analytics.errors import ManifestConflictError

from .manifest import FileEntry, Manifest, load_manifest, update_manifest
from .naming import COMPACT
from .reader import read_entry
from .storage import Storage

QUEUES: Final = "queues"
PEAKS: Final = "peaks"
FAMILIES: Final = (QUEUES, PEAKS)

CARRY: Final = 10
"""Files of a rung that become one on the rung above."""

MOST_ROWS: Final = 50_000_000
"""A job reads the finest source that stays below this."""


@dataclass(frozen=True, slots=True)
class Span:
    """The batches in a file, both ends included."""

    first: int
    last: int

    @property
    def name(self) -> str:
        return f"{self.first:09d}-{self.last:09d}"


def dataset_of(family: str, seconds: int) -> str:
    """Return the name of a rung's data set."""
    return f"rollup_{family}_{seconds}"


def span_of(path: str) -> Span:
    """Return the batches in a file of a rung, from its name."""
    first, last = path.rsplit("/", 1)[1].removesuffix(".parquet").split("-")[:2]
    return Span(int(first), int(last))


def carried_until(manifest: Manifest) -> int:
    """Return the number after the last batch that is on a rung."""
    spans = [span_of(file.path).last for file in manifest.files]
    spans += [span_of(file.path).last for file in manifest.retired]
    return max(spans, default=-1) + 1


def spans_due(lower: Manifest, upper: Manifest, size: int) -> list[Span]:
    """Return the whole spans of `size` batches that the rung above does not have."""
    begin, end = carried_until(upper), carried_until(lower)
    return [Span(at, at + size - 1) for at in range(begin, end - size + 1, size)]


def files_in(manifest: Manifest, span: Span) -> list[FileEntry]:
    """Return the files of a rung whose batches are all within a span."""
    return [
        file
        for file in manifest.files
        if span.first <= span_of(file.path).first
        and span_of(file.path).last <= span.last
    ]


def put(storage: Storage, dataset: str, table: Any, span: Span) -> list[FileEntry]:
    """Write a file per cluster, durably; those that are there already stay."""
    entries = []
    for cluster in table[c.CLUSTER].unique().to_pylist():
        part = table.filter(pc.equal(table[c.CLUSTER], cluster))
        part = part.sort_by([(name, "ascending") for name in _order(part)])
        sink = pa.BufferOutputStream()
        parquet.write_table(part, sink, compression="zstd", row_group_size=250_000)
        path = _path(dataset, cluster, part, span)
        storage.write_new(path, sink.getvalue().to_pybytes())
        entries.append(read_entry(storage, path, sink.getvalue().size))
    return entries


def list_files(
    storage: Storage,
    dataset: str,
    entries: Iterable[FileEntry],
    instead_of: Collection[str] = (),
    now_ms: int = 0,
) -> None:
    """Put files into a manifest, in the place of others; those that are in stay."""
    added = list(entries)

    def change(manifest: Manifest) -> Manifest:
        known = manifest.knows()
        new = [entry for entry in added if entry.path not in known]
        gone = set(instead_of) & {file.path for file in manifest.files}
        if instead_of and not gone and new:
            raise ManifestConflictError(f"{dataset}: files to merge are gone")
        return manifest.without_files(gone, now_ms).with_files(new)

    update_manifest(storage, dataset, change)


def rung_files(
    storage: Storage,
    family: str,
    seconds: int,
    *,
    since_ms: int | None = None,
    until_ms: int | None = None,
    clusters: Collection[str] | None = None,
) -> list[FileEntry]:
    """Return the files that have every batch once, seen from a rung.

    What was not carried up to it yet is taken from the rungs below.
    """
    found: list[FileEntry] = []
    begin = 0
    for each in reversed([level for level in c.ROLLUP_LEVELS if level <= seconds]):
        manifest = load_manifest(storage, dataset_of(family, each))
        found += [
            file
            for file in manifest.select(since_ms, until_ms, clusters)
            if span_of(file.path).first >= begin
        ]
        begin = max(begin, carried_until(manifest))
    return found


_KEYS: Final = (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID, c.TIME)


def _order(table: Any) -> list[str]:
    return [name for name in _KEYS if name in table.schema.names]


def _path(dataset: str, cluster: str, table: Any, span: Span) -> str:
    first = pc.min(table[c.TIME]).as_py()
    day = datetime.fromtimestamp(first.timestamp(), UTC)
    return (
        f"{COMPACT}/{dataset}/cluster={quote(cluster, safe='')}/day={day:%Y-%m-%d}/"
        f"{span.name}.parquet"
    )
