import json
from pathlib import Path
from typing import Any

import pytest

from rmqcore.errors import BodyError, StoreError
from rmqcore.store import ConfigFile


def parse(data: bytes) -> Any:
    return json.loads(data)


def test_a_file_never_written_is_none(tmp_path: Path) -> None:
    assert ConfigFile(tmp_path / "x" / "t.json").load(parse) is None


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    ConfigFile(tmp_path / "x" / "t.json").save(b"[1]")
    assert ConfigFile(tmp_path / "x" / "t.json").load(parse) == [1]


def test_the_content_before_is_kept_as_backup(tmp_path: Path) -> None:
    file = ConfigFile(tmp_path / "t.json")
    for data in (b"[1]", b"[2]", b"[3]"):
        file.save(data)
    assert (tmp_path / "t.json").read_bytes() == b"[3]"
    assert (tmp_path / "t.json.bak").read_bytes() == b"[2]"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.json", "t.json.bak"]


def test_the_same_content_is_not_written_again(tmp_path: Path) -> None:
    file = ConfigFile(tmp_path / "t.json")
    file.save(b"[1]")
    before = (tmp_path / "t.json").stat().st_ino
    file.save(b"[1]")
    assert (tmp_path / "t.json").stat().st_ino == before


def test_a_loaded_file_becomes_the_backup(tmp_path: Path) -> None:
    ConfigFile(tmp_path / "t.json").save(b"[1]")
    file = ConfigFile(tmp_path / "t.json")
    file.load(parse)
    file.save(b"[2]")
    assert (tmp_path / "t.json.bak").read_bytes() == b"[1]"


@pytest.mark.parametrize("damage", [b"", b"[1", b"\xff"])
def test_a_damaged_file_falls_back(tmp_path: Path, damage: bytes) -> None:
    file = ConfigFile(tmp_path / "t.json")
    file.save(b"[1]")
    file.save(b"[2]")
    (tmp_path / "t.json").write_bytes(damage)
    again = ConfigFile(tmp_path / "t.json")
    assert again.load(parse) == [1]
    again.save(b"[3]")
    assert (tmp_path / "t.json.bak").read_bytes() == b"[1]"


def test_a_missing_file_falls_back(tmp_path: Path) -> None:
    (tmp_path / "t.json.bak").write_bytes(b"[1]")
    assert ConfigFile(tmp_path / "t.json").load(parse) == [1]


def test_two_damaged_files_are_named(tmp_path: Path) -> None:
    def refuse(data: bytes) -> object:
        raise BodyError("no table")

    (tmp_path / "t.json").write_bytes(b"x")
    (tmp_path / "t.json.bak").write_bytes(b"y")
    with pytest.raises(StoreError, match=r"t\.json: no table; .*t\.json\.bak: no tab"):
        ConfigFile(tmp_path / "t.json").load(refuse)


def test_what_cannot_be_written_is_said_and_the_old_content_stays(
    tmp_path: Path,
) -> None:
    file = ConfigFile(tmp_path / "table.json")
    file.save(b"1")
    in_the_way = tmp_path / "table.json.tmp"
    in_the_way.mkdir()
    with pytest.raises(StoreError, match=r"table.json: not written: .*table.json.tmp"):
        file.save(b"2")
    in_the_way.rmdir()
    assert (tmp_path / "table.json").read_bytes() == b"1"
    file.save(b"2")
    assert (tmp_path / "table.json").read_bytes() == b"2"
