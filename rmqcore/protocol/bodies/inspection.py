"""Bodies that show a broker from the inside: a consume queue (321), replicas (907)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from rmqcore.model import SubscriptionData
from rmqcore.protocol.fastjson import dumps

from .codec import BodyDecoder, Int32, Int64
from .heartbeat import WireSubscription, subscription_members


class ConsumeQueueEntry(msgspec.Struct, frozen=True, rename="camel"):
    """One entry of a consume queue; the rest is for filters of 5.x."""

    physic_offset: Int64
    physic_size: Int32
    tags_code: Int64
    extend_data_json: str | None = None
    bit_map: str | None = None
    eval: bool = False
    msg: str | None = None


@dataclass(frozen=True, slots=True)
class ConsumeQueueSlice:
    """Entries of a consume queue, and where it begins and ends.

    When asked for a group, `subscription` is its subscription of the topic, and
    `filter_data` says why there is none.
    """

    entries: Sequence[ConsumeQueueEntry]
    min_index: int
    max_index: int
    subscription: SubscriptionData | None = None
    filter_data: str | None = None


class HaStatus(msgspec.Struct, frozen=True, rename="camel"):
    """Whether a broker is a master, how far its log goes, and its slaves."""

    master: bool
    master_commit_log_max_offset: Int64
    in_sync_slave_nums: Int32
    ha_connection_info: tuple[dict[str, object], ...] = ()


class _Slice(msgspec.Struct, rename="camel"):
    queue_data: list[ConsumeQueueEntry] | None = None
    max_queue_index: Int64 = 0
    min_queue_index: Int64 = 0
    subscription_data: WireSubscription | None = None
    filter_data: str | None = None


_SLICE: Final = BodyDecoder(_Slice)
_HA: Final = BodyDecoder(HaStatus)


def decode_consume_queue(data: bytes) -> ConsumeQueueSlice:
    """Return the entries of a consume queue (321)."""
    body = _SLICE.decode(data)
    subscription = body.subscription_data
    return ConsumeQueueSlice(
        tuple(body.queue_data or ()),
        body.min_queue_index,
        body.max_queue_index,
        subscription.model() if subscription else None,
        body.filter_data,
    )


def encode_consume_queue(found: ConsumeQueueSlice) -> bytes:
    """Return the body of 321."""
    known = found.subscription
    return dumps(
        {
            "filterData": found.filter_data,
            "maxQueueIndex": found.max_index,
            "minQueueIndex": found.min_index,
            "queueData": [
                dict(sorted(msgspec.to_builtins(entry).items()))
                for entry in found.entries
            ],
            "subscriptionData": subscription_members(known) if known else None,
        }
    )


def decode_ha_status(data: bytes) -> HaStatus:
    """Return a broker's view of its replicas (907)."""
    return _HA.decode(data)


def encode_ha_status(status: HaStatus) -> bytes:
    """Return the body of 907."""
    return dumps(dict(sorted(msgspec.to_builtins(status).items())))
