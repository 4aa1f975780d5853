from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from dashboard.backup.archive import (
    DESCRIPTION,
    Description,
    read_archive,
    write_archive,
)
from dashboard.backup.errors import BackupError

DESCRIBED = Description("0.1.0", "2026-03-13T00:00:00+00:00", "sqlite", (), "/lake")


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    folder = tmp_path / "staged"
    (folder / "lake").mkdir(parents=True)
    (folder / "database").write_bytes(b"rows")
    (folder / "lake" / "samples.json").write_text("{}")
    write_archive(tmp_path / "a.tar.gz", DESCRIBED, folder)
    return tmp_path / "a.tar.gz"


def read(source: Path) -> Path:
    folder = source.parent / "read"
    folder.mkdir()
    read_archive(source, folder)
    return folder


def repack(source: Path, members: dict[str, bytes], *, link: str = "") -> None:
    with tarfile.open(source, "w:gz") as packed:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            if name == link:
                entry.type, entry.linkname, entry.size = tarfile.SYMTYPE, "/etc", 0
            packed.addfile(entry, io.BytesIO(data))


def members(source: Path) -> dict[str, bytes]:
    with tarfile.open(source) as packed:
        found = {entry.name: packed.extractfile(entry) for entry in packed}
        return {name: stream.read() for name, stream in found.items() if stream}


def test_what_was_written_is_read(packed: Path) -> None:
    folder = read(packed)
    assert (folder / "database").read_bytes() == b"rows"
    assert (folder / "lake" / "samples.json").read_text() == "{}"
    assert packed.stat().st_mode & 0o777 == 0o600


def test_a_file_that_exists_is_not_replaced(packed: Path, tmp_path: Path) -> None:
    before = packed.read_bytes()
    with pytest.raises(BackupError, match="never replace"):
        write_archive(packed, DESCRIBED, tmp_path / "staged")
    assert packed.read_bytes() == before
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_every_change_is_noticed(packed: Path) -> None:
    whole = members(packed)
    changed = {
        "the bytes of 'database' have changed": whole | {"database": b"wors"},
        "'database' is not what its list says": whole | {"database": b"more rows"},
        "'more' is not what its list says": whole | {"more": b""},
        "'database' is missing": {n: d for n, d in whole.items() if n != "database"},
        "does not begin with backup.json": {"database": b"rows"},
    }
    for at, (words, given) in enumerate(changed.items()):
        folder = packed.parent / str(at)
        folder.mkdir()
        repack(packed, given)
        with pytest.raises(BackupError, match=words):
            read_archive(packed, folder)


@pytest.mark.parametrize("name", ["../outside", "/outside", "lake/../../outside"])
def test_a_name_that_leads_out_is_refused(packed: Path, name: str) -> None:
    whole = members(packed)
    described = json.loads(whole[DESCRIPTION])
    described["files"][name] = described["files"].pop("database")
    data = whole.pop("database")
    repack(packed, {**whole, DESCRIPTION: json.dumps(described).encode(), name: data})
    with pytest.raises(BackupError, match="damaged"):
        read(packed)
    assert not (packed.parent / "outside").exists()


def test_a_link_is_refused(packed: Path) -> None:
    repack(packed, members(packed), link="database")
    with pytest.raises(BackupError, match="'database' is not what its list says"):
        read(packed)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"format": 2}, "format 2, this program reads up to 1"),
        ({"migrations": 7}, "cannot be read"),
        ({"files": {"database": {"size": 4}}}, "cannot be read"),
    ],
)
def test_a_description_of_another_kind_is_refused(
    packed: Path, given: dict[str, object], words: str
) -> None:
    whole = members(packed)
    described = json.loads(whole[DESCRIPTION]) | given
    repack(packed, whole | {DESCRIPTION: json.dumps(described).encode()})
    with pytest.raises(BackupError, match=words):
        read(packed)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("not packed")
    with pytest.raises(BackupError, match=r"notes\.txt is not a backup"):
        read(other)
    with pytest.raises(BackupError, match="cannot be read"):
        read_archive(tmp_path / "absent", tmp_path)


def test_a_backup_that_was_cut_short_is_refused(packed: Path) -> None:
    whole = packed.read_bytes()
    packed.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BackupError):
        read(packed)
