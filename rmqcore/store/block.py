"""Messages of one send, encoded together: one queue, one sender, one moment.

The messages of one request, one or a batch, share topic, queue, times and hosts. A
batch is handled by column, not by message: all flags, all bodies, all properties. The
work for each message is then one call of a compiled function, made by `map` or `zip`,
and only one sum is interpreted per message.

A record contains its own place, so the order is: sizes, place in the log, bytes.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count, repeat
from typing import Final, NamedTuple

from rmqcore.errors import ArgumentError
from rmqcore.protocol.ids import IPV6_HOST_BYTES
from rmqcore.protocol.message import (
    BORN_HOST_V6_FLAG,
    CRC_MASK,
    MAGIC_V1,
    MAGIC_V2,
    MAX_TOPIC_BYTES,
    STORE_HOST_V6_FLAG,
)

from .key_index import topic_seed
from .record import LONGEST_V1_TOPIC

_INT16: Final = struct.Struct(">h")

BlockItem = tuple[int, bytes, bytes, Mapping[bytes, bytes]]
"""Flag, body, properties as stored, and the parsed properties."""


class MessageColumns(NamedTuple):
    """The messages of one send, by column; all columns are equally long.

    `properties` are as stored. `unique_keys`, `keys` and `tags` are the values of
    UNIQ_KEY, KEYS and TAGS: empty bytes where a message has none, and an empty column
    where no message has any. `lengths` are the sizes of body and properties in bytes,
    where every message is known to have the same.
    """

    flags: Sequence[int]
    bodies: Sequence[bytes]
    properties: Sequence[bytes]
    unique_keys: Sequence[bytes] = ()
    keys: Sequence[bytes] = ()
    tags: Sequence[bytes] = ()
    lengths: tuple[int, int] | None = None

    @classmethod
    def of(cls, items: Iterable[BlockItem]) -> MessageColumns:
        """Return the columns of messages that are given one by one."""
        flags, bodies, properties, values = zip(*items, strict=True)
        return cls(
            flags,
            bodies,
            properties,
            [each.get(b"UNIQ_KEY", b"") for each in values],
            [each.get(b"KEYS", b"") for each in values],
            [each.get(b"TAGS", b"") for each in values],
        )


class Envelope:
    """The common part of the messages of one send; hosts are 8 or 20 packed bytes.

    The sys flag's two host bits are set here. Raises `ArgumentError` for a topic that
    a record cannot hold.
    """

    __slots__ = (
        "born_host",
        "born_timestamp",
        "form",
        "queue_id",
        "reconsume_times",
        "store_host",
        "sys_flag",
        "topic",
    )

    def __init__(
        self,
        topic: str,
        queue_id: int,
        born_timestamp: int,
        born_host: bytes,
        store_host: bytes,
        *,
        sys_flag: int = 0,
        reconsume_times: int = 0,
    ) -> None:
        self.topic = topic
        self.queue_id = queue_id
        self.born_timestamp = born_timestamp
        self.born_host = born_host
        self.store_host = store_host
        self.form = form = _topic_form(topic, len(born_host), len(store_host))
        self.sys_flag = sys_flag | form.host_flags
        self.reconsume_times = reconsume_times


class TopicForm(NamedTuple):
    """The form of a topic's records between hosts of these sizes."""

    magic: int
    topic_part: bytes
    overhead: int
    host_flags: int
    head: struct.Struct
    shared: struct.Struct
    front: struct.Struct
    back: struct.Struct
    key_seed: int


def encode_one(
    envelope: Envelope,
    item: BlockItem,
    size: int,
    *,
    queue_offset: int,
    log_offset: int,
    store_timestamp: int,
) -> bytes:
    """Return the record of one message at its place; `size` is that of the record."""
    flag, body, properties, _ = item
    form = envelope.form
    head = form.head.pack(
        size,
        form.magic,
        zlib.crc32(body) & CRC_MASK,
        envelope.queue_id,
        flag,
        queue_offset,
        log_offset,
        envelope.sys_flag,
        envelope.born_timestamp,
        envelope.born_host,
        store_timestamp,
        envelope.store_host,
        envelope.reconsume_times,
        0,
        len(body),
    )
    return b"".join(
        (head, body, form.topic_part, _INT16.pack(len(properties)), properties)
    )


