"""Remove old steps from the ladder; each rung keeps its steps for a time of its own.

A file of a rung is retired once all its steps are too old and all its batches are on
the rung above: files that wait to be carried stay, however old. So a rung never loses
what it sees through the rungs below it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from analytics import contracts as c

from .ladder import (
    FAMILIES,
    carried_until,
    dataset_of,
    files_in,
    rung_above,
    span_of,
    with_batches,
)
from .manifest import FileEntry, Manifest, load_manifest, update_manifest
from .naming import MINUTE_MS
from .retention import GRACE_MS, expire, sweep
from .storage import Storage

_DAY_MS: Final = 24 * 60 * MINUTE_MS

ROLLUP_KEPT_MS: Final = dict(
    zip(c.ROLLUP_LEVELS, (7 * _DAY_MS, 30 * _DAY_MS, 400 * _DAY_MS), strict=True)
)


def expire_rungs(
    storage: Storage, now_ms: int, kept_ms: Mapping[int, int] = ROLLUP_KEPT_MS
) -> int:
    """Retire the files of all rungs that have outlived their time; return how many.

    `kept_ms` maps the seconds of a rung's step to its time, which must not decrease on
    the way up.
    """
    return sum(
        _expire(storage, family, level, now_ms, kept_ms[level])
        for level in c.ROLLUP_LEVELS
        for family in FAMILIES
    )


def sweep_rungs(storage: Storage, now_ms: int, *, grace_ms: int = GRACE_MS) -> int:
    """Delete retired files and those that no carry will still list; return how many."""
    return sum(
        sweep(
            storage,
            dataset_of(family, level),
            now_ms,
            grace_ms=grace_ms,
            is_awaited=_is_awaited,
        )
        for level in c.ROLLUP_LEVELS
        for family in FAMILIES
    )


def _expire(
    storage: Storage, family: str, level: int, now_ms: int, kept_ms: int
) -> int:
    dataset, above = dataset_of(family, level), rung_above(level)
    # Done before anything is deleted: old manifests tell their batches only by file
    # names.
    update_manifest(storage, dataset, with_batches)
    carried = None
    if above is not None:
        carried = carried_until(load_manifest(storage, dataset_of(family, above)))

    def is_carried(file: FileEntry) -> bool:
        return carried is None or span_of(file.path).last < carried

    return expire(
        storage,
        dataset,
        now_ms,
        kept_ms=kept_ms,
        step_ms=level * 1000,
        may_go=is_carried,
    )


def _is_awaited(manifest: Manifest, path: str) -> bool:
    """Tell whether an unlisted file is the work of an interrupted run.

    The next run makes it again under the same name, finds it there and lists it.
    """
    try:
        span = span_of(path)
    except ValueError:  # not one of our files
        return True
    return span.last >= carried_until(manifest) or any(
        span_of(file.path) != span for file in files_in(manifest, span)
    )
