"""Tags: Java's hash of them, and the messages that a tag expression lets through.

A broker filters by hash, so it may hand out a message of another tag with the same
hash; the consumer checks again by the tag itself.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Final

from rmqcore.errors import ArgumentError
from rmqcore.model import SubscriptionData
from rmqcore.model.queue import utf16_key
from rmqcore.model.subscription import SUBSCRIBE_ALL

TAG_SEPARATOR: Final = "||"


@lru_cache(maxsize=8192)
def java_string_hash(text: str) -> int:
    """Return Java's `String.hashCode`: over UTF-16 units, signed, 32 bits wide."""
    units = utf16_key(text)
    value = 0
    for unit in struct.unpack(f">{len(units) // 2}H", units):
        value = (31 * value + unit) & 0xFFFF_FFFF
    return value - 0x1_0000_0000 if value & 0x8000_0000 else value


def tags_code(tag: str | None) -> int:
    """Return the number that a consume queue keeps for a tag, 0 for none."""
    return java_string_hash(tag) if tag else 0


def parse_tag_expression(
    topic: str, expression: str | None, sub_version: int = 0
) -> SubscriptionData:
    """Return the subscription for an expression such as `TagA || TagB`.

    None, empty and `*` mean all. `sub_version` is the time of subscribing in ms.
    Raises `ArgumentError` when there are only separators.
    """
    if not expression or expression.strip() == SUBSCRIBE_ALL:
        return SubscriptionData(topic, SUBSCRIBE_ALL, sub_version=sub_version)
    tags = frozenset(filter(None, map(str.strip, expression.split(TAG_SEPARATOR))))
    if not tags:
        raise ArgumentError(f"tag expression {expression!r} of {topic} names no tag")
    codes = frozenset(map(java_string_hash, tags))
    return SubscriptionData(topic, expression, tags, codes, sub_version)
