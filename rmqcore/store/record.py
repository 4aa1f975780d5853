"""The stored record: its layout for appending, and how it is read back.

Bytes are RocketMQ's message record, so that a pull hands them out exactly as stored:

    0 size | 4 magic | 8 body CRC | 12 queue id | 16 flag | 20 queue offset |
    28 commit log offset | 36 sys flag | 40 born time | 48 born host | store time |
    store host | reconsume times | prepared offset | body length, body |
    topic length, topic | properties length, properties

A host is 8 bytes (IPv4 and port) or 20 (IPv6 and port), as two bits of the sys flag
say. Topics longer than 127 bytes need the second form of the record, which has its own
magic and a two-byte topic length. A blank record (size and magic only) fills the end
of a log file.

`encode` is called once per message at the moment of appending, when both offsets and
the time are known, so nothing is patched afterwards. Cost: one pack, one CRC and one
join, about 1.5 µs for a small message.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from rmqcore.errors import ArgumentError, StoreError
from rmqcore.model.message import MAX_PROPERTIES_BYTES
from rmqcore.protocol.ids import IPV6_HOST_BYTES
from rmqcore.protocol.message import (
    BORN_HOST_V6_FLAG,
    CRC_MASK,
    MAGIC_BLANK,
    MAGIC_V1,
    MAGIC_V2,
    MAX_TOPIC_BYTES,
    STORE_HOST_V6_FLAG,
)

BLANK_BYTES: Final = 8
LONGEST_V1_TOPIC: Final = 127

_HEADS: Final = {
    (born, store): struct.Struct(f">iIiiiqqiq{born}sq{store}siqi")
    for born in (8, 20)
    for store in (8, 20)
}
_HEAD_V4: Final = _HEADS[8, 8]
_V4_OVERHEAD: Final = _HEAD_V4.size + 1 + 2
SMALLEST_RECORD: Final = _V4_OVERHEAD
_INT16: Final = struct.Struct(">h")
_INT64: Final = struct.Struct(">q")
_SIZE_MAGIC: Final = struct.Struct(">iI")

QUEUE_OFFSET_AT: Final = 20
SYS_FLAG_AT: Final = 36
_BORN_HOST_AT: Final = 48


@dataclass(slots=True)
class PendingRecord:
    """A message that is ready to be appended, but has no place and no time yet.

    `properties` is the properties string as bytes; hosts are 8 or 20 packed bytes, the
    sys flag's two host bits are set here. `values` is the same properties parsed, where
    the caller has done that already.
    """

    topic: str
    queue_id: int
    body: bytes
    properties: bytes
    born_timestamp: int
    born_host: bytes
    store_host: bytes
    flag: int = 0
    sys_flag: int = 0
    reconsume_times: int = 0
    prepared_transaction_offset: int = 0
    values: Mapping[bytes, bytes] | None = None
    topic_bytes: bytes = b""
    size: int = 0

    def __post_init__(self) -> None:
        topic = self.topic_bytes = self.topic.encode()
        if len(topic) > MAX_TOPIC_BYTES:
            raise ArgumentError(
                f"topic {self.topic!r} of {len(topic)} bytes, limit {MAX_TOPIC_BYTES}"
            )
        if len(self.properties) > MAX_PROPERTIES_BYTES:
            raise ArgumentError(
                f"properties of {len(self.properties)} bytes, "
                f"limit {MAX_PROPERTIES_BYTES}"
            )
        size = _V4_OVERHEAD + len(self.body) + len(topic) + len(self.properties)
        if len(self.born_host) == IPV6_HOST_BYTES:
            self.sys_flag |= BORN_HOST_V6_FLAG
            size += 12
        if len(self.store_host) == IPV6_HOST_BYTES:
            self.sys_flag |= STORE_HOST_V6_FLAG
            size += 12
        self.size = size + 1 if len(topic) > LONGEST_V1_TOPIC else size


def encode(
    record: PendingRecord, queue_offset: int, log_offset: int, store_timestamp: int
) -> bytes:
    """Return the record's bytes, now that its place and time are known."""
    body, topic, properties = record.body, record.topic_bytes, record.properties
    is_long = len(topic) > LONGEST_V1_TOPIC
    head = _HEADS[len(record.born_host), len(record.store_host)].pack(
        record.size,
        MAGIC_V2 if is_long else MAGIC_V1,
        zlib.crc32(body) & CRC_MASK,
        record.queue_id,
        record.flag,
        queue_offset,
        log_offset,
        record.sys_flag,
        record.born_timestamp,
        record.born_host,
        store_timestamp,
        record.store_host,
        record.reconsume_times,
        record.prepared_transaction_offset,
        len(body),
    )
    topic_length = len(topic).to_bytes(2 if is_long else 1, "big")
    return b"".join(
        (head, body, topic_length, topic, _INT16.pack(len(properties)), properties)
    )


