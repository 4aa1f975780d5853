import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import BodyError, LocalProtocolError
from rmqcore.model import Message
from rmqcore.protocol.batch import BatchItem, decode_batch, encode_batch

from .captured import all_frames, java_text
from .test_properties import texts

messages = st.builds(
    Message,
    st.just("T"),
    st.binary(max_size=50),
    st.dictionaries(texts, texts, max_size=3),
    st.integers(-(2**31), 2**31 - 1),
)


@given(st.lists(messages, max_size=4))
def test_batches_survive_the_trip(sent: list[Message]) -> None:
    assert decode_batch(encode_batch(sent)) == [
        BatchItem(message.flag, message.body, message.properties) for message in sent
    ]


def test_javas_item_is_read_and_written() -> None:
    data = bytes.fromhex(java_text("batch item hex"))
    (item,) = decode_batch(data)
    assert item == BatchItem(0, b"hello", {"WAIT": "true", "TAGS": "TagA"})
    assert encode_batch([Message("T", item.body, item.properties)]) == data


def test_captured_batches_are_read_and_written() -> None:
    captured = [f for f in all_frames() if f.request_code == 320 and not f.is_response]
    assert captured
    for frame in captured:
        items = decode_batch(frame.body)
        again = [Message("T", item.body, item.properties, item.flag) for item in items]
        assert encode_batch(again) == frame.body


def item(size: int, body_length: int, rest: bytes) -> bytes:
    return struct.pack(">iiiii", size, 0, 0, 0, body_length) + rest


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\0" * 21, "at 0 is cut off after 21 bytes"),
        (item(23, 0, b"\0\0"), "at 0 of 23 bytes with 22 left"),
        (item(21, 0, b"\0\0"), "at 0 of 21 bytes with 22 left"),
        (item(-1, 0, b"\0\0"), "at 0 of -1 bytes"),
        (item(22, 1, b"\0\0"), "body of 1 in 22 bytes"),
        (item(22, -1, b"\0\0"), "body of -1 in 22 bytes"),
        (item(23, 0, b"\0\0x"), "properties of 0 bytes, 1 are there"),
        (item(22, 0, b"\xff\xff"), "properties of -1 bytes, 0 are there"),
        (item(23, 0, b"\0\1\xff"), "at 0: properties: .*utf-8"),
        (encode_batch([Message("T", b"")]) + b"\0", "at 22 is cut off after 1"),
    ],
)
def test_broken_batches_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(BodyError, match=message):
        decode_batch(data)


def test_properties_too_long_for_their_field_are_refused() -> None:
    with pytest.raises(LocalProtocolError, match="properties of 32771 bytes, limit"):
        encode_batch([Message("T", b"", {"a": "x" * 32_768})])
