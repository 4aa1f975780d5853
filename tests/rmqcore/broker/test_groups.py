import pytest

from rmqcore.broker.groups import SubscriptionGroupTable
from rmqcore.model import SubscriptionGroupConfig
from rmqcore.protocol.bodies import DataVersion


@pytest.fixture
def table() -> SubscriptionGroupTable:
    return SubscriptionGroupTable(auto_create=True, now_ms=5)


def test_looking_never_creates(table: SubscriptionGroupTable) -> None:
    assert table.get("g") is None
    assert "g" not in table
    assert "TOOLS_CONSUMER" in table


def test_finding_creates_where_that_is_allowed(table: SubscriptionGroupTable) -> None:
    config = table.find("g", 6)
    assert config == SubscriptionGroupConfig("g")
    assert table.find("g", 7) is config
    assert (table.version, table.changed) == (DataVersion(1, 0, 6), True)


@pytest.mark.parametrize("name", ["", " ", "a b", "g" * 121])
def test_bad_names_are_not_created(table: SubscriptionGroupTable, name: str) -> None:
    assert table.find(name, 6) is None


def test_without_auto_create_only_system_groups_are_made() -> None:
    table = SubscriptionGroupTable(auto_create=False, now_ms=5)
    assert table.find("g", 6) is None
    assert table.find("CID_RMQ_SYS_X", 6) is not None


def test_groups_are_changed_and_deleted(table: SubscriptionGroupTable) -> None:
    table.put(SubscriptionGroupConfig("g", retry_max_times=3), 6)
    config = table.get("g")
    assert config is not None
    assert config.retry_max_times == 3
    assert table.delete("g", 7)
    assert not table.delete("g", 8)
    assert table.version.counter == 2


def test_what_was_on_disk_comes_back(table: SubscriptionGroupTable) -> None:
    table.restore({"g": SubscriptionGroupConfig("g")}, DataVersion(counter=40))
    assert {"g", "TOOLS_CONSUMER"} <= set(table.all)
    assert (table.version.counter, table.changed) == (40, False)
