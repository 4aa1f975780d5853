"""Bodies about offsets: of all groups (43), resets (220, 222), members (221, 223).

The body of 43 is the largest that is read often. Its inner tables, `{0:5,1:6}`, become
flat lists, `[0,5,1,6]`, by one substitution for each group, not one for each queue.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from rmqcore.errors import BodyError
from rmqcore.model import MessageQueue
from rmqcore.protocol.fastjson import dumps, write_string
from rmqcore.protocol.fastjson.read import check_limits

from .codec import (
    BodyDecoder,
    DataVersion,
    Int64,
    WireQueue,
    by_queue,
    queue_pairs,
    quote_bare_keys,
    reshape_tables,
    rewrite_one_table,
)

_INNER_TABLE: Final = re.compile(rb'(?<=":)\{((?:-?[0-9]++:-?[0-9]++,?+)*+)\}')

OFFSET_KEY_SEPARATOR: Final = "@"


class ConsumerOffsets(msgspec.Struct, frozen=True):
    """The offsets that all groups have committed on one broker (43).

    `offsets` maps "topic@group" to a map from queue id to offset.
    """

    offsets: Mapping[str, Mapping[int, int]]
    data_version: DataVersion = DataVersion()


class ConsumerStatus(msgspec.Struct, frozen=True):
    """Offsets as members of a group know them (221 for one, 223 by client id)."""

    offsets: Mapping[MessageQueue, int]
    by_client: Mapping[str, Mapping[MessageQueue, int]] = {}


class _FlatOffsets(msgspec.Struct, rename="camel"):
    offset_table: dict[str, list[Int64]]
    data_version: DataVersion = DataVersion()


class _NestedOffsets(msgspec.Struct, rename="camel"):
    offset_table: dict[str, dict[int, Int64]] = {}
    data_version: DataVersion = DataVersion()


class _DelayOffsets(msgspec.Struct, rename="camel"):
    offset_table: dict[int, Int64] = {}
    data_version: DataVersion = DataVersion()


class _CorrectionOffsets(msgspec.Struct, rename="camel"):
    correction_offsets: dict[int, Int64] = {}


class _QueueOffsets(msgspec.Struct, rename="camel"):
    offset_table: list[tuple[WireQueue, Int64]] = []


class _ConsumerStatus(msgspec.Struct, rename="camel"):
    consumer_table: dict[str, list[tuple[WireQueue, Int64]]] = {}
    message_queue_table: list[tuple[WireQueue, Int64]] = []


def _reshape_status(value: dict[str, Any]) -> None:
    reshape_tables("messageQueueTable")(value)
    clients = value.get("consumerTable")
    if isinstance(clients, dict):
        value["consumerTable"] = {
            client_id: queue_pairs(table) for client_id, table in clients.items()
        }


_FLAT: Final = msgspec.json.Decoder(_FlatOffsets)
_NESTED: Final = BodyDecoder(_NestedOffsets, rewrite=quote_bare_keys)
_DELAY: Final = BodyDecoder(_DelayOffsets, rewrite=quote_bare_keys)
_CORRECTION: Final = BodyDecoder(_CorrectionOffsets, rewrite=quote_bare_keys)
_QUEUE_OFFSETS: Final = BodyDecoder(
    _QueueOffsets,
    rewrite=rewrite_one_table,
    reshape=reshape_tables("offsetTable"),
)
_STATUS: Final = BodyDecoder(_ConsumerStatus, reshape=_reshape_status)


def decode_consumer_offsets(data: bytes) -> ConsumerOffsets:
    """Return the offsets that all groups have committed on one broker (43)."""
    flat = _flatten(data)
    if flat is not None:
        table = {
            key: dict(zip(pairs[::2], pairs[1::2], strict=True))
            for key, pairs in flat.offset_table.items()
        }
        return ConsumerOffsets(table, flat.data_version)
    body = _NESTED.decode(data)
    return ConsumerOffsets(body.offset_table, body.data_version)


def _flatten(data: bytes) -> _FlatOffsets | None:
    """Return the body with flat inner tables, or None when that cannot be trusted.

    A name may contain something that looks like an inner table. Then there are more
    substitutions than tables, since each table took one to become a list.
    """
    check_limits(data)
    flat, substitutions = _INNER_TABLE.subn(_flat_list, data)
    try:
        body = _FLAT.decode(flat)
    except (msgspec.MsgspecError, ValueError):
        return None
    return body if substitutions == len(body.offset_table) else None


def _flat_list(found: re.Match[bytes]) -> bytes:
    return b"[" + found[1].replace(b":", b",") + b"]"


def encode_consumer_offsets(body: ConsumerOffsets) -> bytes:
    """Return the body of 43, which is also a broker's file of offsets."""
    tables = ",".join(
        f"{write_string(key)}:{{{','.join(f'{q}:{o}' for q, o in table.items())}}}"
        for key, table in body.offsets.items()
    )
    version = dumps(msgspec.to_builtins(body.data_version)).decode()
    return f'{{"dataVersion":{version},"offsetTable":{{{tables}}}}}'.encode()


def split_offset_key(key: str) -> tuple[str, str]:
    """Return topic and group of a key of 43; `BodyError` when there is no `@`."""
    topic, separator, group = key.partition(OFFSET_KEY_SEPARATOR)
    if not separator:
        raise BodyError(f"offset key {key!r} is not of the form topic@group")
    return topic, group


def decode_delay_offsets(data: bytes) -> dict[int, int]:
    """Return how far each delay level has been delivered (45)."""
    return _DELAY.decode(data).offset_table


def encode_delay_offsets(
    offsets: Mapping[int, int], data_version: DataVersion | None = None
) -> bytes:
    """Return the body of 45."""
    version = msgspec.to_builtins(data_version or DataVersion())
    return dumps({"dataVersion": version, "offsetTable": offsets})


def decode_correction_offsets(data: bytes) -> dict[int, int]:
    """Return, for each queue, the offset below which all has been consumed (308)."""
    return _CORRECTION.decode(data).correction_offsets


def encode_correction_offsets(offsets: Mapping[int, int]) -> bytes:
    """Return the body of 308."""
    return dumps({"correctionOffsets": offsets})


def decode_queue_offsets(data: bytes) -> dict[MessageQueue, int]:
    """Return offsets by queue (220, 222, and a client's offsets file)."""
    return by_queue(_QUEUE_OFFSETS.decode(data).offset_table)


def encode_queue_offsets(offsets: Mapping[MessageQueue, int]) -> bytes:
    """Return the body of 220 and 222."""
    return dumps({"offsetTable": offsets})


def decode_consumer_status(data: bytes) -> ConsumerStatus:
    """Return offsets as members know them (221, 223)."""
    body = _STATUS.decode(data)
    return ConsumerStatus(
        by_queue(body.message_queue_table),
        {client: by_queue(pairs) for client, pairs in body.consumer_table.items()},
    )


def encode_consumer_status(status: ConsumerStatus) -> bytes:
    """Return the body of 221 and 223."""
    return dumps(
        {"consumerTable": status.by_client, "messageQueueTable": status.offsets}
    )
