"""Let old rows go: first out of the manifest, later from the disk.

`expire` retires files whose newest row is too old. `sweep` deletes what has been
retired for longer than readers take, and compacted files that no manifest ever
listed. Landing files are the source of streams: they stay until the streams have
read past them, whatever their age.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .manifest import FileEntry, Manifest, load_manifest, update_manifest
from .naming import COMPACT, MINUTE_MS
from .storage import Storage

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

    A row stands for `step_ms` from its time on. The manifest notes from when on it is
    whole.
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
    still_streamed: frozenset[str] = frozenset(),
    is_awaited: Callable[[Manifest, str], bool] = lambda _manifest, _path: False,
) -> int:
    """Delete files retired for `grace_ms` or never listed; return how many.

    `still_streamed` names landing files that a stream has yet to read; `is_awaited`
    says of a file that was never listed that somebody will list it yet.
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
    # Files first: a name forgotten too early would be absorbed again as new.
    update_manifest(storage, dataset, lambda present: present.forgetting(gone))
    return len(gone | orphans)


def _orphans(
    storage: Storage, dataset: str, manifest: Manifest, before_ms: int
) -> set[str]:
    """Return compacted files that a killed compaction left behind.

    A file written lately may belong to a merge that has yet to list it.
    """
    known = manifest.knows()
    return {
        file.path
        for file in storage.list_files(f"{COMPACT}/{dataset}")
        if file.path not in known and file.modified_ms < before_ms
    }
