import pytest

from rmqcore.broker.consumers import ClientChannel
from rmqcore.broker.producers import ProducerTable


@pytest.fixture
def table() -> ProducerTable[str]:
    made: ProducerTable[str] = ProducerTable()
    for group, channel in (("p", "a"), ("p", "b"), ("q", "a")):
        made.register(group, ClientChannel(channel, f"id-{channel}", 0, 513), 0)
    return made


def ids(table: ProducerTable[str], group: str) -> list[str]:
    return [client.client_id for client in table.clients(group)]


def test_clients_are_kept_by_group(table: ProducerTable[str]) -> None:
    assert ids(table, "p") == ["id-a", "id-b"]
    assert ids(table, "q") == ["id-a"]
    assert ids(table, "unknown") == []
    assert set(table.all_clients()) == {"p", "q"}


def test_a_client_leaves_one_group(table: ProducerTable[str]) -> None:
    table.unregister("p", "a")
    table.unregister("p", "stranger")
    table.unregister("unknown", "a")
    assert ids(table, "p") == ["id-b"]
    assert ids(table, "q") == ["id-a"]


def test_a_lost_channel_leaves_every_group(table: ProducerTable[str]) -> None:
    table.close("a")
    assert table.all_clients().keys() == {"p"}
    table.close("b")
    assert table.all_clients() == {}


def test_a_client_is_silent_after_120_s(table: ProducerTable[str]) -> None:
    table.register("p", ClientChannel("b", "id-b", 0, 513), 50_000)
    assert table.expired(120_000) == []
    assert table.expired(120_001) == ["a"]
