"""Delete epochs that nothing in the lake refers to any more.

An epoch explains the samples and steps of its time, so it is kept as long as any of
them. It has a row for its beginning and one for its end, months apart where a group is
stable, in files that hold rows of many groups: files are therefore thinned, not
dropped. Several old files of a cluster are merged into one without the rows of epochs
that are over.
"""

from __future__ import annotations

import hashlib
import logging
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c
from analytics.errors import ManifestConflictError

from .compaction import FEWEST_FILES, parquet_bytes
from .ladder import FAMILIES, dataset_of
from .manifest import FileEntry, Manifest, load_manifest, update_manifest
from .naming import MINUTE_MS, compact_path
from .reader import moment, read_file
from .retention import RAW_KEPT_MS
from .storage import Storage

logger = logging.getLogger(__name__)

MARGIN_MS: Final = 60 * MINUTE_MS
"""A step's time is its beginning: its samples are at most an hour later."""

_KEY: Final = (c.GROUP, c.EPOCH)


def oldest_kept_ms(storage: Storage, now_ms: int) -> int:
    """Return the time of the oldest sample or step that the lake has or may get."""
    rungs = [
        dataset_of(family, level) for family in FAMILIES for level in c.ROLLUP_LEVELS
    ]
    firsts = [
        file.first_ms
        for dataset in (c.SAMPLES, *rungs)
        for file in load_manifest(storage, dataset).files
    ]
    return min([now_ms - RAW_KEPT_MS, *firsts])


def thin_epochs(storage: Storage, oldest_ms: int, now_ms: int) -> int:
    """Delete epochs that were over before `oldest_ms`; return how many rows.

    Waits until a cluster has several old files, so that rows are not copied each time.
    """
    horizon = oldest_ms - MARGIN_MS
    manifest = load_manifest(storage, c.EPOCHS)
    by_cluster: dict[str, list[FileEntry]] = defaultdict(list)
    for file in manifest.files:
        by_cluster[file.cluster].append(file)
    gone = 0
    for cluster, files in sorted(by_cluster.items()):
        old = [file for file in files if file.last_ms < horizon]
        if len(old) < FEWEST_FILES:
            continue
        over = _over(_ends(storage, files), horizon)
        table = pa.concat_tables(read_file(storage, c.EPOCHS, f.path) for f in old)
        kept = table.filter([key not in over for key in _keys(table)])
        entries = [_put(storage, cluster, kept)] if kept.num_rows else []
        try:
            _replace(storage, old, entries, now_ms)
        except ManifestConflictError as error:
            # Another process compacted one of them: its change stands.
            logger.info("cluster=%s epochs not thinned: %s", cluster, error)
            continue
        gone += table.num_rows - kept.num_rows
    return gone


def _ends(storage: Storage, files: Iterable[FileEntry]) -> Any:
    columns = (*_KEY, c.TIME, c.BEGAN, c.ENDED_BEFORE)
    return pa.concat_tables(
        read_file(storage, c.EPOCHS, file.path, columns) for file in files
    )


def _over(rows: Any, horizon: int) -> set[tuple[str, int]]:
    """Return the epochs that ended before the horizon.

    An epoch that a killed collector left open ended when the group's next one began.
    """
    limit = moment(horizon)
    has_end = set(_keys(rows.filter(pc.is_valid(rows[c.ENDED_BEFORE]))))
    ended = set(_keys(rows.filter(pc.less(rows[c.ENDED_BEFORE], limit))))
    newest: dict[str, int] = {}
    for group, number in _keys(rows.filter(pc.less(rows[c.BEGAN], limit))):
        newest[group] = max(number, newest.get(group, number))
    followed = {
        (group, number)
        for group, number in _keys(rows)
        if number < newest.get(group, number)
    }
    return ended | (followed - has_end)


def _keys(rows: Any) -> list[tuple[str, int]]:
    columns = [rows[name].to_pylist() for name in _KEY]
    return list(zip(*columns, strict=True))


def _put(storage: Storage, cluster: str, table: Any) -> FileEntry:
    data = parquet_bytes(table)
    times = pc.min_max(table[c.TIME].cast(pa.int64())).as_py()
    name = hashlib.sha256(data).hexdigest()[:12]
    path = compact_path(c.EPOCHS, cluster, times["min"], times["max"], name)
    storage.write_new(path, data)
    return FileEntry(path, table.num_rows, len(data), times["min"], times["max"])


def _replace(
    storage: Storage, old: list[FileEntry], entries: list[FileEntry], now_ms: int
) -> None:
    paths = {file.path for file in old}
    added = [entry for entry in entries if entry.path not in paths]
    paths -= {entry.path for entry in entries}

    def change(manifest: Manifest) -> Manifest:
        return manifest.without_files(paths, now_ms).with_files(added)

    update_manifest(storage, c.EPOCHS, change)
