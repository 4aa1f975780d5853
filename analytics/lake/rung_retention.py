"""Let go of old steps of the ladder, each rung after a time of its own.

A file of a rung is let go once all its steps are too old and all its batches are on the
rung above: what waits to be carried stays, however old. So a rung never loses what it
sees through the rungs below it.
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
    """Retire the files of all rungs that are over their time; return how many.

    `kept_ms` is given by seconds of a rung's step, and is not to fall on the way up.
    """
    return sum(
        _expire(storage, family, level, now_ms, kept_ms[level])
        for level in c.ROLLUP_LEVELS
        for family in FAMILIES
    )


def sweep_rungs(storage: Storage, now_ms: int, *, grace_ms: int = GRACE_MS) -> int:
    """Delete what is retired, and what no carry will list any more; say how many."""
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
    # Before anything goes: names are all that old manifests tell of their batches.
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
    """Say whether a file that nobody lists is the work of a run that was cut short.

    The next run makes it anew under the same name, finds it there and lists it.
    """
    try:
        span = span_of(path)
    except ValueError:  # none of ours
        return True
    return span.last >= carried_until(manifest) or any(
        span_of(file.path) != span for file in files_in(manifest, span)
    )
