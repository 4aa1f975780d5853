"""Delivering delayed messages when their time has come.

A delayed message waits in the queue of its level, where all have the same delay; so
each queue is in the order of delivery, and only its head has to be looked at. A due
message is stored again under its real topic, then the level's offset moves on. A crash
between the two steps delivers the message twice, but never loses it.

Cost: one look per level that has messages waiting; each round delivers at most 100
messages of a level, so that a flood of them does not hold up other work.
"""

from __future__ import annotations

from typing import Final

from rmqcore.model.topic import SCHEDULE_TOPIC
from rmqcore.protocol.ids import pack_host
from rmqcore.protocol.message import decode_records
from rmqcore.protocol.properties import encode_properties
from rmqcore.store import PendingRecord

from .properties import without_property
from .state import BrokerState

ROUND_MESSAGES: Final = 100


def deliver_due(state: BrokerState, now_ms: int) -> int:
    """Deliver what is due at `now_ms`; return the number of messages.

    Raises `StoreError` when the store cannot take them; they are due again then.
    """
    levels = range(1, len(state.settings.delay_levels_ms) + 1)
    return sum(_deliver_level(state, level, now_ms) for level in levels)


def _deliver_level(state: BrokerState, level: int, now_ms: int) -> int:
    queue_id = level - 1
    end = state.store.max_offset(SCHEDULE_TOPIC, queue_id)
    offset = state.delays.get(level)
    if offset >= end:
        return 0
    offset = max(offset, state.store.min_offset(SCHEDULE_TOPIC, queue_id))
    latest_ms = now_ms + state.settings.delay_levels_ms[queue_id]
    due: list[PendingRecord] = []
    while offset < end and len(due) < ROUND_MESSAGES:
        entry = state.store.entry(SCHEDULE_TOPIC, queue_id, offset)
        # A time further away than the level's delay was written by a different clock.
        if entry is None or now_ms < entry[2] <= latest_ms:
            break
        data = state.store.record_at(entry[0])
        if data is not None:
            due.append(_undelayed(state, data))
        offset += 1
    if due:
        state.store.append_all(due, now_ms)
    if offset != state.delays.get(level):
        state.delays.put(level, offset, now_ms)
    return len(due)


def _undelayed(state: BrokerState, data: bytes) -> PendingRecord:
    """Return the record under its real topic and queue, without the delay."""
    (message,) = decode_records(data, state.settings.name, inflate_bodies=False)
    properties = encode_properties(message.properties).encode()
    return PendingRecord(
        message.properties["REAL_TOPIC"],
        int(message.properties["REAL_QID"]),
        message.body,
        without_property(properties, b"DELAY"),
        message.born_timestamp,
        pack_host(message.born_host),
        state.store_host,
        message.flag,
        message.sys_flag,
        message.reconsume_times,
    )
