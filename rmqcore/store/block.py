"""Messages of one send, encoded together: one queue, one sender, one moment.

What a producer sends in one request, one message or a batch, shares topic, queue, times
and hosts. Encoding them in one pass, with the shared part of the record packed once,
is what makes a batch cheap: some 3 µs a message instead of ten.

`encode_block` needs the place of the first record, because a record contains its own
place; the caller encodes for the place it expects and again where that was wrong.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from rmqcore.errors import ArgumentError
from rmqcore.model.topic import SCHEDULE_TOPIC
from rmqcore.protocol.ids import IPV6_HOST_BYTES
from rmqcore.protocol.message import (
    BORN_HOST_V6_FLAG,
    CRC_MASK,
    MAGIC_V1,
    MAGIC_V2,
    MAX_TOPIC_BYTES,
    STORE_HOST_V6_FLAG,
)

from .dispatch import tag_hash, tags_code
from .key_index import topic_seed
from .record import LONGEST_V1_TOPIC

_INT16: Final = struct.Struct(">h")

BlockItem = tuple[int, bytes, bytes, Mapping[bytes, bytes]]
"""Flag, body, properties as stored, and the properties taken apart."""


@dataclass(slots=True)
class Envelope:
    """What the messages of one send share; hosts are 8 or 20 packed bytes.

    The sys flag's two host bits are set here. Raises `ArgumentError` for a topic that
    a record cannot hold.
    """

    topic: str
    queue_id: int
    born_timestamp: int
    born_host: bytes
    store_host: bytes
    sys_flag: int = 0
    reconsume_times: int = 0
    form: TopicForm = field(init=False)

    def __post_init__(self) -> None:
        self.form = _topic_form(self.topic, len(self.born_host), len(self.store_host))
        self.sys_flag |= self.form.host_flags


class TopicForm(NamedTuple):
    """How records of a topic look between hosts of these sizes."""

    magic: int
    topic_part: bytes
    overhead: int
    host_flags: int
    shared: struct.Struct
    front: struct.Struct
    key_seed: int


class Place(NamedTuple):
    """Where and when the first record of a block is stored."""

    queue_offset: int
    log_offset: int
    store_timestamp: int


class Block(NamedTuple):
    """Encoded records and what is derived from them.

    `keys` holds pairs of a key's hash and its record's log offset, one after another,
    `entries` log offset, size and tags code of each record likewise.
    """

    data: bytes
    log_offsets: list[int]
    entries: list[int]
    keys: list[int]
    codes: list[int]


def encode_block(
    envelope: Envelope,
    items: Sequence[BlockItem],
    place: Place,
    delay_levels_ms: Sequence[int],
) -> Block:
    """Return the records of `items`, the first at `place`, one behind another."""
    queue_offset, log_offset, store_timestamp = place
    magic, topic_part, overhead, _, shared_form, front, seed = envelope.form
    queue_id, topic = envelope.queue_id, envelope.topic
    shared = shared_form.pack(
        envelope.sys_flag,
        envelope.born_timestamp,
        envelope.born_host,
        store_timestamp,
        envelope.store_host,
        envelope.reconsume_times,
        0,
    )
    pack, pack_length, crc32 = front.pack, _INT16.pack, zlib.crc32
    is_scheduled = topic == SCHEDULE_TOPIC
    parts: list[bytes] = []
    log_offsets: list[int] = []
    entries: list[int] = []
    keys: list[int] = []
    codes: list[int] = []
    for flag, body, properties, values in items:
        body_bytes, properties_bytes = len(body), len(properties)
        size = overhead + body_bytes + properties_bytes
        parts += (
            pack(
                size,
                magic,
                crc32(body) & CRC_MASK,
                queue_id,
                flag,
                queue_offset,
                log_offset,
                shared,
                body_bytes,
            ),
            body,
            topic_part,
            pack_length(properties_bytes),
            properties,
        )
        if is_scheduled:
            code = tags_code(topic, values, store_timestamp, delay_levels_ms)
        else:
            tag = values.get(b"TAGS")
            code = 0 if tag is None else tag_hash(tag)
        unique = values.get(b"UNIQ_KEY")
        if unique:
            keys += (crc32(unique, seed), log_offset)
        listed = values.get(b"KEYS")
        if listed:
            for key in listed.split():
                keys += (crc32(key, seed), log_offset)
        log_offsets.append(log_offset)
        entries += (log_offset, size, code)
        codes.append(code)
        queue_offset += 1
        log_offset += size
    return Block(b"".join(parts), log_offsets, entries, keys, codes)


@lru_cache(maxsize=4096)
def _topic_form(topic: str, born_bytes: int, store_bytes: int) -> TopicForm:
    name = topic.encode()
    if len(name) > MAX_TOPIC_BYTES:
        raise ArgumentError(
            f"topic {topic!r} of {len(name)} bytes, limit {MAX_TOPIC_BYTES}"
        )
    is_long = len(name) > LONGEST_V1_TOPIC
    shared = struct.Struct(f">iq{born_bytes}sq{store_bytes}siq")
    front = struct.Struct(f">iIiiiqq{shared.size}si")
    topic_part = len(name).to_bytes(2 if is_long else 1, "big") + name
    flags = BORN_HOST_V6_FLAG if born_bytes == IPV6_HOST_BYTES else 0
    flags |= STORE_HOST_V6_FLAG if store_bytes == IPV6_HOST_BYTES else 0
    return TopicForm(
        MAGIC_V2 if is_long else MAGIC_V1,
        topic_part,
        front.size + len(topic_part) + _INT16.size,
        flags,
        shared,
        front,
        topic_seed(name),
    )
