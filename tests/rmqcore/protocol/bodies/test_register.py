import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import BodyError
from rmqcore.model import Perm, TopicConfig
from rmqcore.protocol.bodies import (
    DataVersion,
    RegisterBrokerBody,
    TopicConfigTable,
    body_crc32,
    decode_data_version,
    decode_register_broker,
    encode_data_version,
    encode_register_broker,
    encode_register_broker_compressed,
)
from tests.rmqcore.protocol.captured import all_frames, java_text

from .test_topic import configs, versions
from .tricky import names

words = st.text("abcXYZ_-%", min_size=1, max_size=8)
worded = st.builds(
    TopicConfig,
    words,
    st.integers(0, 99),
    st.integers(0, 99),
    st.integers(0, 15).map(Perm),
    words,
    attributes=st.dictionaries(names, names, max_size=2),
)
servers = st.lists(names, max_size=2).map(tuple)
BODY = RegisterBrokerBody(
    TopicConfigTable({"T": TopicConfig("T", 4, 4)}, DataVersion(timestamp=1))
)


def table_of(listed: list[TopicConfig]) -> dict[str, TopicConfig]:
    return {config.topic: config for config in listed}


@given(
    st.builds(
        RegisterBrokerBody,
        st.builds(
            TopicConfigTable, st.lists(configs, max_size=3).map(table_of), versions
        ),
        servers,
        versions,
    )
)
def test_a_plain_registration_survives_the_trip(body: RegisterBrokerBody) -> None:
    assert decode_register_broker(encode_register_broker(body)) == body


@given(
    st.builds(
        RegisterBrokerBody,
        st.builds(
            TopicConfigTable, st.lists(worded, max_size=3).map(table_of), versions
        ),
        servers,
    ),
    st.booleans(),
)
def test_a_compressed_registration_survives_the_trip(
    body: RegisterBrokerBody, with_mappings: bool
) -> None:
    data = encode_register_broker_compressed(body, with_mappings=with_mappings)
    assert decode_register_broker(data, compressed=True) == body


def test_the_mapping_version_is_the_tables_when_not_given() -> None:
    again = decode_register_broker(encode_register_broker(BODY))
    assert again.mapping_version == DataVersion(timestamp=1)


def test_a_topics_line_is_spelled_as_java_spells_it() -> None:
    data = zlib.decompress(encode_register_broker_compressed(BODY))
    assert java_text("TopicConfig.encode").encode() in data


def test_lines_of_4_9_have_no_attributes() -> None:
    version = encode_data_version(DataVersion(timestamp=1))
    line = b"T 4 4 6 SINGLE_TAG"
    parts = [version, None, line, b"[]"]
    data = b"".join(
        struct.pack(">i", 1) if part is None else struct.pack(">i", len(part)) + part
        for part in parts
    )
    assert decode_register_broker(zlib.compress(data), compressed=True) == BODY


def test_an_empty_body_registers_no_topic() -> None:
    assert decode_register_broker(b"").table.topics == {}


def test_checksums_are_those_of_the_captured_headers() -> None:
    bodies = [f for f in all_frames() if f.request_code == 103 and not f.is_response]
    assert len(bodies) == 6
    for frame in bodies:
        assert body_crc32(frame.body) == int(frame.ext_fields["bodyCrc32"])


@given(versions)
def test_a_version_survives_the_trip(version: DataVersion) -> None:
    assert decode_data_version(encode_data_version(version)) == version


@pytest.mark.parametrize(
    ("inflated", "message"),
    [
        (b"", "ends before the length of data version"),
        (b"\0\0\0\x05{}", "data version of 5 with 2 bytes left"),
        (b"\xff\xff\xff\xff", "data version of -1 with 0 bytes left"),
        (b"\0\0\0\x02{}" + b"\x7f\xff\xff\xff", "topics of 2147483647 with 0"),
        (b"\0\0\0\x02{}\0\0\0\x01\0\0\0\x01T", "topic b'T' has too few words"),
        (
            b"\0\0\0\x02{}\0\0\0\x01\0\0\0\x09T x 4 6 S",
            "WireTopicConfig: Expected `int`",
        ),
        (b"\0\0\0\x02{}\0\0\0\0\0\0\0\x01\x31", "list: Expected `array`"),
    ],
)
def test_broken_compressed_bodies_are_refused(inflated: bytes, message: str) -> None:
    padded = inflated + b""
    with pytest.raises(BodyError, match=message):
        decode_register_broker(zlib.compress(padded), compressed=True)


def test_a_stream_that_is_not_zlib_is_refused() -> None:
    with pytest.raises(BodyError, match="zlib body of 3 bytes"):
        decode_register_broker(b"abc", compressed=True)


def test_peers_before_5_0_are_sent_no_mappings() -> None:
    short = encode_register_broker_compressed(BODY, with_mappings=False)
    full = encode_register_broker_compressed(BODY)
    assert zlib.decompress(full) == zlib.decompress(short) + bytes(4)
