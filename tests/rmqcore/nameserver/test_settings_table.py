from pathlib import Path

import pytest

from rmqcore.errors import StoreError
from rmqcore.nameserver.settings_table import SettingsTable


def test_values_live_in_namespaces() -> None:
    table = SettingsTable()
    table.put("n", "k", "1")
    table.put("n", "l", "2")
    table.put("m", "k", "3")
    assert table.get("n", "k") == "1"
    assert table.namespace("n") == {"k": "1", "l": "2"}
    assert table.get("x", "k") is None
    assert table.namespace("x") is None


def test_the_last_value_takes_its_namespace_along() -> None:
    table = SettingsTable()
    table.put("n", "k", "1")
    table.delete("n", "x")
    table.delete("x", "k")
    assert table.get("n", "k") == "1"
    table.delete("n", "k")
    assert table.namespace("n") is None


def test_values_are_kept_in_a_file_as_rocketmq_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "ns" / "kvConfig.json"
    table = SettingsTable(path)
    table.put("n", "k", "1")
    table.put("n", "l", "2")
    table.delete("n", "l")
    assert path.read_bytes() == b'{"configTable":{"n":{"k":"1"}}}'
    assert SettingsTable(path).namespace("n") == {"k": "1"}
    path.write_text('{"configTable":{"n":{"j":"0"}}}')
    assert SettingsTable(path).namespace("n") == {"j": "0"}


def test_a_damaged_file_falls_back_to_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "kvConfig.json"
    table = SettingsTable(path)
    table.put("n", "k", "1")
    table.put("n", "k", "2")
    path.write_bytes(b"[]")
    assert SettingsTable(path).get("n", "k") == "1"
    path.with_name("kvConfig.json.bak").write_bytes(b"{")
    with pytest.raises(StoreError, match=r"kvConfig\.json"):
        SettingsTable(path)
