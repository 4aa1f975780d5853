import pytest

from rmqcore.model.topic import SCHEDULE_TOPIC
from rmqcore.store.dispatch import (
    DELAY_LEVELS_MS,
    enters_queue,
    key_hashes,
    property_values,
    tags_code,
)
from rmqcore.store.key_index import key_hash

from .records import properties


def apart(**values: object) -> dict[bytes, bytes]:
    return property_values(properties(**values))


ALL = apart(TAGS="TagA", KEYS="k1 k2", UNIQ_KEY="U1", XTAGS="no")


@pytest.mark.parametrize(
    ("properties", "values"),
    [
        (b"", {}),
        (b"A\x011\x02B\x012\x02", {b"A": b"1", b"B": b"2"}),
        (b"A\x011\x02B\x012", {b"A": b"1", b"B": b"2"}),
        (b"A\x011\x01x\x02", {b"A": b"1\x01x"}),
        (b"A\x011\x02A\x012\x02", {b"A": b"2"}),
        (b"none\x02A\x011\x02\x02", {b"A": b"1"}),
    ],
)
def test_properties_are_taken_apart(
    properties: bytes, values: dict[bytes, bytes]
) -> None:
    assert property_values(properties) == values


@pytest.mark.parametrize(
    ("tag", "code"), [("TagA", 2598919), ("中文", 646394), ("𝄞", 1772394)]
)
def test_the_code_of_a_tag_is_javas_hash(tag: str, code: int) -> None:
    assert tags_code("T", apart(TAGS=tag), 0) == code


def test_no_tag_has_code_zero() -> None:
    assert tags_code("T", {}, 0) == 0


def test_a_tag_that_is_not_utf8_has_some_code() -> None:
    assert tags_code("T", {b"TAGS": b"\xff"}, 0) == 0xFFFD


def test_the_code_of_a_delayed_message_is_its_time() -> None:
    assert DELAY_LEVELS_MS[0] == 1000
    assert DELAY_LEVELS_MS[17] == 7_200_000
    assert len(DELAY_LEVELS_MS) == 18
    delayed = apart(TAGS="TagA", DELAY=3)
    assert tags_code(SCHEDULE_TOPIC, delayed, 500) == 10_500
    assert tags_code(SCHEDULE_TOPIC, apart(DELAY=99), 0) == 7_200_000
    assert tags_code("T", delayed, 500) == 2598919


@pytest.mark.parametrize("level", ["0", "-1", "x"])
def test_a_delay_that_is_no_level_is_none(level: str) -> None:
    assert tags_code(SCHEDULE_TOPIC, apart(DELAY=level), 5) == 0


def test_every_key_is_indexed() -> None:
    expected = [key_hash(b"T", key) for key in (b"U1", b"k1", b"k2")]
    assert key_hashes(b"T", ALL) == expected
    assert key_hashes(b"T", {}) == []


def test_half_and_rolled_back_messages_enter_no_queue() -> None:
    transaction_types = (0, 4, 8, 12)
    assert [enters_queue(1 | kind) for kind in transaction_types] == [
        True,
        False,
        True,
        False,
    ]
