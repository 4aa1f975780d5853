import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import FrameError, HeaderError, LocalProtocolError, RmqError
from rmqcore.protocol.codes import LanguageCode
from rmqcore.protocol.command import RemotingCommand, SerializeType
from rmqcore.protocol.frames import FrameDecoder, encode_frame

JAVA_JSON = bytes.fromhex("0000009f0000009b") + (
    b'{"code":105,"extFields":{"topic":"T","acceptStandardJsonOnly":"true"},"flag":0,'
    b'"language":"JAVA","opaque":7,"serializeTypeCurrentRPC":"JSON","version":477}'
)
JAVA_BINARY = bytes.fromhex(
    "000000450100004100690001dd0000000700000000000000000000002c0005746f706963"
    "000000015400166163636570745374616e646172644a736f6e4f6e6c790000000474727565"
)

# Values are never empty: Java reads a zero length as "no field".
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
commands = st.builds(
    RemotingCommand,
    code=st.integers(-0x8000, 0x7FFF),
    ext_fields=st.dictionaries(texts, texts, max_size=5),
    body=st.binary(max_size=200),
    opaque=st.integers(-0x80000000, 0x7FFFFFFF),
    flag=st.integers(0, 3),
    remark=st.none() | texts,
    language=st.sampled_from(LanguageCode),
    version=st.integers(0, 0x7FFF),
    serialize_type=st.sampled_from(SerializeType),
)


def decode(data: bytes) -> RemotingCommand | None:
    decoder = FrameDecoder()
    decoder.receive_data(data)
    return decoder.next_command()


def json_frame(header: bytes, body: bytes = b"") -> bytes:
    return struct.pack(">II", 4 + len(header) + len(body), len(header)) + header + body


@pytest.mark.parametrize("frame", [JAVA_JSON, JAVA_BINARY])
def test_frames_of_the_java_classes_are_read_and_written(frame: bytes) -> None:
    command = decode(frame)
    assert command is not None
    assert command.code == 105
    assert command.ext_fields == {"topic": "T", "acceptStandardJsonOnly": "true"}
    assert (command.opaque, command.version) == (7, 477)
    assert command.language is LanguageCode.JAVA
    assert encode_frame(command) == frame


@given(commands)
def test_a_command_survives_the_wire(command: RemotingCommand) -> None:
    assert decode(encode_frame(command)) == command


@given(st.lists(commands, min_size=1, max_size=4), st.integers(1, 7))
def test_frames_split_anywhere_give_the_same_commands(
    sent: list[RemotingCommand], size: int
) -> None:
    stream = b"".join(map(encode_frame, sent))
    decoder = FrameDecoder()
    received = []
    for begin in range(0, len(stream), size):
        decoder.receive_data(stream[begin : begin + size])
        while (command := decoder.next_command()) is not None:
            received.append(command)
    assert received == sent
    assert decoder.buffered_bytes == 0


@pytest.mark.parametrize("piece", [50_000, 70_000, 130_000])
def test_large_frames_arrive_in_pieces_and_small_ones_behind_them(piece: int) -> None:
    sent = [
        RemotingCommand(10, {}, bytes([number]) * size, opaque=number)
        for number, size in enumerate((300_000, 5, 200_000, 5, 5, 100_000))
    ]
    stream = b"".join(map(encode_frame, sent))
    decoder = FrameDecoder()
    received = []
    for begin in range(0, len(stream), piece):
        decoder.receive_data(stream[begin : begin + piece])
        while (command := decoder.next_command()) is not None:
            received.append(command)
    assert received == sent
    assert decoder.buffered_bytes == 0


def test_an_oversize_length_is_refused_before_it_is_buffered() -> None:
    decoder = FrameDecoder(max_frame_bytes=100)
    decoder.receive_data(struct.pack(">I", 97))
    with pytest.raises(FrameError, match="frame of 101 bytes, limit 100"):
        decoder.next_command()
    assert decoder.broken
    decoder.receive_data(JAVA_JSON)
    with pytest.raises(FrameError, match="limit 100"):
        decoder.next_command()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (struct.pack(">II", 3, 0), "frame length 3, at least 4"),
        (struct.pack(">II", 6, 3), "header of 3 bytes in a frame with 2 left"),
        (struct.pack(">II", 4, 7 << 24), "serialize type 7"),
    ],
)
def test_wrong_lengths_name_the_value(data: bytes, message: str) -> None:
    with pytest.raises(FrameError, match=message):
        decode(data)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"{", "JSON header of 1 bytes"),
        (b"[]", "is a list, not an object"),
        (b'{"flag":0}', "code is None"),
        (b'{"code":"x"}', "code is 'x', not a number"),
        (b'{"code":true}', "not a number"),
        (b'{"code":2147483648}', "2147483648, beyond 32 bits"),
        (b'{"code":1,"extFields":[1]}', "extFields is a list"),
    ],
)
def test_wrong_json_headers_name_the_member(header: bytes, message: str) -> None:
    with pytest.raises(HeaderError, match=message):
        decode(json_frame(header))


