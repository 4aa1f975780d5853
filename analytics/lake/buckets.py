"""Divide a data set into buckets of neighbouring groups, and read one of them.

Merged files are sorted by group, and every row group notes the first and the last group
in it. From these notes a job is divided into buckets of about one size, each of which
is read by one task: the row groups of all files that hold its groups, and no others. So
all rows of a group are together without being moved. Files that have only just landed
are not sorted; of these, each task skips what is not its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from analytics import contracts as c
from analytics.schemas import schema_of

from .manifest import FileEntry
from .pruned import extremes, row_groups
from .storage import Storage

_NAMES: Final = (c.CLUSTER, c.GROUP, c.TOPIC, c.BROKER, c.OWNER)
_MANY: Final = 16
"""In a file with as many row groups, each holds few groups: its first one stands for
all of them. Of other files, or where nothing is noted, the names of groups are read."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """The groups of a cluster from one name up to another, which is not included.

    `below` is empty in the last bucket.
    """

    cluster: str
    begin: str
    below: str

    def holds(self, group: str) -> bool:
        return self.begin <= group and (not self.below or group < self.below)

    def may_hold(self, first: str, last: str) -> bool:
        """Say whether a group between these two, both included, can be in here."""
        return self.begin <= last and (not self.below or first < self.below)


def plan_buckets(
    storage: Storage,
    files: Sequence[FileEntry],
    clusters: Sequence[str],
    *,
    since_ms: int,
    until_ms: int,
    groups: Sequence[str] = (),
    rows_each: int,
) -> list[Bucket]:
    """Return buckets that hold all groups of these clusters between them.

    They have about `rows_each` rows of a span, unless a single group has more. Only
    rows of the given groups (sorted; none means all) count.
    """
    found: list[Bucket] = []
    for cluster in clusters:
        rows = sum(file.rows for file in files if file.cluster == cluster)
        if rows <= rows_each:  # no file has to be looked into
            found.append(Bucket(cluster, "", ""))
            continue
        weights: dict[str, int] = defaultdict(int)
        for file in files:
            if file.cluster == cluster:
                for name, rows in _weights(storage, file, since_ms, until_ms, groups):
                    weights[name] += rows
        cuts = _cuts(weights, rows_each)
        for begin, below in zip(["", *cuts], [*cuts, ""], strict=True):
            found.append(Bucket(cluster, begin, below))
    return found


def _cuts(weights: dict[str, int], rows_each: int) -> list[str]:
    """Return the names at which buckets begin, except for the first."""
    total = sum(weights.values())
    each = total / max(1, -(-total // rows_each))
    cuts: list[str] = []
    passed = 0
    for name in sorted(weights):
        if passed >= each * (len(cuts) + 1):
            cuts.append(name)
        passed += weights[name]
    return cuts


def _weights(
    storage: Storage,
    file: FileEntry,
    since_ms: int,
    until_ms: int,
    groups: Sequence[str],
) -> Iterator[tuple[str, int]]:
    """Yield names of groups, and how many rows of a file are theirs."""
    with storage.open_input(file.path) as source:
        opened = parquet.ParquetFile(source, read_dictionary=[c.GROUP])
        metadata = opened.metadata
        kept = row_groups(metadata, since_ms, until_ms, groups)
        place = metadata.schema.names.index(c.GROUP)
        parts = [metadata.row_group(number) for number in kept]
        noted = [
            (ends[0], part.num_rows)
            for part in parts
            if (ends := extremes(part.column(place).statistics))
        ]
        if metadata.num_row_groups >= _MANY and len(noted) == len(kept):
            yield from noted
        elif kept:
            counts = opened.read_row_groups(kept, columns=[c.GROUP])[c.GROUP]
            for each in counts.value_counts().to_pylist():
                yield each["values"], each["counts"]


def read_groups(
    storage: Storage,
    files: Sequence[FileEntry],
    columns: Sequence[str],
    *,
    since_ms: int,
    until_ms: int,
    groups: Sequence[str],
    bucket: Bucket,
) -> Iterator[pa.Table]:
    """Yield tables that hold all rows of a span, of these groups, and some others.

    `groups` are sorted; none means all of the bucket. The names in the tables are
    dictionaries. Raises `FileNotFoundError` when a file is gone.
    """
    names = [name for name in _NAMES if name in columns]
    for file in files:
        with storage.open_input(file.path) as source:
            opened = parquet.ParquetFile(source, read_dictionary=names)
            kept = row_groups(opened.metadata, since_ms, until_ms, groups)
            kept = _within(opened.metadata, kept, bucket)
            if kept:
                table = opened.read_row_groups(kept, columns=list(columns))
                yield table.unify_dictionaries().combine_chunks()


def only_held(table: pa.Table, bucket: Bucket) -> pa.Table:
    """Return the rows of a bucket's groups, of some that `read_groups` yields."""
    names = table[c.GROUP].cast(pa.string())
    if bucket.begin:
        table = table.filter(pc.greater_equal(names, bucket.begin))
        names = table[c.GROUP].cast(pa.string())
    return table.filter(pc.less(names, bucket.below)) if bucket.below else table


def read_epochs(
    storage: Storage, files: Sequence[FileEntry], bucket: Bucket
) -> Iterator[pa.Table]:
    """Yield tables that hold all epochs of a bucket's groups, and some others."""
    schema = schema_of(c.EPOCHS)
    for file in files:
        if file.cluster != bucket.cluster:
            continue
        with storage.open_input(file.path) as source:
            opened = parquet.ParquetFile(source)
            every = range(opened.metadata.num_row_groups)
            kept = _within(opened.metadata, every, bucket)
            if kept:
                yield opened.read_row_groups(kept).cast(schema)


def _within(metadata: Any, numbers: Iterable[int], bucket: Bucket) -> list[int]:
    """Keep the row groups that can hold groups of a bucket."""
    place = metadata.schema.names.index(c.GROUP)
    kept = []
    for number in numbers:
        noted = extremes(metadata.row_group(number).column(place).statistics)
        if noted is None or bucket.may_hold(*noted):
            kept.append(number)
    return kept
