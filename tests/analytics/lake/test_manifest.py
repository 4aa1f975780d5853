from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from analytics.contracts import SAMPLES, SCHEMA_VERSION
from analytics.errors import LakeError, ManifestConflictError
from analytics.lake.manifest import (
    KEPT_VERSIONS,
    FileEntry,
    Manifest,
    load_manifest,
    update_manifest,
)
from analytics.lake.naming import manifest_path
from analytics.lake.storage import LocalStorage


def entry(name: str, first_ms: int = 0, last_ms: int = 10) -> FileEntry:
    path = f"compact/samples/cluster=c/day=2026-03-13/{name}"
    return FileEntry(path, rows=5, size=100, first_ms=first_ms, last_ms=last_ms)


def names(manifest: Manifest) -> list[str]:
    return [file.path.rsplit("/", 1)[1] for file in manifest.files]


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path)


def test_an_empty_lake_has_version_zero(storage: LocalStorage) -> None:
    assert load_manifest(storage, SAMPLES) == Manifest(SAMPLES)


def test_a_change_becomes_the_next_version(storage: LocalStorage) -> None:
    update_manifest(storage, SAMPLES, lambda m: m.with_files([entry("a")]))
    update_manifest(storage, SAMPLES, lambda m: m.with_files([entry("b")]))
    loaded = load_manifest(storage, SAMPLES)
    assert (loaded.version, names(loaded), loaded.rows) == (2, ["a", "b"], 10)


def test_no_change_writes_nothing(storage: LocalStorage) -> None:
    assert update_manifest(storage, SAMPLES, lambda m: m).version == 0
    assert storage.list_files("manifest") == []


def test_the_loser_of_a_race_repeats_its_change(storage: LocalStorage) -> None:
    beaten = [entry("other"), None]

    def change(manifest: Manifest) -> Manifest:
        rival = beaten.pop(0)
        if rival is not None:
            update_manifest(storage, SAMPLES, lambda m: m.with_files([rival]))
        return manifest.with_files([entry("mine")])

    assert names(update_manifest(storage, SAMPLES, change)) == ["other", "mine"]


def test_one_who_is_always_beaten_gives_up(storage: LocalStorage) -> None:
    def change(manifest: Manifest) -> Manifest:
        number = str(manifest.version)
        update_manifest(storage, SAMPLES, lambda m: m.with_files([entry(number)]))
        return manifest.with_files([entry("mine")])

    with pytest.raises(ManifestConflictError, match="another writer"):
        update_manifest(storage, SAMPLES, change)


def test_retired_files_are_known_but_not_read(storage: LocalStorage) -> None:
    manifest = Manifest(SAMPLES).with_files([entry("a"), entry("b")])
    after = manifest.without_files({entry("a").path}, 77)
    assert names(after) == ["b"]
    assert after.knows() == {entry("a").path, entry("b").path}
    assert after.retired[0].at_ms == 77
    assert after.forgetting({entry("a").path}).knows() == {entry("b").path}


def test_retiring_what_is_not_listed_is_a_conflict() -> None:
    with pytest.raises(ManifestConflictError, match="does not list"):
        Manifest(SAMPLES).without_files({"compact/x"}, 0)


def test_select_prunes_by_span_and_cluster() -> None:
    other = replace(entry("c"), path="landing/samples/cluster=d/day=x/c")
    manifest = Manifest(SAMPLES).with_files(
        [entry("a", 0, 9), entry("b", 10, 19), other]
    )
    assert [file.path[-1] for file in manifest.select(since_ms=10)] == ["b", "c"]
    assert [file.path[-1] for file in manifest.select(until_ms=10)] == ["a", "c"]
    assert [file.path[-1] for file in manifest.select(clusters={"d"})] == ["c"]


def test_old_versions_are_pruned(storage: LocalStorage) -> None:
    for number in range(KEPT_VERSIONS + 5):
        new = entry(str(number))
        update_manifest(storage, SAMPLES, lambda m, new=new: m.with_files([new]))  # type: ignore[misc]
    kept = storage.list_files("manifest")
    assert len(kept) == KEPT_VERSIONS + 1
    assert kept[-1].path == manifest_path(SAMPLES, KEPT_VERSIONS + 5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a manifest"),
        ("{}", "not a manifest: 'schema'"),
        (json.dumps({"schema": SCHEMA_VERSION + 1}), "reads up to"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_named(
    storage: LocalStorage, text: str, message: str
) -> None:
    storage.write_new(manifest_path(SAMPLES, 3), text.encode())
    with pytest.raises(LakeError, match=message):
        load_manifest(storage, SAMPLES)
