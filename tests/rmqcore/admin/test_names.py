from __future__ import annotations

import pytest

from rmqcore.admin.names import is_system_group, is_system_topic, retry_groups


@pytest.mark.parametrize(
    "group",
    [
        "TOOLS_CONSUMER",
        "CID_RMQ_SYS_TRANS",
        "CID_ONSAPI_PULL",
        "prices@broadcast",
        "MQ_INST_1%prices@broadcast",
    ],
)
def test_system_groups(group: str) -> None:
    assert is_system_group(group)


def test_a_group_without_a_name_is_nobodys() -> None:
    assert is_system_group("")


@pytest.mark.parametrize(
    "group",
    ["orders", "CID_orders", "TOOLS_CONSUMER_2", "broadcast", "prices_broadcast"],
)
def test_groups_of_users(group: str) -> None:
    assert not is_system_group(group)


@pytest.mark.parametrize(
    "topic",
    ["TBW102", "rmq_sys_wheel_timer", "RMQ_SYS_TRACE_TOPIC", "C", "b", "C_REPLY_TOPIC"],
)
def test_system_topics(topic: str) -> None:
    assert is_system_topic(topic, {"C"}, {"b"})


@pytest.mark.parametrize("topic", ["orders", "%RETRY%G", "%DLQ%G", "D_REPLY_TOPIC"])
def test_topics_of_users(topic: str) -> None:
    assert not is_system_topic(topic, {"C"}, {"b"})


def test_a_retry_topic_tells_of_a_group_that_is_not_known_otherwise() -> None:
    assert retry_groups(["%RETRY%A", "%RETRY%B"], {"A"}, set()) == {"B"}


@pytest.mark.parametrize("separator", ["_", "+"])
def test_the_retry_topics_of_pop_name_no_group(separator: str) -> None:
    topics = [f"%RETRY%my_group{separator}my_topic"]
    assert retry_groups(topics, {"my_group"}, {"my_topic"}) == set()


def test_a_name_that_only_looks_like_pop_is_a_group() -> None:
    assert retry_groups(["%RETRY%a_b"], {"a"}, {"c"}) == {"a_b"}
