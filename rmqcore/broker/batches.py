"""The messages in the body of one batch request (320).

    size:4 magic:4 crc:4 flag:4 bodyLength:4 body propertiesLength:2 properties

Every message is stored as a record of its own, its properties as they came.
"""

from __future__ import annotations

import struct
from typing import Final

from rmqcore.errors import BodyError
from rmqcore.model.message import MAX_PROPERTIES_BYTES
from rmqcore.store import BlockItem, property_values

from .properties import terminated
from .records import properties_fault

_HEAD: Final = struct.Struct(">iiiii")
_INT16: Final = struct.Struct(">h")
_SURELY_FITS: Final = MAX_PROPERTIES_BYTES - 1


def batch_items(body: bytes) -> list[BlockItem]:
    """Return flag, body, properties, and properties taken apart, of each message.

    Raises `BodyError` naming the message that does not fit, or cannot be in a batch.
    """
    items: list[BlockItem] = []
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
        properties = body[properties_at:end]
        if not properties.endswith(b"\x02"):
            properties = terminated(properties)
        values = property_values(properties)
        if b"DELAY" in values or b"\0" in properties or len(properties) > _SURELY_FITS:
            fault = properties_fault(properties)
            if fault is None and values.get(b"DELAY", b"0") != b"0":
                fault = "has a delay level"
            if fault is not None:
                raise BodyError(f"batch: message at {at}: {fault}")
        items.append((flag, body[body_at:length_at], properties, values))
        at = end
    return items
