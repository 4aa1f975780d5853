from pathlib import Path

import pytest

from rmqcore.broker.delays import DelayOffsets
from rmqcore.broker.groups import SubscriptionGroupTable
from rmqcore.broker.offsets import ConsumerOffsetTable
from rmqcore.broker.persistence import TableFiles
from rmqcore.broker.topics import TopicTable
from rmqcore.errors import StoreError
from rmqcore.model import SubscriptionGroupConfig, TopicConfig

Tables = tuple[TopicTable, SubscriptionGroupTable, ConsumerOffsetTable, DelayOffsets]


def tables() -> Tables:
    return (
        TopicTable([], 0),
        SubscriptionGroupTable(auto_create=True, now_ms=0),
        ConsumerOffsetTable(),
        DelayOffsets(),
    )


def save(files: TableFiles) -> list[str]:
    files.save_configuration()
    pending = files.changed_progress()
    for each in pending:
        each.write()
    return [each.file.path.name for each in pending]


def filled(directory: Path) -> TableFiles:
    topics, groups, offsets, delays = tables()
    files = TableFiles(directory, topics, groups, offsets, delays)
    topics.put(TopicConfig("T", 3, 4, attributes={"a": "b"}), 1)
    groups.put(SubscriptionGroupConfig("g", retry_max_times=3), 1)
    offsets.commit("g", "T", 2, 77, 1)
    delays.put(3, 9, 1)
    return files


def test_tables_come_back_as_they_were(tmp_path: Path) -> None:
    assert save(filled(tmp_path)) == ["consumerOffset.json", "delayOffset.json"]
    assert sorted(path.name for path in (tmp_path / "config").iterdir()) == [
        "consumerOffset.json",
        "delayOffset.json",
        "subscriptionGroup.json",
        "topics.json",
    ]
    topics, groups, offsets, delays = tables()
    TableFiles(tmp_path, topics, groups, offsets, delays).load()
    assert topics.get("T") == TopicConfig("T", 3, 4, attributes={"a": "b"})
    config = groups.get("g")
    assert config is not None
    assert config.retry_max_times == 3
    assert offsets.committed("g", "T", 2) == 77
    assert delays.get(3) == 9
    assert topics.version.counter == groups.version.counter == 1


def test_only_changed_tables_are_written(tmp_path: Path) -> None:
    files = filled(tmp_path)
    save(files)
    (tmp_path / "config/topics.json").unlink()
    assert save(files) == []
    assert not (tmp_path / "config/topics.json").exists()
    files.retry_progress()
    assert len(save(files)) == 2


def test_the_spelling_is_rocketmqs_own(tmp_path: Path) -> None:
    save(filled(tmp_path))
    data = (tmp_path / "config/consumerOffset.json").read_bytes()
    assert b'"offsetTable":{"T@g":{2:77}}' in data


def test_nothing_on_disk_is_a_new_broker(tmp_path: Path) -> None:
    topics, groups, offsets, delays = tables()
    TableFiles(tmp_path, topics, groups, offsets, delays).load()
    assert dict(topics.all) == {}


def test_a_damaged_file_falls_back_and_two_are_an_error(tmp_path: Path) -> None:
    files = filled(tmp_path)
    save(files)
    topics, groups, offsets, delays = tables()
    again = TableFiles(tmp_path, topics, groups, offsets, delays)
    again.load()
    offsets.commit("g", "T", 2, 99, 1)
    save(again)
    path = tmp_path / "config/consumerOffset.json"
    path.write_bytes(path.read_bytes()[:20])
    topics, groups, offsets, delays = tables()
    TableFiles(tmp_path, topics, groups, offsets, delays).load()
    assert offsets.committed("g", "T", 2) == 77
    path.with_name("consumerOffset.json.bak").write_bytes(b"{")
    with pytest.raises(StoreError, match=r"consumerOffset\.json: .*\.bak: "):
        TableFiles(tmp_path, *tables()).load()