def record_sizes(envelope: Envelope, columns: MessageColumns) -> list[int]:
    """Return how many bytes the record of each message has."""
    overhead = envelope.form.overhead
    if columns.lengths is not None:
        return [overhead + sum(columns.lengths)] * len(columns.flags)
    lengths = zip(map(len, columns.bodies), map(len, columns.properties), strict=True)
    return [overhead + body + properties for body, properties in lengths]


def encode_block(
    envelope: Envelope,
    columns: MessageColumns,
    sizes: Sequence[int],
    log_offsets: Sequence[int],
    *,
    queue_offset: int,
    store_timestamp: int,
) -> bytes:
    """Return the records of a batch, one after another, at their places.

    `queue_offset` is that of the first message. Raises `struct.error` for a number
    beyond its field.
    """
    form, (flags, bodies, properties, *_) = envelope.form, columns
    body_lengths: Iterable[int]
    backs: Iterable[bytes]
    if columns.lengths is None:
        body_lengths = map(len, bodies)
        lengths = map(len, properties)
        backs = map(form.back.pack, repeat(form.topic_part), lengths)
    else:
        body_lengths = repeat(columns.lengths[0])
        backs = repeat(form.back.pack(form.topic_part, columns.lengths[1]))
    shared = form.shared.pack(
        envelope.sys_flag,
        envelope.born_timestamp,
        envelope.born_host,
        store_timestamp,
        envelope.store_host,
        envelope.reconsume_times,
        0,
    )
    fronts = map(
        form.front.pack,
        sizes,
        repeat(form.magic),
        [crc & CRC_MASK for crc in map(zlib.crc32, bodies)],
        repeat(envelope.queue_id),
        flags,
        count(queue_offset),
        log_offsets,
        repeat(shared),
        body_lengths,
    )
    records = zip(fronts, bodies, backs, properties, strict=False)
    return b"".join(chain.from_iterable(records))


def key_entries(
    envelope: Envelope, columns: MessageColumns, distances: Sequence[int]
) -> Sequence[int]:
    """Return a hash and a distance in turn for every key, in the order of messages.

    `distances` are the positions of the messages' records in their log file.
    """
    seed, crc32 = envelope.form.key_seed, zlib.crc32
    unique_keys, keys = columns.unique_keys, columns.keys
    hashed: list[Iterable[int]] = []
    # A column with exactly one key for each message need not be checked one by one.
    if all(unique_keys) and b" ".join(keys).split() == list(keys):
        for column in filter(None, (unique_keys, keys)):
            hashed += (map(crc32, column, repeat(seed)), distances)
        return list(chain.from_iterable(zip(*hashed, strict=False)))
    entries: list[int] = []
    none = repeat(b"")
    for unique, listed, distance in zip(
        unique_keys or none, keys or none, distances, strict=False
    ):
        if unique:
            entries += (crc32(unique, seed), distance)
        for key in listed.split():
            entries += (crc32(key, seed), distance)
    return entries


@lru_cache(maxsize=4096)
def _topic_form(topic: str, born_bytes: int, store_bytes: int) -> TopicForm:
    name = topic.encode()
    if len(name) > MAX_TOPIC_BYTES:
        raise ArgumentError(
            f"topic {topic!r} of {len(name)} bytes, limit {MAX_TOPIC_BYTES}"
        )
    is_long = len(name) > LONGEST_V1_TOPIC
    topic_part = len(name).to_bytes(2 if is_long else 1, "big") + name
    head = struct.Struct(f">iIiiiqqiq{born_bytes}sq{store_bytes}siqi")
    shared = struct.Struct(f">iq{born_bytes}sq{store_bytes}siq")
    flags = BORN_HOST_V6_FLAG if born_bytes == IPV6_HOST_BYTES else 0
    flags |= STORE_HOST_V6_FLAG if store_bytes == IPV6_HOST_BYTES else 0
    return TopicForm(
        MAGIC_V2 if is_long else MAGIC_V1,
        topic_part,
        head.size + len(topic_part) + _INT16.size,
        flags,
        head,
        shared,
        struct.Struct(f">iIiiiqq{shared.size}si"),
        struct.Struct(f">{len(topic_part)}sh"),
        topic_seed(name),
    )
