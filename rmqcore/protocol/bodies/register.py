"""Bodies of a broker's registration with a name server (103), plain and compressed.

The compressed form is a zlib stream of

    length:4 DataVersion-JSON | count:4 | count × (length:4 "T 4 4 6 SINGLE_TAG {}")
    | length:4 filter-server-JSON | for peers from 5.0 on: count:4 mappings

Mappings of logical queues are skipped and not kept: static topics are not served.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from rmqcore.errors import BodyError
from rmqcore.model import TopicConfig
from rmqcore.protocol.compression import inflate
from rmqcore.protocol.fastjson import MAX_BODY_BYTES, dumps, loads

from .codec import BodyDecoder, DataVersion, convert
from .topic import (
    TopicConfigTable,
    WireTopicConfig,
    topic_config_members,
    topic_table_members,
)

_LENGTH: Final = struct.Struct(">i")
_ZLIB_LEVEL: Final = 9


class _Wrapper(msgspec.Struct, rename="camel"):
    data_version: DataVersion = DataVersion()
    mapping_data_version: DataVersion | None = None
    topic_config_table: dict[str, WireTopicConfig] = {}


class _RegisterBody(msgspec.Struct, rename="camel"):
    filter_server_list: list[str] = []
    topic_config_serialize_wrapper: _Wrapper = msgspec.field(default_factory=_Wrapper)


@dataclass(frozen=True, slots=True)
class RegisterBrokerBody:
    """The topics that a broker serves.

    `mapping_version` is that of its logical queues; 4.9 brokers have none.
    """

    table: TopicConfigTable
    filter_servers: tuple[str, ...] = ()
    mapping_version: DataVersion | None = None


_REGISTER: Final = BodyDecoder(_RegisterBody)
_DATA_VERSION: Final = BodyDecoder(DataVersion)


def decode_data_version(data: bytes) -> DataVersion:
    """Return a data version (322, and header members that hold one)."""
    return _DATA_VERSION.decode(data)


def encode_data_version(version: DataVersion) -> bytes:
    """Return the body of 322."""
    return dumps(msgspec.to_builtins(version))


def body_crc32(body: bytes) -> int:
    """Return the checksum that the header of 103 carries: CRC32 without sign bit."""
    return zlib.crc32(body) & 0x7FFF_FFFF


def encode_register_broker(body: RegisterBrokerBody) -> bytes:
    """Return the plain body of 103."""
    members = topic_table_members(body.table)
    mapping_version = body.mapping_version or body.table.data_version
    return dumps(
        {
            "filterServerList": body.filter_servers,
            "topicConfigSerializeWrapper": {
                "dataVersion": members["dataVersion"],
                "mappingDataVersion": msgspec.to_builtins(mapping_version),
                "topicConfigTable": members["topicConfigTable"],
                "topicQueueMappingDetailMap": {},
                "topicQueueMappingInfoMap": {},
            },
        }
    )


def decode_register_broker(
    data: bytes, *, compressed: bool = False
) -> RegisterBrokerBody:
    """Return a broker's registration; an empty body registers no topic."""
    if compressed:
        return _decode_compressed(data)
    if not data:
        return RegisterBrokerBody(TopicConfigTable({}, DataVersion()))
    body = _REGISTER.decode(data)
    wrapper = body.topic_config_serialize_wrapper
    topics = {name: c.model() for name, c in wrapper.topic_config_table.items()}
    return RegisterBrokerBody(
        TopicConfigTable(topics, wrapper.data_version),
        tuple(body.filter_server_list),
        wrapper.mapping_data_version,
    )


# Compressed form


def encode_register_broker_compressed(
    body: RegisterBrokerBody, *, with_mappings: bool = True
) -> bytes:
    """Return the compressed body of 103; peers before 5.0 expect no mappings."""
    parts = [_sized(encode_data_version(body.table.data_version))]
    parts.append(_LENGTH.pack(len(body.table.topics)))
    parts += [_sized(_topic_line(config)) for config in body.table.topics.values()]
    parts.append(_sized(dumps(body.filter_servers)))
    if with_mappings:
        parts.append(_LENGTH.pack(0))
    return zlib.compress(b"".join(parts), _ZLIB_LEVEL)


def _sized(data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + data


def _topic_line(config: TopicConfig) -> bytes:
    members = topic_config_members(config)
    line = "{topicName} {readQueueNums} {writeQueueNums} {perm} {topicFilterType} "
    return line.format_map(members).encode() + dumps(config.attributes)


def _decode_compressed(data: bytes) -> RegisterBrokerBody:
    reader = _Reader(inflate(data, "zlib", limit_bytes=MAX_BODY_BYTES))
    version = decode_data_version(reader.sized("data version"))
    configs = [
        _parse_topic_line(reader.sized("topic")) for _ in range(reader.length("topics"))
    ]
    servers = convert(loads(reader.sized("filter servers")), list[str])
    table = TopicConfigTable({config.topic: config for config in configs}, version)
    return RegisterBrokerBody(table, tuple(servers))


class _Reader:
    """Takes lengths and strings off the front of inflated bytes."""

    __slots__ = ("_data", "_position")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def length(self, what: str) -> int:
        """Return the next count or length, at most what the other bytes can hold."""
        left = len(self._data) - self._position - _LENGTH.size
        if left < 0:
            raise BodyError(f"registration ends before the length of {what}")
        (length,) = _LENGTH.unpack_from(self._data, self._position)
        if not 0 <= length <= left:
            raise BodyError(f"registration: {what} of {length} with {left} bytes left")
        self._position += _LENGTH.size
        return int(length)

    def sized(self, what: str) -> bytes:
        """Return the next bytes, which are preceded by their length."""
        length = self.length(what)
        self._position += length
        return self._data[self._position - length : self._position]


def _parse_topic_line(line: bytes) -> TopicConfig:
    name, *rest = line.decode("utf-8", "replace").split(" ", 5)
    if len(rest) < 4:
        raise BodyError(f"registration: topic {line[:80]!r} has too few words")
    members: dict[str, Any] = {
        "topicName": name,
        "readQueueNums": rest[0],
        "writeQueueNums": rest[1],
        "perm": rest[2],
        "topicFilterType": rest[3],
    }
    if len(rest) > 4:
        members["attributes"] = loads(rest[4])
    return convert(members, WireTopicConfig).model()