def test_lenient_json_is_read_as_java_reads_it() -> None:
    command = decode(
        json_frame(
            b'{"code":"5","extFields":{"a":1,"b":true,"c":null,"d":1.5,"e":[1],"f":"x"},'
            b'"language":"KLINGON","remark":7,"unknown":{}}'
        )
    )
    assert command is not None
    assert command.code == 5
    assert command.ext_fields == {
        "a": "1",
        "b": "true",
        "d": "1.5",
        "e": "[1]",
        "f": "x",
    }
    assert (command.language, command.remark) == ("KLINGON", "7")
    assert b'"language":"KLINGON"' in encode_frame(command)


def test_missing_members_have_javas_defaults() -> None:
    command = decode(json_frame(b'{"code":0,"extFields":null,"language":3}'))
    assert command is not None
    assert (command.opaque, command.flag, command.version) == (0, 0, 0)
    assert command.language is LanguageCode.OTHER


def binary_frame(header: bytes) -> bytes:
    return struct.pack(">II", 4 + len(header), 1 << 24 | len(header)) + header


HEAD = bytes.fromhex("0001000001" + "00000001" + "00000000")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"\0" * 20, "binary header of 20 bytes, at least 21"),
        (HEAD + struct.pack(">ii", 9, 0), "remark of 9 bytes with 4 left"),
        (HEAD + struct.pack(">ii", -1, 0), "remark of -1 bytes"),
        (HEAD + struct.pack(">i", 2) + b"ab\0\0", "ends inside the ext field length"),
        (HEAD + struct.pack(">ii", 0, 5), "ext fields of 5 bytes with 0 left"),
        (HEAD + struct.pack(">ii", 0, 1) + b"\0", "ends inside the ext field name le"),
        (HEAD + struct.pack(">iih", 0, 2, 4), "ext field name of 4 bytes with 0 left"),
        (HEAD + struct.pack(">iihc", 0, 3, 1, b"k"), "ends inside the ext field len"),
        (
            HEAD + struct.pack(">iihci", 0, 7, 1, b"k", 9),
            "ext field value of 9 bytes with 0 left",
        ),
        (HEAD + struct.pack(">i", 1) + b"\xff" + struct.pack(">i", 0), "not UTF-8"),
    ],
)
def test_wrong_binary_headers_name_the_part(header: bytes, message: str) -> None:
    with pytest.raises(HeaderError, match=message):
        decode(binary_frame(header))


def test_an_empty_binary_key_or_value_is_no_field() -> None:
    ext = struct.pack(">hci", 1, b"k", 0) + struct.pack(">hic", 0, 1, b"v")
    header = HEAD + struct.pack(">ii", 0, len(ext)) + ext
    command = decode(binary_frame(header))
    assert command is not None
    assert command.ext_fields == {}


def test_an_unknown_language_number_is_kept() -> None:
    command = decode(binary_frame(HEAD[:2] + b"\x63" + HEAD[3:] + b"\0" * 8))
    assert command is not None
    assert command.language == 0x63


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            RemotingCommand(200050, serialize_type=SerializeType.ROCKETMQ),
            "code 200050 does not fit the binary header, limit 32767",
        ),
        (
            RemotingCommand(
                1, {"k" * 0x8000: "v"}, serialize_type=SerializeType.ROCKETMQ
            ),
            "ext field name of 32768 bytes, limit 32767",
        ),
        (RemotingCommand(1, {"a": "\ud800"}), "cannot be written"),
        (RemotingCommand(1, body=b"x" * (16 << 20)), "limit 16777216"),
        (
            RemotingCommand(1, remark="x" * (1 << 24)),
            "header of 1677.*, limit 16777215",
        ),
    ],
)
def test_what_cannot_be_framed_is_refused(
    command: RemotingCommand, message: str
) -> None:
    with pytest.raises(LocalProtocolError, match=message):
        encode_frame(command)


def test_a_language_by_name_becomes_other_in_binary() -> None:
    command = RemotingCommand(
        1, language="KLINGON", serialize_type=SerializeType.ROCKETMQ
    )
    received = decode(encode_frame(command))
    assert received is not None
    assert received.language is LanguageCode.OTHER


@given(st.binary(max_size=300))
def test_random_bytes_never_do_worse_than_an_error(data: bytes) -> None:
    decoder = FrameDecoder(max_frame_bytes=1000)
    decoder.receive_data(data)
    try:
        while decoder.next_command() is not None:
            pass
    except RmqError:
        assert decoder.broken


@given(commands, st.data())
def test_a_flipped_bit_never_does_worse_than_an_error(
    command: RemotingCommand, data: st.DataObject
) -> None:
    frame = bytearray(encode_frame(command))
    frame[data.draw(st.integers(0, len(frame) - 1))] ^= 1 << data.draw(
        st.integers(0, 7)
    )
    decoder = FrameDecoder()
    decoder.receive_data(bytes(frame))
    try:
        decoder.next_command()
    except RmqError:
        assert decoder.broken


def test_many_small_frames_in_one_large_chunk() -> None:
    decoder = FrameDecoder()
    decoder.receive_data(JAVA_JSON * 2000 + JAVA_JSON[:50])
    count = 0
    while decoder.next_command() is not None:
        count += 1
    assert count == 2000
    assert decoder.buffered_bytes == 50


def test_texts_beside_a_number_for_a_remark_are_read_as_they_are() -> None:
    command = decode(json_frame(b'{"code":1,"remark":7,"extFields":{"a":"b"}}'))
    assert command is not None
    assert (command.remark, command.ext_fields) == ("7", {"a": "b"})
