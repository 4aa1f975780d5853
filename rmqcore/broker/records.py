"""Makes the record that is stored from a message that arrives.

Every message gets the broker's own properties. A message with a delay level is stored
under the schedule topic, in the queue of its level, with its real topic and queue as
properties; delivery undoes this when its time has come.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

from rmqcore.model.message import MAX_PROPERTIES_BYTES
from rmqcore.model.topic import SCHEDULE_TOPIC
from rmqcore.store import PendingRecord, property_values

from .properties import terminated, with_property, without_property
from .settings import BrokerSettings

_NOT_THE_CLIENTS: Final = frozenset((b"CLUSTER", b"MSG_REGION", b"TRACE_ON", b"POP_CK"))
DELAYING: Final = frozenset(
    (b"DELAY", b"TIMER_DELIVER_MS", b"TIMER_DELAY_SEC", b"TIMER_DELAY_MS")
)
"""Properties by which a message asks to be delivered later."""
_TIMER_PROPERTIES: Final = frozenset(
    (b"TIMER_DELIVER_MS", b"TIMER_DELAY_SEC", b"TIMER_DELAY_MS")
)


def own_properties(settings: BrokerSettings) -> bytes:
    """Return the properties that this broker adds to every message."""
    return (
        f"MSG_REGION\x01{settings.region}\x02TRACE_ON\x01true\x02"
        f"CLUSTER\x01{settings.cluster}\x02"
    ).encode()


def stored_properties(
    text: str, own: bytes, chance: random.Random
) -> tuple[bytes, dict[bytes, bytes]]:
    """Return the properties of a message that was sent, as bytes and parsed.

    The broker's own are added to the bytes. A message without a unique key gets one,
    made with `chance`.
    """
    properties = terminated(text.encode())
    values = property_values(properties)
    if not _NOT_THE_CLIENTS.isdisjoint(values):
        for name in _NOT_THE_CLIENTS & values.keys():
            del values[name]
            properties = without_property(properties, name)
    if not values.get(b"UNIQ_KEY"):
        values[b"UNIQ_KEY"] = unique_key = b"%032X" % chance.getrandbits(128)
        properties = with_property(properties, b"UNIQ_KEY", unique_key)
    return properties + own, values


def properties_fault(properties: bytes) -> str | None:
    """Return why properties cannot be stored; None when they can."""
    if len(properties) > MAX_PROPERTIES_BYTES:
        return (
            f"properties of {len(properties)} bytes, the broker's included, "
            f"limit {MAX_PROPERTIES_BYTES}"
        )
    if b"\0" in properties:
        return "properties hold a zero byte"
    return None


def is_timer_message(values: Mapping[bytes, bytes]) -> bool:
    """Tell whether a message asks for delivery at an arbitrary time."""
    return not _TIMER_PROPERTIES.isdisjoint(values)


def delay_level(values: Mapping[bytes, bytes], levels: int) -> int:
    """Return the delay level, cut to the highest there is; 0 for none."""
    text = values.get(b"DELAY")
    if text is None:
        return 0
    try:
        return max(0, min(int(text), levels))
    except ValueError:
        return 0


def delayed_properties(properties: bytes, topic: str, queue_id: int) -> bytes:
    """Return the properties of a waiting message, with its place of delivery."""
    properties = with_property(properties, b"REAL_TOPIC", topic.encode())
    return with_property(properties, b"REAL_QID", b"%d" % queue_id)


def delayed(record: PendingRecord, level: int) -> PendingRecord:
    """Return the record as it is stored for delivery after the level's delay."""
    properties = delayed_properties(record.properties, record.topic, record.queue_id)
    return PendingRecord(
        SCHEDULE_TOPIC,
        level - 1,
        record.body,
        properties,
        record.born_timestamp,
        record.born_host,
        record.store_host,
        record.flag,
        record.sys_flag,
        record.reconsume_times,
    )
