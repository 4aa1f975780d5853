"""Bodies about the clients of a broker: heartbeat (34), member ids (38), locks (41)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any, Final

import msgspec

from rmqcore.errors import BodyError
from rmqcore.model import (
    ConsumeFromWhere,
    ConsumerData,
    ConsumeType,
    HeartbeatData,
    MessageModel,
    MessageQueue,
    SubscriptionData,
)
from rmqcore.protocol.fastjson import dumps

from .codec import BodyDecoder, Int32, Int64, WireQueue

_NOTHING: Final[frozenset[Any]] = frozenset()
"""Shared: most subscriptions name no tags."""


class WireSubscription(msgspec.Struct, rename="camel"):
    """A subscription with Java's member names."""

    topic: str
    class_filter_mode: bool = False
    code_set: list[Int32] = []
    expression_type: str = "TAG"
    sub_string: str = "*"
    sub_version: Int64 = 0
    tags_set: list[str] = []

    def model(self) -> SubscriptionData:
        """Return it as the model's type.

        A topic has many subscribers, and most use one of few expressions: these texts
        are shared.
        """
        return SubscriptionData(
            intern(self.topic),
            intern(self.sub_string),
            frozenset(self.tags_set) if self.tags_set else _NOTHING,
            frozenset(self.code_set) if self.code_set else _NOTHING,
            self.sub_version,
            intern(self.expression_type),
            self.class_filter_mode,
        )


class _ProducerData(msgspec.Struct, rename="camel"):
    group_name: str


class _ConsumerData(msgspec.Struct, rename="camel"):
    group_name: str
    consume_from_where: ConsumeFromWhere = ConsumeFromWhere.LAST_OFFSET
    consume_type: ConsumeType = ConsumeType.PUSH
    message_model: MessageModel = MessageModel.CLUSTERING
    subscription_data_set: list[WireSubscription] = []
    unit_mode: bool = False

    def model(self) -> ConsumerData:
        return ConsumerData(
            self.group_name,
            self.consume_type,
            self.message_model,
            self.consume_from_where,
            tuple(item.model() for item in self.subscription_data_set),
            self.unit_mode,
        )


class _Heartbeat(msgspec.Struct, rename="camel"):
    client_id: str = msgspec.field(name="clientID")
    consumer_data_set: list[_ConsumerData] = []
    producer_data_set: list[_ProducerData] = []
    heartbeat_fingerprint: Int32 = 0
    without_sub: bool = False


class _ConsumerIds(msgspec.Struct, rename="camel"):
    consumer_id_list: list[str] = []


class _LockRequest(msgspec.Struct, rename="camel"):
    client_id: str
    consumer_group: str
    mq_set: list[WireQueue] = []
    only_this_broker: bool = False


class _LockResponse(msgspec.Struct):
    locked: list[WireQueue] = msgspec.field(name="lockOKMQSet", default_factory=list)


class _ClientConfig(msgspec.Struct, rename="camel"):
    client_id: str
    group: str
    subscription_data: WireSubscription
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class LockBatchRequest:
    """Queues that one client of a group asks to own, or gives back (41, 42)."""

    consumer_group: str
    client_id: str
    queues: tuple[MessageQueue, ...]
    only_this_broker: bool = False


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """A subscription that a client wants checked before it starts (46)."""

    client_id: str
    group: str
    subscription: SubscriptionData
    namespace: str | None = None


_HEARTBEAT: Final = BodyDecoder(_Heartbeat)
_CONSUMER_IDS: Final = BodyDecoder(_ConsumerIds)
_LOCK_REQUEST: Final = BodyDecoder(_LockRequest)
_LOCK_RESPONSE: Final = BodyDecoder(_LockResponse)
_CLIENT_CONFIG: Final = BodyDecoder(_ClientConfig)


def decode_heartbeat(data: bytes) -> HeartbeatData:
    """Return a client's heartbeat (34).

    The form without subscriptions, which 5.x clients send only after a broker has said
    that it understands it, is refused.
    """
    body = _HEARTBEAT.decode(data)
    if body.without_sub:
        raise BodyError(
            f"heartbeat of {body.client_id} comes without subscriptions "
            f"(fingerprint {body.heartbeat_fingerprint}), which was not offered"
        )
    return HeartbeatData(
        body.client_id,
        tuple(producer.group_name for producer in body.producer_data_set),
        tuple(consumer.model() for consumer in body.consumer_data_set),
    )


def encode_heartbeat(heartbeat: HeartbeatData) -> bytes:
    """Return the body of 34."""
    return dumps(
        {
            "clientID": heartbeat.client_id,
            "consumerDataSet": [_consumer_members(c) for c in heartbeat.consumers],
            "heartbeatFingerprint": 0,
            "producerDataSet": [{"groupName": group} for group in heartbeat.producers],
            "withoutSub": False,
        }
    )


def _consumer_members(consumer: ConsumerData) -> dict[str, Any]:
    return {
        "consumeFromWhere": consumer.consume_from_where,
        "consumeType": consumer.consume_type,
        "groupName": consumer.group,
        "messageModel": consumer.message_model,
        "subscriptionDataSet": [
            subscription_members(subscription)
            for subscription in consumer.subscriptions
        ],
        "unitMode": consumer.unit_mode,
    }


def subscription_members(subscription: SubscriptionData) -> dict[str, Any]:
    """Return a subscription with Java's names, in Java's order."""
    return {
        "classFilterMode": subscription.class_filter_mode,
        "codeSet": sorted(subscription.codes),
        "expressionType": subscription.expression_type,
        "subString": subscription.sub_string,
        "subVersion": subscription.sub_version,
        "tagsSet": sorted(subscription.tags),
        "topic": subscription.topic,
    }


def decode_consumer_ids(data: bytes) -> list[str]:
    """Return the client ids of a group (38)."""
    return _CONSUMER_IDS.decode(data).consumer_id_list


def encode_consumer_ids(client_ids: Sequence[str]) -> bytes:
    """Return the body of 38."""
    return dumps({"consumerIdList": client_ids})


def decode_lock_request(data: bytes) -> LockBatchRequest:
    """Return the queues to lock or unlock, and the client (41, 42)."""
    body = _LOCK_REQUEST.decode(data)
    return LockBatchRequest(
        body.consumer_group,
        body.client_id,
        tuple(queue.queue() for queue in body.mq_set),
        body.only_this_broker,
    )


def encode_lock_request(request: LockBatchRequest) -> bytes:
    """Return the body of 41 and 42."""
    return dumps(
        {
            "clientId": request.client_id,
            "consumerGroup": request.consumer_group,
            "mqSet": request.queues,
            "onlyThisBroker": request.only_this_broker,
        }
    )


def decode_lock_response(data: bytes) -> frozenset[MessageQueue]:
    """Return the queues that the client now holds (answer to 41)."""
    return frozenset(queue.queue() for queue in _LOCK_RESPONSE.decode(data).locked)


def encode_lock_response(locked: Iterable[MessageQueue]) -> bytes:
    """Return the answer to 41."""
    return dumps({"lockOKMQSet": list(locked)})


def decode_client_config(data: bytes) -> ClientConfig:
    """Return the subscription that a client asks about (46)."""
    body = _CLIENT_CONFIG.decode(data)
    return ClientConfig(
        body.client_id, body.group, body.subscription_data.model(), body.namespace
    )


def encode_client_config(config: ClientConfig) -> bytes:
    """Return the body of 46."""
    return dumps(
        {
            "clientId": config.client_id,
            "group": config.group,
            "namespace": config.namespace,
            "subscriptionData": subscription_members(config.subscription),
        }
    )
