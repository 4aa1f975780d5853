"""The messages in the body of one batch request (320).

    size:4 magic:4 crc:4 flag:4 bodyLength:4 body propertiesLength:2 properties

Every message is stored as a record of its own, with its properties as they came. Most
batches hold messages of one form, which are read together: messages of equal lengths
with one compiled struct, properties of the same names by column. Others are read one by
one, and so is everything that must be refused.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from rmqcore.errors import BodyError
from rmqcore.store import (
    BlockItem,
    MessageColumns,
    property_columns,
    property_values,
)

from .properties import terminated
from .records import properties_fault

_HEAD: Final = struct.Struct(">iiiii")
_INT16: Final = struct.Struct(">h")
_SMALLEST: Final = _HEAD.size + _INT16.size

_Parts = tuple[Sequence[int], Sequence[bytes], Sequence[bytes]]


def batch_columns(body: bytes) -> MessageColumns:
    """Return the messages of a batch.

    Raises `BodyError`, naming the message that does not fit or is not allowed in a
    batch.
    """
    alike = _alike(body)
    parts = _one_by_one(body) if alike is None else alike
    values = property_columns(parts[2])
    if values is None or b"DELAY" in values:
        return MessageColumns.of(_judged(parts))
    return MessageColumns(
        *parts,
        values.get(b"UNIQ_KEY", ()),
        values.get(b"KEYS", ()),
        values.get(b"TAGS", ()),
        None if alike is None else (len(alike[1][0]), len(alike[2][0])),
    )


def _alike(body: bytes) -> _Parts | None:
    """Return flags, bodies, properties when every message has the first one's lengths.

    Return None when not, or when the lengths do not fit.
    """
    if len(body) < _SMALLEST:
        return None
    size, _, _, _, body_bytes = _HEAD.unpack_from(body, 0)
    properties_bytes = size - _SMALLEST - body_bytes
    if body_bytes <= 0 or properties_bytes < 0 or len(body) % size:
        return None
    rows = _form(body_bytes, properties_bytes).iter_unpack(body)
    sizes, _, _, flags, lengths, bodies, tails, properties = zip(*rows, strict=True)
    messages = len(flags)
    if (
        sizes.count(size) != messages
        or lengths.count(body_bytes) != messages
        or tails.count(properties_bytes) != messages
    ):
        return None
    return flags, bodies, properties


@lru_cache(maxsize=256)
def _form(body_bytes: int, properties_bytes: int) -> struct.Struct:
    return struct.Struct(f">iiiii{body_bytes}sh{properties_bytes}s")


def _one_by_one(body: bytes) -> _Parts:
    flags: list[int] = []
    bodies: list[bytes] = []
    properties: list[bytes] = []
    read_head, read_length = _HEAD.unpack_from, _INT16.unpack_from
    total = len(body)
    at = 0
    while at < total:
        if at + _HEAD.size > total:
            raise BodyError(f"batch: message at {at} is cut off")
        size, _, _, flag, body_bytes = read_head(body, at)
        body_at = at + _HEAD.size
        length_at = body_at + body_bytes
        properties_at = length_at + _INT16.size
        end = at + size
        if body_bytes <= 0 or not properties_at <= end <= total:
            raise BodyError(
                f"batch: message at {at} of {size} bytes with a body of {body_bytes} "
                f"does not fit {total} bytes"
            )
        if read_length(body, length_at)[0] != end - properties_at:
            raise BodyError(f"batch: properties of the message at {at} do not fit")
        flags.append(flag)
        bodies.append(body[body_at:length_at])
        properties.append(body[properties_at:end])
        at = end
    return flags, bodies, properties


def _judged(parts: _Parts) -> list[BlockItem]:
    """Return the messages one by one; refuse any that is not allowed in a batch."""
    items: list[BlockItem] = []
    at = 0
    for flag, body, sent in zip(*parts, strict=True):
        properties = terminated(sent)
        values = property_values(properties)
        fault = properties_fault(properties)
        if fault is None and values.get(b"DELAY", b"0") != b"0":
            fault = "has a delay level"
        if fault is not None:
            raise BodyError(f"batch: message at {at}: {fault}")
        items.append((flag, body, properties, values))
        at += _SMALLEST + len(body) + len(sent)
    return items
