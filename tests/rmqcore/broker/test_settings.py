from pathlib import Path
from typing import Any

import pytest

from rmqcore.broker import BrokerSettings
from rmqcore.errors import ArgumentError


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "a broker needs a name"),
        ({"cluster": ""}, "a broker needs a cluster"),
        ({"broker_id": 1}, "broker id 1: .* only be a master"),
        ({"default_queue_nums": 0}, "default queue count 0, at least 1"),
    ],
)
def test_wrong_settings_name_the_value(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        BrokerSettings(tmp_path, **changes)


def test_rocketmqs_names_are_shown(tmp_path: Path) -> None:
    shown = BrokerSettings(tmp_path, name_servers=("a:1", "b:2")).as_properties()
    assert shown["brokerName"] == "broker-a"
    assert shown["namesrvAddr"] == "a:1;b:2"
    assert shown["autoCreateTopicEnable"] == "true"
    assert shown["fileReservedTime"] == "72"


def test_some_settings_can_be_changed(tmp_path: Path) -> None:
    before = BrokerSettings(tmp_path)
    after = before.changed({"autoCreateTopicEnable": "false", "fileReservedTime": "48"})
    assert (after.auto_create_topic, after.keep_ms) == (False, 48 * 3_600_000)
    assert after.changed({"defaultTopicQueueNums": "3"}).default_queue_nums == 3
    assert before.auto_create_topic


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("brokerName", "x", "setting brokerName cannot be changed at run time"),
        ("nonsense", "x", "setting nonsense cannot be changed"),
        ("autoCreateTopicEnable", "yes", "autoCreateTopicEnable cannot be 'yes'"),
        ("defaultTopicQueueNums", "many", "defaultTopicQueueNums cannot be 'many'"),
        ("defaultTopicQueueNums", "0", "default queue count 0"),
    ],
)
def test_wrong_changes_name_the_value(
    tmp_path: Path, name: str, value: str, message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        BrokerSettings(tmp_path).changed({name: value})
