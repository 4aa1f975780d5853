"""Remove old rows: first from the manifest, later from the disk.

`expire` retires files whose newest row is too old. `sweep` deletes files that have been
retired for longer than readers need them, and compacted files that no manifest ever
listed. Landing files are the source of streams: `sweep_landing` keeps those that the
stream has yet to read, but not for ever, as a stream that never runs must not fill the
disk. Files given up that way are reported.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from analytics.requests import iso

from .manifest import FileEntry, Manifest, load_manifest, update_manifest
from .naming import COMPACT, MINUTE_MS, cluster_of
from .storage import Storage

logger = logging.getLogger(__name__)

RAW_KEPT_MS: Final = 48 * 60 * MINUTE_MS
GRACE_MS: Final = 60 * MINUTE_MS
"""A reader that holds a manifest for longer than this may find files gone."""


def expire(
    storage: Storage,
    dataset: str,
    now_ms: int,
    *,
    kept_ms: int = RAW_KEPT_MS,
    step_ms: int = 1,
    may_go: Callable[[FileEntry], bool] = lambda _file: True,
) -> int:
    """Retire files without a row of the last `kept_ms`; return how many.

    A row covers `step_ms` from its time on. The manifest notes the time from which it
    is complete.
    """
    horizon = now_ms - kept_ms
    retired: set[str] = set()

    def change(manifest: Manifest) -> Manifest:
        retired.clear()
        retired.update(
            file.path
            for file in manifest.files
            if file.last_ms + step_ms <= horizon and may_go(file)
        )
        return manifest.expiring(retired, now_ms, step_ms)

    update_manifest(storage, dataset, change)
    return len(retired)


def sweep(
    storage: Storage,
    dataset: str,
    now_ms: int,
    *,
    grace_ms: int = GRACE_MS,
    still_streamed: Collection[str] = frozenset(),
    is_awaited: Callable[[Manifest, str], bool] = lambda _manifest, _path: False,
) -> int:
    """Delete files retired for `grace_ms` or never listed; return how many.

    `still_streamed` names landing files that a stream has yet to read; `is_awaited`
    tells whether a file that was never listed is still going to be.
    """
    manifest = load_manifest(storage, dataset)
    gone = {
        file.path
        for file in manifest.retired
        if file.at_ms <= now_ms - grace_ms and file.path not in still_streamed
    }
    orphans = {
        path
        for path in _orphans(storage, dataset, manifest, now_ms - grace_ms)
        if not is_awaited(manifest, path)
    }
    for path in sorted(gone | orphans):
        storage.delete(path)
    # Delete files first: if a name is forgotten too early, its file is absorbed again
    # as new.
    update_manifest(storage, dataset, lambda present: present.forgetting(gone))
    return len(gone | orphans)


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Landing files of a cluster that were deleted before the stream had read them.

    `first_ms` and `last_ms` are when the first and the last of them were written.
    """

    cluster: str
    files: int
    first_ms: int
    last_ms: int


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep deleted: how many files, and which of them too early."""

    deleted: int
    given_up: tuple[GivenUp, ...] = ()


def sweep_landing(
    storage: Storage,
    dataset: str,
    now_ms: int,
    unread: Mapping[str, int],
    *,
    kept_ms: int = RAW_KEPT_MS,
) -> Swept:
    """Sweep a data set that a stream reads; `unread` are the files it has yet to read.

    An unread file stays for `kept_ms` after it was written; then it is given up, with a
    warning for each cluster that loses files.
    """
    waiting = {path for path, at_ms in unread.items() if at_ms >= now_ms - kept_ms}
    retired = load_manifest(storage, dataset).retired
    due = {file.path for file in retired if file.at_ms <= now_ms - GRACE_MS}
    lost = {path: unread[path] for path in (unread.keys() & due) - waiting}
    # Reported first: a process killed in between reports it twice rather than never.
    given_up = tuple(_given_up(lost))
    for each in given_up:
        logger.warning(
            "dataset=%s cluster=%s landing files given up: %d, written %s to %s; no "
            "roll-up has read them for %d hours, and roll-ups lack their samples",
            *(dataset, each.cluster, each.files, iso(each.first_ms)),
            *(iso(each.last_ms), kept_ms // (60 * MINUTE_MS)),
        )
    deleted = sweep(storage, dataset, now_ms, still_streamed=waiting)
    return Swept(deleted, given_up)


def _given_up(lost: Mapping[str, int]) -> Iterator[GivenUp]:
    by_cluster: dict[str, list[int]] = defaultdict(list)
    for path, at_ms in lost.items():
        by_cluster[cluster_of(path)].append(at_ms)
    for cluster, times in sorted(by_cluster.items()):
        yield GivenUp(cluster, len(times), min(times), max(times))


def _orphans(
    storage: Storage, dataset: str, manifest: Manifest, before_ms: int
) -> set[str]:
    """Return compacted files that a killed compaction left behind.

    A recently written file may belong to a merge that has yet to list it.
    """
    known = manifest.knows()
    return {
        file.path
        for file in storage.list_files(f"{COMPACT}/{dataset}")
        if file.path not in known and file.modified_ms < before_ms
    }
