"""The ladder of roll-ups: minutes, ten minutes, hours; which files are on which rung.

A rung is a pair of data sets: `queues` has parts of steps per queue and epoch, `peaks`
the highest lag of a group or topic at one moment. A *part* summarizes some samples of a
step; parts of one step add up, so that late samples simply make one more part and
nothing ever waits for them.

The stream numbers its batches from 0. Batch n becomes file n of the lowest rung (one
per cluster). Ten files there become one file on the rung above and, merged, one file
that replaces them; the higher rungs work alike, as an odometer carries (`carrying`). A
file's name says which batches are in it, so that doing any of this twice changes
nothing, and each batch is on every rung exactly once: in a file there, or in files
below that wait to be carried. A rung's progress is noted in its manifest, because files
and their names are deleted after a time (`rung_retention`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from analytics import contracts as c
from analytics.errors import LakeError

from .manifest import FileEntry, Manifest, load_manifest
from .storage import Storage

QUEUES: Final = "queues"
PEAKS: Final = "peaks"
FAMILIES: Final = (QUEUES, PEAKS)

CARRY: Final = 10
"""Files of a rung that become one on the rung above."""

MOST_ROWS: Final = 50_000_000
"""A job reads the finest source that stays below this."""

_ATTEMPTS: Final = 8


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
    """Return one more than the number of the last batch that was ever on a rung."""
    # For manifests from before this was noted, file names tell it.
    spans = [span_of(file.path).last for file in manifest.files]
    spans += [span_of(file.path).last for file in manifest.retired]
    return max(manifest.batches, max(spans, default=-1) + 1)


def with_batches(manifest: Manifest, until: int = 0) -> Manifest:
    """Note a rung's progress, so that it outlives the files' names."""
    return replace(manifest, batches=max(until, carried_until(manifest)))


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


@dataclass(frozen=True, slots=True)
class RungView:
    """The files visible from a rung, with every batch exactly once.

    `whole_from_ms`: of steps that began earlier, some batches have been deleted.
    """

    files: tuple[FileEntry, ...]
    whole_from_ms: int


def view_from(
    storage: Storage,
    family: str,
    seconds: int,
    *,
    since_ms: int | None = None,
    until_ms: int | None = None,
    clusters: Collection[str] | None = None,
) -> RungView:
    """Return the files on a rung, and those below that wait to be carried to it."""
    found: list[FileEntry] = []
    begin = 0
    manifests = _from_above(storage, family, seconds)
    for manifest in manifests:
        found += [
            file
            for file in manifest.select(since_ms, until_ms, clusters)
            if span_of(file.path).first >= begin
        ]
        begin = max(begin, carried_until(manifest))
    # Files that wait to be carried are never deleted, so only the rung's own value
    # counts.
    return RungView(tuple(found), manifests[0].whole_from_ms)


def rung_above(seconds: int) -> int | None:
    """Return the next rung upwards; None above the last."""
    return next((level for level in c.ROLLUP_LEVELS if level > seconds), None)


def _from_above(storage: Storage, family: str, seconds: int) -> list[Manifest]:
    """Return the manifests of a rung and those below it, as of one moment.

    Between reading two of them, a batch may be carried up and deleted below. It would
    then be in neither, so they are read again.
    """
    names = [
        dataset_of(family, level)
        for level in reversed(c.ROLLUP_LEVELS)
        if level <= seconds
    ]
    for _attempt in range(_ATTEMPTS):
        manifests = [load_manifest(storage, name) for name in names]
        again = [load_manifest(storage, name) for name in names[:-1]]
        if all(
            carried_until(now) == carried_until(seen)
            for now, seen in zip(again, manifests, strict=False)
        ):
            return manifests
    raise LakeError(
        f"{names[0]}: compaction replaces its files faster than they can be read"
    )