def blank(size: int) -> bytes:
    """Return the blank record that says that the file ends after `size` bytes."""
    return _SIZE_MAGIC.pack(size, MAGIC_BLANK)


def store_timestamp_of(record: bytes | memoryview) -> int:
    """Return when the record was stored, in ms."""
    (sys_flag,) = struct.unpack_from(">i", record, SYS_FLAG_AT)
    at = _BORN_HOST_AT + (20 if sys_flag & BORN_HOST_V6_FLAG else 8)
    timestamp: int = _INT64.unpack_from(record, at)[0]
    return timestamp


class StoredRecord(NamedTuple):
    """The parts of a stored record that consume queue and key index need."""

    size: int
    topic: str
    queue_id: int
    queue_offset: int
    log_offset: int
    sys_flag: int
    store_timestamp: int
    properties: bytes


def parse(data: bytes) -> StoredRecord:
    """Read and check a whole record.

    Raises `StoreError`, naming what is wrong: every length must add up, the body must
    match its CRC, the topic must be UTF-8, and properties, if any, must end with their
    separator and hold no zero byte: a page that never reached the disk consists of
    these.
    """
    size, magic, crc, queue_id, _, queue_offset, log_offset, sys_flag = (
        struct.unpack_from(">iIiiiqqi", data, 0)
    )
    if magic not in (MAGIC_V1, MAGIC_V2):
        raise StoreError(f"magic {magic:#010x} is not a record's")
    born = 20 if sys_flag & BORN_HOST_V6_FLAG else 8
    head = _HEADS[born, 20 if sys_flag & STORE_HOST_V6_FLAG else 8]
    if size != len(data) or size < head.size + 3:
        raise StoreError(f"record size {size} does not fit {len(data)} bytes")
    store_timestamp: int = _INT64.unpack_from(data, _BORN_HOST_AT + born)[0]
    body_bytes: int = struct.unpack_from(">i", data, head.size - 4)[0]
    topic_at = head.size + body_bytes
    if body_bytes < 0 or topic_at + 3 > size:
        raise StoreError(f"body length {body_bytes} does not fit record of {size}")
    if zlib.crc32(data[head.size : topic_at]) & CRC_MASK != crc:
        raise StoreError("the body does not match its CRC")
    topic, properties = _tail(data, topic_at, 2 if magic == MAGIC_V2 else 1)
    return StoredRecord(
        size,
        topic,
        queue_id,
        queue_offset,
        log_offset,
        sys_flag,
        store_timestamp,
        properties,
    )


def _tail(data: bytes, topic_at: int, length_bytes: int) -> tuple[str, bytes]:
    text_at = topic_at + length_bytes
    properties_at = text_at + int.from_bytes(data[topic_at:text_at], "big")
    if properties_at + 2 > len(data):
        raise StoreError("the topic's length passes the record's end")
    properties = data[properties_at + 2 :]
    if _INT16.unpack_from(data, properties_at)[0] != len(properties):
        raise StoreError("the properties' length does not add up")
    if properties and (b"\0" in properties or not properties.endswith(b"\x02")):
        raise StoreError("the properties are torn")
    return _topic(data[text_at:properties_at]), properties


@lru_cache(maxsize=4096)
def _topic(name: bytes) -> str:
    if not name:
        raise StoreError("the record has no topic")
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        raise StoreError(f"the topic is not UTF-8: {error}") from None
