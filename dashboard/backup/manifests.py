"""The lake's manifests in a backup: which files made up each data set.

A lake that has a manifest of a data set keeps it, because it is newer and names what is
there. A backup's manifest is put back only where the lake has none, without the files
that are gone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from analytics.lake.manifest import FileEntry, Manifest, load_manifest, update_manifest
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
    """False where the lake had a manifest of its own."""


def copy_manifests(lake: Storage, folder: Path) -> None:
    """Write the newest manifest of each data set into a folder."""
    target = folder / FOLDER
    target.mkdir()
    names = {file.path.split("/")[1] for file in lake.list_files(MANIFEST)}
    for dataset in sorted(names):
        manifest = load_manifest(lake, dataset)
        (target / f"{dataset}.json").write_text(_encoded(manifest), encoding="utf-8")


def restore_manifests(lake: Storage, folder: Path) -> list[Restored]:
    """Put back the manifests that the lake lacks; return what became of each."""
    return [
        _restore(lake, json.loads(path.read_text(encoding="utf-8")))
        for path in sorted((folder / FOLDER).glob("*.json"))
    ]


def _restore(lake: Storage, kept: dict[str, Any]) -> Restored:
    dataset = kept["dataset"]
    entries = [FileEntry(**each) for each in kept["files"]]
    folders = {entry.path.partition("/")[0] for entry in entries}
    there = {file.path for folder in folders for file in lake.list_files(folder)}
    found = tuple(entry for entry in entries if entry.path in there)

    def put_back(present: Manifest) -> Manifest:
        if present.version:
            return present
        return Manifest(
            dataset,
            version=kept["version"],
            files=found,
            whole_from_ms=kept["whole_from_ms"],
            batches=kept["batches"],
        )

    was_there = load_manifest(lake, dataset).version > 0
    if not was_there:
        update_manifest(lake, dataset, put_back)
    return Restored(dataset, len(entries), len(entries) - len(found), not was_there)


def _encoded(manifest: Manifest) -> str:
    return json.dumps(
        {
            "dataset": manifest.dataset,
            "version": manifest.version,
            "files": [
                {name: getattr(file, name) for name in FileEntry.__slots__}
                for file in manifest.files
            ],
            "whole_from_ms": manifest.whole_from_ms,
            "batches": manifest.batches,
        }
    )
