import pytest

from rmqcore.broker.names import group_fault, is_system_topic, topic_fault


@pytest.mark.parametrize("name", ["T", "a-b_c|9%", "%RETRY%" + "g" * 248, "t" * 127])
def test_good_topics(name: str) -> None:
    assert topic_fault(name) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "blank"),
        ("  ", "blank"),
        ("a b", "illegal characters"),
        ("ü", "illegal characters"),
        ("t\n", "illegal characters"),
        ("t" * 128, "longer than topic max length: 127"),
        ("%DLQ%" + "g" * 251, "longer than topic max length: 255"),
    ],
)
def test_bad_topics_are_said_to_be(name: str, words: str) -> None:
    assert words in (topic_fault(name) or "")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("g", ""),
        ("g" * 120, ""),
        ("", "blank"),
        ("a.b", "illegal characters"),
        ("g" * 121, "longer than group max length: 120"),
    ],
)
def test_groups(name: str, words: str) -> None:
    fault = group_fault(name)
    assert (fault is None) if not words else (words in (fault or ""))


def test_system_topics_are_known() -> None:
    assert is_system_topic("TBW102")
    assert is_system_topic("rmq_sys_wheel_timer")
    assert not is_system_topic("orders")
