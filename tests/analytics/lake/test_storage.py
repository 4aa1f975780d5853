from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import fs

from analytics.errors import LakeError
from analytics.lake import storage as storage_module
from analytics.lake.storage import (
    LocalStorage,
    ObjectStorage,
    Storage,
    open_storage,
)


@pytest.fixture(params=["local", "object"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "local":
        return LocalStorage(tmp_path)
    return ObjectStorage(tmp_path.as_uri(), fs.LocalFileSystem(), str(tmp_path))


def _made(storage: Storage, tmp_path: Path, *names: str) -> None:
    for name in names:
        # Object stores have no folders to make; the local stand-in has.
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        assert storage.write_new(name, name.encode())


def test_what_was_written_is_read_and_listed(storage: Storage, tmp_path: Path) -> None:
    _made(storage, tmp_path, "a/one", "a/b/two", "c/three")
    assert storage.read("a/one") == b"a/one"
    listed = storage.list_files("a")
    assert [(file.path, file.size) for file in listed] == [("a/b/two", 7), ("a/one", 5)]
    on_disk = (tmp_path / "a/one").stat().st_mtime
    assert listed[1].modified_ms == int(on_disk * 1000)
    with storage.open_input("c/three") as file:
        assert file.read() == b"c/three"


def test_a_taken_name_is_left_as_it_is(storage: Storage, tmp_path: Path) -> None:
    _made(storage, tmp_path, "a/one")
    assert not storage.write_new("a/one", b"other")
    assert storage.read("a/one") == b"a/one"


def test_deleting_twice_and_listing_nothing_is_no_error(
    storage: Storage, tmp_path: Path
) -> None:
    _made(storage, tmp_path, "a/one")
    storage.delete("a/one")
    storage.delete("a/one")
    assert storage.list_files("a") == []
    assert storage.list_files("never") == []


def test_hidden_files_are_not_listed(storage: Storage, tmp_path: Path) -> None:
    _made(storage, tmp_path, "a/one")
    (tmp_path / "a" / ".two.tmp").write_bytes(b"half")
    assert [file.path for file in storage.list_files("a")] == ["a/one"]


def test_no_temporary_file_is_left(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    storage.write_new("a/one", b"1")
    storage.write_new("a/one", b"2")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["one"]


def test_a_missing_file_is_said_to_be_missing(storage: Storage) -> None:
    with pytest.raises(FileNotFoundError):
        storage.read("a/none")


def test_addresses_are_those_that_spark_takes(tmp_path: Path) -> None:
    assert open_storage(str(tmp_path)).uri("a=b") == f"file://{tmp_path}/a=b"
    assert open_storage(tmp_path.as_uri()).url == f"file://{tmp_path}"
    s3 = ObjectStorage("s3a://bucket/lake/", fs.LocalFileSystem(), "bucket/lake")
    assert s3.uri("a=b") == "s3a://bucket/lake/a=b"


@pytest.mark.parametrize("url", ["", "gopher://x/y"])
def test_an_address_of_no_known_kind_is_named(url: str) -> None:
    with pytest.raises(LakeError, match=url or "empty"):
        open_storage(url)


def test_other_bytes_take_a_files_place_at_once(
    storage: Storage, tmp_path: Path
) -> None:
    _made(storage, tmp_path, "a/one")
    storage.replace("a/one", b"other")
    assert storage.read("a/one") == b"other"
    assert [file.path for file in storage.list_files("a")] == ["a/one"]


def test_a_full_disk_leaves_the_bytes_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = LocalStorage(tmp_path)
    _made(local, tmp_path, "a/one")

    def full(*_given: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(storage_module, "_write_synced", full)
    with pytest.raises(OSError, match="No space left"):
        local.replace("a/one", b"other")
    assert local.read("a/one") == b"a/one"
    assert [file.name for file in (tmp_path / "a").iterdir()] == ["one"]
