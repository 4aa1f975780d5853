"""Headers of requests to a name server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .codec import Header, Int32, Int64, Names, RequestHeader, TopicRequestHeader


@dataclass(frozen=True, slots=True, kw_only=True)
class PutKvConfigRequestHeader(RequestHeader):
    """100: set one key of a namespace."""

    # Java calls the member `namespace`; the common `ns` is a different one.
    wire_names: ClassVar[Names] = {"kv_namespace": "namespace"}

    kv_namespace: str
    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetKvConfigRequestHeader(RequestHeader):
    """101: read one key of a namespace."""

    wire_names: ClassVar[Names] = {"kv_namespace": "namespace"}

    kv_namespace: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetKvConfigResponseHeader(Header):
    """Answer to 101; None when the key has no value."""

    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteKvConfigRequestHeader(GetKvConfigRequestHeader):
    """102: remove one key of a namespace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetKvListByNamespaceRequestHeader(RequestHeader):
    """219: read all keys of a namespace."""

    wire_names: ClassVar[Names] = {"kv_namespace": "namespace"}

    kv_namespace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerRequestHeader(RequestHeader):
    """103: a broker introduces itself; its topics are in the body.

    `body_crc32` other than 0 must be the body's CRC32 without its sign bit.
    """

    broker_name: str
    broker_addr: str
    cluster_name: str
    ha_server_addr: str
    broker_id: Int64
    heartbeat_timeout_millis: Int64 | None = None
    enable_acting_master: bool | None = None
    compressed: bool | None = None
    body_crc32: Int32 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerResponseHeader(Header):
    """Answer to 103; a slave learns its master from it."""

    ha_server_addr: str | None = None
    master_addr: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnregisterBrokerRequestHeader(RequestHeader):
    """104: a broker unregisters."""

    broker_name: str
    broker_addr: str
    cluster_name: str
    broker_id: Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerHeartbeatRequestHeader(RequestHeader):
    """904: the light heartbeat of a 5.x broker between registrations."""

    cluster_name: str
    broker_addr: str
    broker_name: str
    broker_id: Int64 | None = None
    epoch: Int32 | None = None
    max_offset: Int64 | None = None
    confirm_offset: Int64 | None = None
    heartbeat_timeout_mills: Int64 | None = None
    election_priority: Int32 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDataVersionRequestHeader(RequestHeader):
    """322: ask whether a broker's registration is still the newest."""

    broker_name: str
    broker_addr: str
    cluster_name: str
    broker_id: Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDataVersionResponseHeader(Header):
    """Answer to 322."""

    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRouteInfoRequestHeader(TopicRequestHeader):
    """105: the route of a topic."""

    topic: str
    accept_standard_json_only: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTopicsByClusterRequestHeader(RequestHeader):
    """224: the topics of one cluster."""

    cluster: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterTopicRequestHeader(TopicRequestHeader):
    """217: add one topic to the routes; its queues are in the body."""

    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopicFromNamesrvRequestHeader(TopicRequestHeader):
    """216: forget a topic, in one cluster or in all."""

    topic: str
    cluster_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeWritePermOfBrokerRequestHeader(RequestHeader):
    """205: stop writes to a broker."""

    broker_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeWritePermOfBrokerResponseHeader(Header):
    """Answer to 205: how many topics lost the permission."""

    wipe_topic_count: Int32


@dataclass(frozen=True, slots=True, kw_only=True)
class AddWritePermOfBrokerRequestHeader(RequestHeader):
    """327: allow writes to a broker again."""

    broker_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddWritePermOfBrokerResponseHeader(Header):
    """Answer to 327: how many topics got the permission back."""

    add_topic_count: Int32


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerMemberGroupRequestHeader(RequestHeader):
    """901: all addresses of one broker name."""

    cluster_name: str
    broker_name: str
