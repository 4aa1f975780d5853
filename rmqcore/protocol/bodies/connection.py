"""Bodies about connected clients: consumers (203), producers (204, 328)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any, Final

import msgspec

from rmqcore.model import (
    ConsumeFromWhere,
    ConsumeType,
    MessageModel,
    SubscriptionData,
)
from rmqcore.protocol.fastjson import dumps

from .codec import BodyDecoder, Int32, Int64
from .heartbeat import WireSubscription, subscription_members


class ClientConnection(msgspec.Struct, frozen=True, rename="camel"):
    """One connection: the address as the broker sees it, language, version ordinal."""

    client_addr: str = ""
    client_id: str = ""
    language: str = ""
    version: Int32 = 0


class _ConsumerConnection(msgspec.Struct, rename="camel"):
    connection_set: list[ClientConnection] = []
    consume_from_where: ConsumeFromWhere | None = None
    consume_type: ConsumeType | None = None
    message_model: MessageModel | None = None
    subscription_table: dict[str, WireSubscription] = {}


class _ProducerConnection(msgspec.Struct, rename="camel"):
    connection_set: list[ClientConnection] = []


class ProducerInfo(msgspec.Struct, frozen=True, rename="camel"):
    """One producer's connection (328); its update time in ms."""

    client_id: str = ""
    language: str = ""
    last_update_timestamp: Int64 = 0
    remote_ip: str = msgspec.field(name="remoteIP", default="")
    version: Int32 = 0


class _ProducerTable(msgspec.Struct):
    data: dict[str, list[ProducerInfo]] = {}


@dataclass(frozen=True, slots=True)
class ConsumerConnection:
    """The members of a group that one broker knows.

    Mode, kind and subscriptions are the group's newest, not each member's own.
    """

    connections: tuple[ClientConnection, ...]
    subscriptions: Mapping[str, SubscriptionData]
    consume_type: ConsumeType | None = None
    message_model: MessageModel | None = None
    consume_from_where: ConsumeFromWhere | None = None


_CONSUMERS: Final = BodyDecoder(_ConsumerConnection)
_PRODUCERS: Final = BodyDecoder(_ProducerConnection)
_PRODUCER_TABLE: Final = BodyDecoder(_ProducerTable)


def decode_consumer_connection(data: bytes) -> ConsumerConnection:
    """Return the members of a group (203)."""
    body = _CONSUMERS.decode(data)
    return ConsumerConnection(
        tuple(body.connection_set),
        {
            intern(topic): item.model()
            for topic, item in body.subscription_table.items()
        },
        body.consume_type,
        body.message_model,
        body.consume_from_where,
    )


def encode_consumer_connection(connection: ConsumerConnection) -> bytes:
    """Return the body of 203."""
    return dumps(
        {
            "connectionSet": _connection_members(connection.connections),
            "consumeFromWhere": connection.consume_from_where,
            "consumeType": connection.consume_type,
            "messageModel": connection.message_model,
            "subscriptionTable": {
                topic: subscription_members(subscription)
                for topic, subscription in connection.subscriptions.items()
            },
        }
    )


def _connection_members(connections: Sequence[ClientConnection]) -> list[Any]:
    return [msgspec.to_builtins(connection) for connection in connections]


def decode_producer_connection(data: bytes) -> list[ClientConnection]:
    """Return the producers of a group (204)."""
    return _PRODUCERS.decode(data).connection_set


def encode_producer_connection(connections: Sequence[ClientConnection]) -> bytes:
    """Return the body of 204."""
    return dumps({"connectionSet": _connection_members(connections)})


def decode_producer_table(data: bytes) -> dict[str, list[ProducerInfo]]:
    """Return all producers of a broker by group (328)."""
    return _PRODUCER_TABLE.decode(data).data


def encode_producer_table(table: Mapping[str, Sequence[ProducerInfo]]) -> bytes:
    """Return the body of 328."""
    return dumps(
        {
            "data": {
                group: [msgspec.to_builtins(info) for info in infos]
                for group, infos in table.items()
            }
        }
    )
