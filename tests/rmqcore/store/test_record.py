import struct

import pytest

from rmqcore.errors import ArgumentError, StoreError
from rmqcore.protocol.message import decode_records
from rmqcore.store import PendingRecord, record

from .records import HOST, HOST_V6, START_MS, pending, properties

GOLDEN = bytes.fromhex(
    "00000082daa320a73610a6860000000200000000000000000000000300000000000003e800000000"
    "0000018bcfe568007f000001000015b30000018bcfe568017f00000100002a9f0000000000000000"
    "000000000000000568656c6c6f09546f706963546573740019610131024b455953016b31206b3202"
    "54414753015461674102"
)


def test_a_record_has_the_bytes_that_java_writes() -> None:
    made = PendingRecord(
        "TopicTest",
        2,
        b"hello",
        properties(a=1, KEYS="k1 k2", TAGS="TagA"),
        START_MS,
        bytes.fromhex("7f000001000015b3"),
        HOST,
    )
    assert record.encode(made, 3, 1000, START_MS + 1) == GOLDEN
    assert made.size == len(GOLDEN)


@pytest.mark.parametrize("born", [HOST, HOST_V6])
@pytest.mark.parametrize("store", [HOST, HOST_V6])
@pytest.mark.parametrize("topic", ["T", "%RETRY%" + "g" * 200])
def test_each_form_of_record_is_read_back(
    born: bytes, store: bytes, topic: str
) -> None:
    made = pending(topic, 5, b"body", born_host=born, store_host=store, KEYS="k")
    data = record.encode(made, 7, 4096, START_MS)
    stored = record.parse(data)
    assert (stored.size, made.size) == (len(data), len(data))
    assert (stored.topic, stored.queue_id, stored.queue_offset) == (topic, 5, 7)
    assert (stored.log_offset, stored.store_timestamp) == (4096, START_MS)
    assert stored.properties == properties(KEYS="k")
    assert record.store_timestamp_of(data) == START_MS
    (message,) = decode_records(data, "broker-a")
    assert (message.topic, message.body, message.keys) == (topic, b"body", ("k",))


def test_a_blank_record_is_size_and_magic() -> None:
    assert record.blank(99) == struct.pack(">iI", 99, 0xCBD43194)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: pending("t" * 256), "topic 't+' of 256 bytes, limit 255"),
        (lambda: pending(a="x" * 32767), "properties of 32770 bytes, limit 32767"),
    ],
)
def test_what_no_record_can_hold_is_refused(made: object, message: str) -> None:
    assert callable(made)
    with pytest.raises(ArgumentError, match=message):
        made()


def _changed(at: int, value: bytes) -> bytes:
    return GOLDEN[:at] + value + GOLDEN[at + len(value) :]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (_changed(4, bytes(4)), "magic 0x00000000 is not a record's"),
        (_changed(0, struct.pack(">i", 131)), "record size 131 does not fit 130"),
        (_changed(84, struct.pack(">i", -1)), "body length -1 does not fit"),
        (_changed(84, struct.pack(">i", 40)), "body length 40 does not fit|CRC"),
        (_changed(88, b"j"), "does not match its CRC"),
        (_changed(93, b"\x7f"), "topic's length passes the record's end"),
        (_changed(93, b"\x00"), "properties' length does not add up"),
        (_changed(103, b"\x00\x18"), "properties' length does not add up"),
        (_changed(94, b"\xff"), "topic is not UTF-8"),
        (_changed(129, b"\x00"), "properties are torn"),
        (_changed(110, b"\x00"), "properties are torn"),
    ],
)
def test_damage_is_named(data: bytes, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        record.parse(data)


def test_a_record_without_topic_is_damage() -> None:
    data = record.encode(pending("", 0, b"x"), 0, 0, START_MS)
    with pytest.raises(StoreError, match="no topic"):
        record.parse(data)


def test_every_cut_of_a_record_is_noticed() -> None:
    for size in range(40, len(GOLDEN)):
        with pytest.raises(StoreError):
            record.parse(GOLDEN[:size])
