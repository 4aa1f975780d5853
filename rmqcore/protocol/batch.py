"""Batches: many messages of one topic in the body of one request (code 320).

Each item is `size:4 0:4 0:4 flag:4 bodyLength:4 body propertiesLength:2 properties`;
magic and CRC are left to the broker, which stores each item as a record of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Final, NamedTuple

from rmqcore.errors import BodyError, LocalProtocolError
from rmqcore.model import Message
from rmqcore.model.message import MAX_PROPERTIES_BYTES

from .properties import decode_properties, encode_properties

_HEAD: Final = struct.Struct(">iiiii")
_INT16: Final = struct.Struct(">h")
_SMALLEST: Final = _HEAD.size + _INT16.size


class BatchItem(NamedTuple):
    """One message of a batch; the topic is in the request's header."""

    flag: int
    body: bytes
    properties: Mapping[str, str]


def encode_batch(messages: Iterable[Message]) -> bytes:
    """Return the body of 320; header properties are not inherited by items.

    Raises `LocalProtocolError` when a message's properties are too long.
    """
    sent = list(messages)
    texts = [encode_properties(message.properties).encode() for message in sent]
    return encode_items(
        [message.flag for message in sent], [message.body for message in sent], texts
    )


def encode_items(
    flags: Iterable[int], bodies: Sequence[bytes], properties: Sequence[bytes]
) -> bytes:
    """Return the body of 320, given the messages' parts by column."""
    body_lengths = list(map(len, bodies))
    lengths = list(map(len, properties))
    longest = max(lengths, default=0)
    if longest > MAX_PROPERTIES_BYTES:
        raise LocalProtocolError(
            f"properties of {longest} bytes, limit {MAX_PROPERTIES_BYTES}"
        )
    sizes = [
        _SMALLEST + body + text
        for body, text in zip(body_lengths, lengths, strict=True)
    ]
    none = repeat(0)
    heads = map(_HEAD.pack, sizes, none, none, flags, body_lengths)
    items = zip(heads, bodies, map(_INT16.pack, lengths), properties, strict=True)
    return b"".join(chain.from_iterable(items))


def decode_batch(data: bytes) -> list[BatchItem]:
    """Return the items of a batch; raise `BodyError` when lengths disagree."""
    items: list[BatchItem] = []
    position = 0
    while position < len(data):
        item, position = _decode_item(data, position)
        items.append(item)
    return items


def _decode_item(data: bytes, start: int) -> tuple[BatchItem, int]:
    left = len(data) - start
    if left < _SMALLEST:
        raise BodyError(f"batch item at {start} is cut off after {left} bytes")
    size, _, _, flag, body_length = _HEAD.unpack_from(data, start)
    if not _SMALLEST <= size <= left:
        raise BodyError(f"batch item at {start} of {size} bytes with {left} left")
    if not 0 <= body_length <= size - _SMALLEST:
        raise BodyError(f"batch item at {start}: body of {body_length} in {size} bytes")
    body_at = start + _HEAD.size
    properties_at = body_at + body_length + _INT16.size
    (properties_length,) = _INT16.unpack_from(data, properties_at - _INT16.size)
    end = start + size
    if properties_at + properties_length != end:
        raise BodyError(
            f"batch item at {start}: properties of {properties_length} bytes, "
            f"{end - properties_at} are there"
        )
    try:
        properties = data[properties_at:end].decode()
    except UnicodeDecodeError as error:
        raise BodyError(f"batch item at {start}: properties: {error}") from None
    body = data[body_at : body_at + body_length]
    return BatchItem(flag, body, decode_properties(properties)), end
