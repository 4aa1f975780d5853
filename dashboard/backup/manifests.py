"""The lake's manifests in a backup: which files made up each data set.

A lake that has a manifest of a data set keeps it, because it is newer and names the
files that are there. A backup's manifest is put back only if the lake has none, and
without the files that are gone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from analytics.lake.manifest import (
    Manifest,
    decode_manifest,
    encode_manifest,
    load_manifest,
    update_manifest,
)
from analytics.lake.naming import MANIFEST
from analytics.lake.storage import Storage

FOLDER: Final = "lake"
"""Where the manifests are in a backup, one file for each data set."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of one data set."""

    dataset: str
    files: int
    """Named by the backup."""
    missing: int
    """Of these, no longer in the lake."""
    written: bool
    """False if the lake had a manifest of its own."""


def copy_manifests(lake: Storage, folder: Path) -> None:
    """Write the newest manifest of each data set into a folder."""
    target = folder / FOLDER
    target.mkdir()
    names = {file.path.split("/")[1] for file in lake.list_files(MANIFEST)}
    for dataset in sorted(names):
        data = encode_manifest(load_manifest(lake, dataset))
        (target / f"{dataset}.json").write_bytes(data)


def restore_manifests(lake: Storage, folder: Path) -> list[Restored]:
    """Put back the manifests that the lake lacks; return what became of each."""
    return [
        _restore(lake, decode_manifest(path.name, path.read_bytes()))
        for path in sorted((folder / FOLDER).glob("*.json"))
    ]


def _restore(lake: Storage, kept: Manifest) -> Restored:
    folders = {entry.path.partition("/")[0] for entry in kept.files}
    there = {file.path for folder in folders for file in lake.list_files(folder)}
    found = tuple(entry for entry in kept.files if entry.path in there)
    is_lacking = load_manifest(lake, kept.dataset).version == 0
    if is_lacking:
        again = replace(kept, files=found, retired=())
        update_manifest(
            lake, kept.dataset, lambda present: present if present.version else again
        )
    missing = len(kept.files) - len(found)
    return Restored(kept.dataset, len(kept.files), missing, is_lacking)
