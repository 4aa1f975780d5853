"""The messages in the body of one batch request (320).

    size:4 magic:4 crc:4 flag:4 bodyLength:4 body propertiesLength:2 properties

Every message is stored as a record of its own, its properties as they came.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from rmqcore.errors import BodyError
from rmqcore.store import property_values

from .properties import terminated
from .records import properties_fault

_HEAD: Final = struct.Struct(">iiiii")
_INT16: Final = struct.Struct(">h")

BatchItem = tuple[int, bytes, bytes, dict[bytes, bytes]]


def batch_items(body: bytes) -> Iterator[BatchItem]:
    """Yield flag, body, properties, and properties taken apart, of each message.

    Raises `BodyError` naming the message that does not fit, or cannot be in a batch.
    """
    at = 0
    while at < len(body):
        if at + _HEAD.size > len(body):
            raise BodyError(f"batch: message at {at} is cut off")
        size, _, _, flag, body_bytes = _HEAD.unpack_from(body, at)
        body_at = at + _HEAD.size
        properties_at = body_at + body_bytes + _INT16.size
        end = at + size
        if body_bytes <= 0 or not properties_at <= end <= len(body):
            raise BodyError(
                f"batch: message at {at} of {size} bytes with a body of {body_bytes} "
                f"does not fit {len(body)} bytes"
            )
        length_at = properties_at - _INT16.size
        if _INT16.unpack_from(body, length_at)[0] != end - properties_at:
            raise BodyError(f"batch: properties of the message at {at} do not fit")
        properties = terminated(body[properties_at:end])
        values = property_values(properties)
        fault = properties_fault(properties)
        if fault is None and values.get(b"DELAY", b"0") != b"0":
            fault = "has a delay level"
        if fault is not None:
            raise BodyError(f"batch: message at {at}: {fault}")
        yield flag, body[body_at:length_at], properties, values
        at = end
