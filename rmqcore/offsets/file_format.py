"""The text of a broadcasting client's offsets file, as the Java client writes it (D3).

    {
        "offsetTable":{
            {
                "brokerName":"broker-a",
                "queueId":0,
                "topic":"T"
            }:5
        }
    }

with tabs for indents. The keys are objects, so it is not JSON. The files written here
have the shape of Java client 5.5; 4.9 breaks its lines elsewhere, and both read either.
Java's order is that of its hash table; ours is sorted, so that equal offsets are equal
bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rmqcore.errors import BodyError
from rmqcore.model import MessageQueue, sorted_queues
from rmqcore.protocol.fastjson import loads, write_string

_MEMBER: Final = "offsetTable"
_MAX_OFFSET: Final = 2**63 - 1


def encode_offsets(offsets: Mapping[MessageQueue, int]) -> bytes:
    """Return the file's bytes for these offsets."""
    entries = ",".join(
        f'\n\t\t{{\n\t\t\t"brokerName":{write_string(queue.broker_name)},'
        f'\n\t\t\t"queueId":{queue.queue_id},'
        f'\n\t\t\t"topic":{write_string(queue.topic)}\n\t\t}}:{offsets[queue]}'
        for queue in sorted_queues(offsets)
    )
    table = f"{{{entries}\n\t}}" if entries else "{}"
    return f'{{\n\t"{_MEMBER}":{table}\n}}'.encode()


def decode_offsets(data: bytes) -> dict[MessageQueue, int]:
    """Return the offsets that a file holds, in either format.

    Raises `BodyError` naming the entry that cannot be read.
    """
    document = loads(data)
    table = document.get(_MEMBER) if isinstance(document, dict) else None
    if not isinstance(table, dict):
        raise BodyError(f"an offsets file has an object {_MEMBER}, got {table!r:.80}")
    return {_queue(key): _offset(key, value) for key, value in table.items()}


def _queue(key: Any) -> MessageQueue:
    # A key may also be a string that holds the object, which Java also reads.
    members = loads(key) if isinstance(key, str) else key
    match members:
        case {"brokerName": str(broker), "queueId": int(number), "topic": str(topic)}:
            return MessageQueue(topic, broker, number)
        case _:
            raise BodyError(f"an offsets file has queues as keys, got {key!r:.120}")


def _offset(key: Any, value: Any) -> int:
    if type(value) is int and 0 <= value <= _MAX_OFFSET:
        return value
    raise BodyError(
        f"offset of {key!r:.120} is {value!r:.40}, allowed 0 to {_MAX_OFFSET}"
    )
