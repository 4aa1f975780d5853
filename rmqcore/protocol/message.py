"""The stored record of a message, as commit logs hold it and pulls return it.

     0 size | 4 magic | 8 body CRC | 12 queue id | 16 flag | 20 queue offset
    28 commit-log offset | 36 sysFlag | 40 born time | 48 born host (8 or 20 bytes)
    store time | store host (8 or 20) | reconsume times | prepared offset
    body length, body | topic length (1 byte, V2: 2), topic | properties length, text

Numbers are big-endian and signed. Two bits of sysFlag say which hosts are IPv6. V2 is
for topics longer than 127 bytes. The CRC is of the body as stored, compressed or not,
without its sign bit.

Cost of decoding: about 4 µs for a record, one copy of its body.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Final, cast

from rmqcore.errors import BodyError
from rmqcore.model import MessageExt

from .compression import COMPRESSED_FLAG, KIND_MASK, compression_kind, inflate
from .ids import unpack_host
from .properties import decode_properties

MAGIC_V1: Final = 0xDAA320A7
MAGIC_V2: Final = 0xDAA320AB
MAGIC_BLANK: Final = 0xCBD43194

BORN_HOST_V6_FLAG: Final = 0x10
STORE_HOST_V6_FLAG: Final = 0x20
CRC_MASK: Final = 0x7FFF_FFFF

MAX_TOPIC_BYTES: Final = 255
"""The limit for %RETRY% and %DLQ% topics; others may have 127."""

MAX_PULL_INFLATED_BYTES: Final = 256 * 1024 * 1024
"""The limit for all inflated bodies of one pull together."""

_HOST_FLAGS: Final = BORN_HOST_V6_FLAG | STORE_HOST_V6_FLAG
_SIZE_AND_MAGIC: Final = struct.Struct(">iI")
_SYS_FLAG: Final = struct.Struct(">i")
_SYS_FLAG_AT: Final = 36
_TIME: Final = struct.Struct(">q")
_INT16: Final = struct.Struct(">h")
_HEADS: Final = {
    born | store: struct.Struct(
        f">iIiiiqqiq{20 if born else 8}sq{20 if store else 8}siqi"
    )
    for born in (0, BORN_HOST_V6_FLAG)
    for store in (0, STORE_HOST_V6_FLAG)
}


class _Draft:
    """A message while it is being decoded; its class then becomes `MessageExt`.

    Setting each field of a frozen class takes a call, and a third of the decoding time.
    The same fields in the same order make the two classes interchangeable.
    """

    topic: str
    broker_name: str
    queue_id: int
    queue_offset: int
    commit_log_offset: int
    body: bytes
    properties: Mapping[str, str]
    flag: int
    sys_flag: int
    born_timestamp: int
    born_host: str
    store_timestamp: int
    store_host: str
    reconsume_times: int
    prepared_transaction_offset: int
    body_crc: int
    store_size: int
    offset_msg_id: str

    __slots__ = tuple(each.name for each in fields(MessageExt))


def decode_records(
    data: bytes,
    broker_name: str,
    *,
    inflate_bodies: bool = True,
    check_crc: bool = False,
) -> list[MessageExt]:
    """Return the messages of a pull body, in order.

    Compressed bodies are inflated unless told otherwise, and the sysFlag then no longer
    says that they are compressed. Raises `BodyError` for a record that is cut off,
    whose lengths disagree, or, when asked, whose CRC is wrong.
    """
    messages: list[MessageExt] = []
    position = 0
    budget = MAX_PULL_INFLATED_BYTES
    while position < len(data):
        message = _decode_record(data, position, broker_name, check_crc)
        position += message.store_size
        if inflate_bodies and message.sys_flag & COMPRESSED_FLAG:
            message = inflate_message(message, limit_bytes=budget)
            budget -= len(message.body)
        messages.append(message)
    return messages


def inflate_message(message: MessageExt, *, limit_bytes: int) -> MessageExt:
    """Return the message with its body as the producer gave it.

    Raises `BodyError` when the body is broken or grows beyond the limit.
    """
    kind = compression_kind(message.sys_flag)
    return replace(
        message,
        body=inflate(message.body, kind, limit_bytes=limit_bytes),
        sys_flag=message.sys_flag & ~(COMPRESSED_FLAG | KIND_MASK),
    )


def _decode_record(
    data: bytes, start: int, broker_name: str, check_crc: bool
) -> MessageExt:
    size, magic = _size_and_magic(data, start)
    (sys_flag,) = _SYS_FLAG.unpack_from(data, start + _SYS_FLAG_AT)
    head = _HEADS[sys_flag & _HOST_FLAGS]
    end = start + size
    if start + head.size > end:
        raise BodyError(f"record at {start} of {size} bytes, its head has {head.size}")
    (
        _,
        _,
        crc,
        queue_id,
        flag,
        queue_offset,
        commit_log_offset,
        _,
        born_timestamp,
        born_host,
        store_timestamp,
        store_host,
        reconsume_times,
        prepared_offset,
        body_length,
    ) = head.unpack_from(data, start)
    body_at = start + head.size
    topic_at = body_at + body_length + (1 if magic == MAGIC_V1 else 2)
    if body_length < 0 or topic_at > end:
        raise _overrun(start, "body", body_length)
    topic_length = int.from_bytes(data[body_at + body_length : topic_at], "big")
    properties_at = topic_at + topic_length + 2
    if properties_at > end:
        raise _overrun(start, "topic", topic_length)
    (properties_length,) = _INT16.unpack_from(data, properties_at - 2)
    if properties_at + properties_length != end:
        raise _overrun(start, "properties", properties_length)
    body = data[body_at : body_at + body_length]
    if check_crc and zlib.crc32(body) & CRC_MASK != crc:
        raise BodyError(
            f"record at {start}: body CRC is {zlib.crc32(body) & CRC_MASK}, not {crc}"
        )
    try:
        topic = data[topic_at : properties_at - 2].decode()
        properties = data[properties_at:end].decode()
    except UnicodeDecodeError as error:
        raise BodyError(
            f"record at {start} holds text that is not UTF-8: {error}"
        ) from None
    made = _Draft()
    made.topic = topic
    made.broker_name = broker_name
    made.queue_id = queue_id
    made.queue_offset = queue_offset
    made.commit_log_offset = commit_log_offset
    made.body = body
    made.properties = decode_properties(properties)
    made.flag = flag
    made.sys_flag = sys_flag
    made.born_timestamp = born_timestamp
    made.born_host = unpack_host(born_host)
    made.store_timestamp = store_timestamp
    made.store_host = unpack_host(store_host)
    made.reconsume_times = reconsume_times
    made.prepared_transaction_offset = prepared_offset
    made.body_crc = crc
    made.store_size = size
    made.offset_msg_id = (store_host + _TIME.pack(commit_log_offset)).hex().upper()
    made.__class__ = MessageExt  # type: ignore[assignment]
    return cast(MessageExt, made)


def _size_and_magic(data: bytes, start: int) -> tuple[int, int]:
    """Return a record's size and magic; the size is checked against the bytes there."""
    left = len(data) - start
    if left < _SYS_FLAG_AT + 4:
        raise BodyError(f"record at {start} is cut off after {left} bytes")
    size, magic = _SIZE_AND_MAGIC.unpack_from(data, start)
    if magic not in (MAGIC_V1, MAGIC_V2):
        raise BodyError(f"record at {start} has magic {magic:#010x}")
    if size > left:
        raise BodyError(f"record at {start} of {size} bytes is cut off after {left}")
    return size, magic


def _overrun(start: int, what: str, length: int) -> BodyError:
    return BodyError(f"record at {start}: {what} of {length} bytes does not fit")
