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
