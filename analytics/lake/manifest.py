"""The list of files that make up a data set, as numbered, immutable versions.

Batch readers read the newest manifest and the files it names, nothing else; they
never see a file twice or incomplete. A change writes the next number under a name that
must not exist yet: of two writers one wins, and the other reads again and repeats its
change. Files that a change removes are *retired*: they stay on disk for a while, for
readers that still hold an older version. Cost: one listing and one small JSON file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Final

from analytics.contracts import SCHEMA_VERSION
from analytics.errors import LakeError, ManifestConflictError

from .naming import MANIFEST, cluster_of, manifest_path
from .storage import Storage

KEPT_VERSIONS: Final = 50
_ATTEMPTS: Final = 8


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One Parquet file: rows, bytes, and the first and last sample time in it (ms)."""

    path: str
    rows: int
    size: int
    first_ms: int
    last_ms: int

    @property
    def cluster(self) -> str:
        return cluster_of(self.path)


@dataclass(frozen=True, slots=True)
class Retired:
    """A file that is no longer read, and since when."""

    path: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """One version of the list; version 0 is the empty lake."""

    dataset: str
    version: int = 0
    files: tuple[FileEntry, ...] = ()
    retired: tuple[Retired, ...] = ()
    whole_from_ms: int = 0
    """All rows from this time on are here; of older ones, some have been deleted."""
    batches: int = 0
    """On a rung of roll-ups: how many batches were ever put here."""

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    def select(
        self,
        since_ms: int | None = None,
        until_ms: int | None = None,
        clusters: Collection[str] | None = None,
    ) -> list[FileEntry]:
        """Return the files that can hold rows in [since, until) of these clusters."""
        return [
            file
            for file in self.files
            if (since_ms is None or file.last_ms >= since_ms)
            and (until_ms is None or file.first_ms < until_ms)
            and (clusters is None or file.cluster in clusters)
        ]

    def knows(self) -> set[str]:
        """Return every path that is listed or retired."""
        return {file.path for file in self.files} | {file.path for file in self.retired}

    def with_files(self, added: Iterable[FileEntry]) -> Manifest:
        return replace(self, files=(*self.files, *added))

    def without_files(self, paths: Collection[str], now_ms: int) -> Manifest:
        """Retire files; raises `ManifestConflictError` when one is not listed."""
        missing = set(paths) - {file.path for file in self.files}
        if missing:
            raise ManifestConflictError(
                f"{self.dataset}: version {self.version} does not list {min(missing)}"
            )
        return replace(
            self,
            files=tuple(file for file in self.files if file.path not in paths),
            retired=(*self.retired, *(Retired(path, now_ms) for path in sorted(paths))),
        )

    def expiring(
        self, paths: Collection[str], now_ms: int, step_ms: int = 1
    ) -> Manifest:
        """Retire expired files; each row stands for `step_ms` from its time on."""
        last = (file.last_ms for file in self.files if file.path in paths)
        ends = [self.whole_from_ms, *(each + step_ms for each in last)]
        return replace(self.without_files(paths, now_ms), whole_from_ms=max(ends))

    def forgetting(self, paths: Collection[str]) -> Manifest:
        """Drop retired files, which must be deleted already."""
        kept = tuple(file for file in self.retired if file.path not in paths)
        return replace(self, retired=kept)


def load_manifest(storage: Storage, dataset: str) -> Manifest:
    """Return the newest version, or the empty version 0."""
    for _attempt in range(_ATTEMPTS):
        listed = storage.list_files(f"{MANIFEST}/{dataset}")
        if not listed:
            return Manifest(dataset)
        newest = listed[-1].path
        try:
            return decode_manifest(newest, storage.read(newest))
        except FileNotFoundError:  # the reader was so slow that the version was pruned
            continue
    raise LakeError(f"{dataset}: manifests are replaced faster than they can be read")


def update_manifest(
    storage: Storage, dataset: str, change: Callable[[Manifest], Manifest]
) -> Manifest:
    """Apply a change to the newest version and write the next; retry after a lost race.

    `change` may run several times and must only look at its argument. A change that
    returns an equal manifest writes nothing.
    """
    for _attempt in range(_ATTEMPTS):
        present = load_manifest(storage, dataset)
        changed = change(present)
        if changed == present:
            return present
        following = replace(changed, version=present.version + 1)
        path = manifest_path(dataset, following.version)
        if storage.write_new(path, encode_manifest(following)):
            _prune(storage, dataset, following.version)
            return following
    raise ManifestConflictError(
        f"{dataset}: "
        f"another writer committed its manifest first, {_ATTEMPTS} times in a row"
    )


def _prune(storage: Storage, dataset: str, newest: int) -> None:
    oldest_kept = manifest_path(dataset, max(0, newest - KEPT_VERSIONS))
    for file in storage.list_files(f"{MANIFEST}/{dataset}"):
        if file.path >= oldest_kept:
            return
        storage.delete(file.path)


def encode_manifest(manifest: Manifest) -> bytes:
    """Return a manifest as it is stored."""
    return json.dumps({"schema": SCHEMA_VERSION, **asdict(manifest)}).encode()


def decode_manifest(path: str, data: bytes) -> Manifest:
    """Read a stored manifest; raises `LakeError` naming the path it came from."""
    try:
        document = json.loads(data)
        schema = int(document["schema"])
        if schema > SCHEMA_VERSION:
            raise LakeError(
                f"{path} has schema {schema}, this program reads up to {SCHEMA_VERSION}"
            )
        return Manifest(
            dataset=document["dataset"],
            version=document["version"],
            files=tuple(FileEntry(**entry) for entry in document["files"]),
            retired=tuple(Retired(**entry) for entry in document["retired"]),
            # Absent from manifests of program versions that deleted nothing.
            whole_from_ms=int(document.get("whole_from_ms", 0)),
            batches=int(document.get("batches", 0)),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise LakeError(f"{path} is not a manifest: {error}") from error
