"""Bodies of allocation by the broker: asking for it (400), setting the mode (401)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import msgspec

from rmqcore.model import MessageModel, MessageQueue
from rmqcore.protocol.fastjson import dumps

from .codec import BodyDecoder, Int32, Name, WireQueue

RequestMode = Literal["PULL", "POP"]


class QueryAssignment(msgspec.Struct, frozen=True, rename="camel"):
    """The question of a member that asks for its queues (400)."""

    client_id: Name
    consumer_group: Name
    topic: Name
    message_model: MessageModel = MessageModel.CLUSTERING
    strategy_name: str | None = None


class SetRequestMode(msgspec.Struct, frozen=True, rename="camel"):
    """How a group receives a topic's messages, as an operator sets it (401)."""

    consumer_group: Name
    topic: Name
    mode: RequestMode = "PULL"
    pop_share_queue_num: Int32 = 0


@dataclass(frozen=True, slots=True)
class QueueAssignment:
    """One queue assigned by the broker; a POP queue is shared by members."""

    queue: MessageQueue
    mode: RequestMode = "PULL"
    attachments: Mapping[str, str] = field(default_factory=dict)


class _Assignment(msgspec.Struct, rename="camel"):
    message_queue: WireQueue
    attachments: dict[str, str] | None = None
    mode: RequestMode = "PULL"


class _Assignments(msgspec.Struct, rename="camel"):
    message_queue_assignments: list[_Assignment] | None = None


_QUERY: Final = BodyDecoder(QueryAssignment)
_MODE: Final = BodyDecoder(SetRequestMode)
_ASSIGNMENTS: Final = BodyDecoder(_Assignments)


def decode_query_assignment(data: bytes) -> QueryAssignment:
    """Return a member's question (400)."""
    return _QUERY.decode(data)


def encode_query_assignment(query: QueryAssignment) -> bytes:
    """Return the body of 400."""
    return dumps(
        {
            "clientId": query.client_id,
            "consumerGroup": query.consumer_group,
            "messageModel": query.message_model,
            "strategyName": query.strategy_name,
            "topic": query.topic,
        }
    )


def decode_assignments(data: bytes) -> list[QueueAssignment] | None:
    """Return the queues that the broker assigned (answer to 400).

    None means that the broker cannot tell; a member then keeps its queues.
    """
    items = _ASSIGNMENTS.decode(data).message_queue_assignments
    if items is None:
        return None
    return [
        QueueAssignment(item.message_queue.queue(), item.mode, item.attachments or {})
        for item in items
    ]


def encode_assignments(assignments: Sequence[QueueAssignment] | None) -> bytes:
    """Return the answer to 400; None where the broker cannot tell."""
    if assignments is None:
        return dumps({})
    return dumps(
        {
            "messageQueueAssignments": [
                {
                    "attachments": item.attachments or None,
                    "messageQueue": item.queue,
                    "mode": item.mode,
                }
                for item in assignments
            ]
        }
    )


def decode_set_request_mode(data: bytes) -> SetRequestMode:
    """Return the mode to set (401)."""
    return _MODE.decode(data)


def encode_set_request_mode(request: SetRequestMode) -> bytes:
    """Return the body of 401."""
    return dumps(
        {
            "consumerGroup": request.consumer_group,
            "mode": request.mode,
            "popShareQueueNum": request.pop_share_queue_num,
            "topic": request.topic,
        }
    )
