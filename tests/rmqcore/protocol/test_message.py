import struct
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import BodyError
from rmqcore.model import MessageExt
from rmqcore.protocol import message as message_module
from rmqcore.protocol.compression import KIND_FLAGS, CompressionKind, deflate
from rmqcore.protocol.ids import encode_offset_msg_ids, pack_host
from rmqcore.protocol.message import (
    MAGIC_BLANK,
    decode_records,
)

from .captured import all_frames, java_text
from .records import encode_record
from .test_ids import hosts
from .test_properties import texts

JAVA_RECORD = bytes.fromhex(java_text("record hex"))
JAVA_MESSAGE = MessageExt(
    topic="TopicTest",
    broker_name="broker-a",
    queue_id=2,
    queue_offset=3,
    commit_log_offset=1000,
    body=b"hello",
    properties={"a": "1", "KEYS": "k1 k2", "TAGS": "TagA"},
    flag=0,
    sys_flag=0,
    born_timestamp=1_700_000_000_000,
    born_host="127.0.0.1:5555",
    store_timestamp=1_700_000_000_001,
    store_host="127.0.0.1:10911",
    reconsume_times=0,
    prepared_transaction_offset=0,
    body_crc=907060870,
    store_size=130,
    offset_msg_id="7F00000100002A9F00000000000003E8",
)

int32s = st.integers(-(2**31), 2**31 - 1)
int64s = st.integers(-(2**63), 2**63 - 1)


@st.composite
def messages(draw: st.DrawFn) -> MessageExt:
    """Make a message whose computed members are right."""
    topic = draw(st.text("abc%", min_size=1, max_size=6)) * draw(
        st.sampled_from([1, 30])
    )
    body = draw(st.binary(max_size=60))
    born_host, store_host = draw(hosts), draw(hosts)
    host_bits = born_host.startswith("[") * 16 | store_host.startswith("[") * 32
    offset = draw(int64s)
    made = replace(
        JAVA_MESSAGE,
        topic=topic,
        body=body,
        properties=draw(st.dictionaries(texts, texts, max_size=3)),
        queue_id=draw(int32s),
        queue_offset=draw(int64s),
        commit_log_offset=offset,
        flag=draw(int32s),
        sys_flag=draw(st.integers(0, 2**31 - 1)) & ~0x731 | host_bits,
        born_timestamp=draw(int64s),
        born_host=born_host,
        store_timestamp=draw(int64s),
        store_host=store_host,
        reconsume_times=draw(int32s),
        prepared_transaction_offset=draw(int64s),
        body_crc=zlib.crc32(body) & 0x7FFF_FFFF,
        offset_msg_id=encode_offset_msg_ids(pack_host(store_host), [offset]),
    )
    return replace(made, store_size=len(encode_record(made)))


def test_javas_record_is_read_and_written() -> None:
    (decoded,) = decode_records(JAVA_RECORD, "broker-a", check_crc=True)
    assert decoded == JAVA_MESSAGE
    assert encode_record(decoded) == JAVA_RECORD


def test_captured_pull_bodies_are_read_and_written() -> None:
    count = 0
    for frame in all_frames():
        if not (frame.is_response and frame.request_code in (11, 12)):
            continue
        decoded = decode_records(frame.body, "broker-a", check_crc=True)
        assert b"".join(map(encode_record, decoded)) == frame.body
        count += len(decoded)
    assert count > 30


@given(st.lists(messages(), max_size=3))
def test_records_survive_the_trip(sent: list[MessageExt]) -> None:
    data = b"".join(map(encode_record, sent))
    assert decode_records(data, "broker-a", check_crc=True) == sent


@pytest.mark.parametrize("kind", ["zlib", "lz4", "zstd"])
def test_compressed_bodies_are_inflated_unless_told_otherwise(
    kind: CompressionKind,
) -> None:
    flag = KIND_FLAGS[kind] | 1 | 4
    stored = deflate(b"x" * 5000, kind)
    record = encode_record(replace(JAVA_MESSAGE, body=stored, sys_flag=flag))
    (inflated,) = decode_records(record, "broker-a", check_crc=True)
    assert (inflated.body, inflated.sys_flag) == (b"x" * 5000, 4)
    (raw,) = decode_records(record, "broker-a", inflate_bodies=False)
    assert (raw.body, raw.sys_flag) == (stored, flag)


def test_one_pull_may_inflate_only_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_module, "MAX_PULL_INFLATED_BYTES", 9000)
    stored = deflate(b"x" * 5000)
    record = encode_record(replace(JAVA_MESSAGE, body=stored, sys_flag=1))
    assert len(decode_records(record, "broker-a")) == 1
    with pytest.raises(BodyError, match="inflates beyond 4000 bytes"):
        decode_records(record * 2, "broker-a")


def test_a_wrong_crc_is_found_when_asked() -> None:
    at = JAVA_RECORD.index(b"hello")
    data = JAVA_RECORD[:at] + b"jello" + JAVA_RECORD[at + 5 :]
    assert decode_records(data, "b")[0].body == b"jello"
    with pytest.raises(BodyError, match=r"record at 0: body CRC is \d+, not 907060870"):
        decode_records(data, "b", check_crc=True)


def changed(at: int, form: str, value: int) -> bytes:
    data = bytearray(JAVA_RECORD)
    struct.pack_into(form, data, at, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (JAVA_RECORD[:39], "record at 0 is cut off after 39 bytes"),
        (JAVA_RECORD[:-1], "record at 0 of 130 bytes is cut off after 129"),
        (JAVA_RECORD + b"\0", "record at 130 is cut off after 1 bytes"),
        (changed(4, ">I", MAGIC_BLANK), "record at 0 has magic 0xcbd43194"),
        (changed(0, ">i", 131), "of 131 bytes is cut off after 130"),
        (changed(0, ">i", 129), "properties of 25 bytes does not fit"),
        (changed(0, ">i", 80), "record at 0 of 80 bytes, its head has 88"),
        (changed(0, ">i", -1), "record at 0 of -1 bytes, its head has 88"),
        (changed(36, ">i", 0x30), "bytes? does not fit"),
        (changed(84, ">i", -1), "body of -1 bytes does not fit"),
        (changed(84, ">i", 42), "body of 42 bytes does not fit"),
        (changed(93, ">B", 200), "topic of 200 bytes does not fit"),
        (changed(103, ">h", 99), "properties of 99 bytes does not fit"),
        (changed(103, ">h", -1), "properties of -1 bytes does not fit"),
        (changed(95, ">B", 0xFF), "record at 0 holds text that is not UTF-8"),
        (changed(110, ">B", 0xFF), "record at 0 holds text that is not UTF-8"),
    ],
)
def test_broken_records_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(BodyError, match=message):
        decode_records(data, "b")


def test_no_body_holds_no_message() -> None:
    assert decode_records(b"", "b") == []


@pytest.mark.parametrize(("length", "magic"), [(127, b"\xa7"), (128, b"\xab")])
def test_long_topics_take_the_second_form(length: int, magic: bytes) -> None:
    long = replace(JAVA_MESSAGE, topic="t" * length)
    record = encode_record(long)
    assert record[7:8] == magic
    assert decode_records(record, "b")[0].topic == "t" * length
