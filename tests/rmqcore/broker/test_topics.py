import pytest

from rmqcore.broker.topics import TopicTable, system_topics
from rmqcore.model import Perm, TopicConfig
from rmqcore.protocol.bodies import DataVersion


@pytest.fixture
def table() -> TopicTable:
    initial = system_topics("c", "broker-a", default_queue_nums=8, auto_create=True)
    return TopicTable(initial, 5)


def test_a_broker_begins_with_system_topics(table: TopicTable) -> None:
    assert len(table.all) >= 2
    assert "SCHEDULE_TOPIC_XXXX" in table
    assert all(map(table.is_system, table.all))
    assert table.is_system("rmq_sys_anything")
    assert not table.is_system("T")
    assert table.version == DataVersion(timestamp=5)


def test_without_auto_create_there_is_no_example_topic() -> None:
    initial = system_topics("c", "b", default_queue_nums=8, auto_create=False)
    assert "TBW102" not in TopicTable(initial, 0)


def test_every_change_makes_a_new_version(table: TopicTable) -> None:
    table.put(TopicConfig("T", 4, 4), 6)
    assert table.version == DataVersion(counter=1, timestamp=6)
    assert table.changed
    assert table.delete("T", 7)
    assert not table.delete("T", 8)
    assert table.version == DataVersion(counter=2, timestamp=7)
    assert table.get("T") is None


@pytest.mark.parametrize(("asked", "queues"), [(4, 4), (99, 8), (-1, 0)])
def test_a_first_message_makes_its_topic(
    table: TopicTable, asked: int, queues: int
) -> None:
    config = table.inherit("T", "TBW102", asked, 6)
    assert config == TopicConfig("T", queues, queues, Perm.READ | Perm.WRITE)
    assert table.get("T") == config


@pytest.mark.parametrize(
    ("topic", "example"),
    [("T", "unknown"), ("T", "SELF_TEST_TOPIC"), ("bad topic", "TBW102")],
)
def test_not_every_topic_can_be_made(
    table: TopicTable, topic: str, example: str
) -> None:
    assert table.inherit(topic, example, 4, 6) is None
    assert topic not in table


def test_a_topic_is_ensured_once(table: TopicTable) -> None:
    first = table.ensure("%RETRY%g", 1, 6)
    assert table.ensure("%RETRY%g", 9, 7) is first
    assert (first.read_queue_nums, first.perm) == (1, Perm.READ | Perm.WRITE)


def test_what_was_on_disk_comes_back(table: TopicTable) -> None:
    table.restore({"T": TopicConfig("T", 3, 3)}, DataVersion(counter=40))
    assert "T" in table
    assert "SCHEDULE_TOPIC_XXXX" in table
    assert (table.version.counter, table.changed) == (40, False)
