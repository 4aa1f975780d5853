from __future__ import annotations

from pathlib import Path

from analytics.lake.manifest import FileEntry, Manifest, load_manifest, update_manifest
from analytics.lake.storage import LocalStorage
from dashboard.backup.manifests import Restored, copy_manifests, restore_manifests

FILES = tuple(
    FileEntry(f"compact/samples/cluster=c/{name}.parquet", 10, 4, 0, 9)
    for name in ("a", "b")
)
MANIFEST = Manifest("samples", 3, FILES, whole_from_ms=5, batches=2)


def lake_of(folder: Path, manifest: Manifest | None, files: str) -> LocalStorage:
    lake = LocalStorage(folder)
    for name in files:
        lake.write_new(f"compact/samples/cluster=c/{name}.parquet", b"rows")
    if manifest:
        update_manifest(lake, manifest.dataset, lambda _present: manifest)
    return lake


def test_a_lake_that_lost_its_manifest_gets_it_again(tmp_path: Path) -> None:
    copy_manifests(lake_of(tmp_path / "old", MANIFEST, "ab"), tmp_path)
    lake = lake_of(tmp_path / "new", None, "a")
    assert restore_manifests(lake, tmp_path) == [Restored("samples", 2, 1, True)]
    found = load_manifest(lake, "samples")
    assert found.files == FILES[:1]
    assert (found.whole_from_ms, found.batches) == (5, 2)


def test_a_lake_keeps_its_own_manifest(tmp_path: Path) -> None:
    copy_manifests(lake_of(tmp_path / "old", MANIFEST, "ab"), tmp_path)
    newer = Manifest("samples", 8, FILES[1:])
    lake = lake_of(tmp_path / "new", newer, "b")
    before = load_manifest(lake, "samples")
    assert restore_manifests(lake, tmp_path) == [Restored("samples", 2, 1, False)]
    assert load_manifest(lake, "samples") == before


def test_an_empty_lake_has_none(tmp_path: Path) -> None:
    copy_manifests(LocalStorage(tmp_path / "lake"), tmp_path)
    assert restore_manifests(LocalStorage(tmp_path / "lake"), tmp_path) == []
