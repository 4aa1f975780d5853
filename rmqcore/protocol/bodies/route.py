"""Bodies of name servers: routes (105), clusters (106), lists of names, settings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from rmqcore.errors import BodyError
from rmqcore.model import BrokerData, Perm, QueueData, TopicRoute
from rmqcore.protocol.fastjson import dumps

from .codec import BodyDecoder, Int32, Name, QueueCount, quote_bare_keys
from .mapping import WireMapping, mapping_info_members


class _BrokerData(msgspec.Struct, rename="camel"):
    broker_name: Name
    broker_addrs: dict[int, str] = {}
    cluster: str = ""

    def model(self) -> BrokerData:
        return BrokerData(self.cluster, self.broker_name, self.broker_addrs)


class _QueueData(msgspec.Struct, rename="camel"):
    broker_name: Name
    perm: Int32 = 0
    read_queue_nums: QueueCount = 0
    topic_sys_flag: Int32 = 0
    # The spelling before 4.9.
    topic_syn_flag: Int32 = 0
    write_queue_nums: QueueCount = 0

    def model(self) -> QueueData:
        return QueueData(
            self.broker_name,
            self.read_queue_nums,
            self.write_queue_nums,
            Perm(self.perm),
            self.topic_sys_flag or self.topic_syn_flag,
        )


class _TopicRoute(msgspec.Struct, rename="camel"):
    broker_datas: list[_BrokerData] = []
    filter_server_table: dict[str, list[str]] = {}
    order_topic_conf: str | None = None
    queue_datas: list[_QueueData] = []
    topic_queue_mapping_by_broker: dict[str, WireMapping] | None = None


class _ClusterInfo(msgspec.Struct, rename="camel"):
    broker_addr_table: dict[str, _BrokerData] = {}
    cluster_addr_table: dict[str, list[str]] = {}


class _MemberGroup(msgspec.Struct, rename="camel"):
    broker_member_group: _BrokerData


class _TopicList(msgspec.Struct, rename="camel"):
    topic_list: list[str] = []
    broker_addr: str | None = None


class _KvTable(msgspec.Struct):
    table: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """The brokers by name, and the names in each cluster."""

    brokers: Mapping[str, BrokerData]
    clusters: Mapping[str, tuple[str, ...]]


_ORDER_TOPIC_CONF: Final = re.compile(r"(?:[^:;]++:[0-9]{1,5}(?:;|$))*+")
_ROUTE: Final = BodyDecoder(_TopicRoute, rewrite=quote_bare_keys)
_CLUSTER_INFO: Final = BodyDecoder(_ClusterInfo, rewrite=quote_bare_keys)
_MEMBER_GROUP: Final = BodyDecoder(_MemberGroup, rewrite=quote_bare_keys)
_TOPIC_LIST: Final = BodyDecoder(_TopicList)
_KV_TABLE: Final = BodyDecoder(_KvTable)


def decode_topic_route(data: bytes) -> TopicRoute:
    """Return the route of one topic (105)."""
    body = _ROUTE.decode(data)
    order = body.order_topic_conf
    if order is not None and not _ORDER_TOPIC_CONF.fullmatch(order):
        raise BodyError(f"orderTopicConf is {order[:80]!r}, not broker:count;…")
    return TopicRoute(
        tuple(broker.model() for broker in body.broker_datas),
        tuple(queue.model() for queue in body.queue_datas),
        order,
        {key: tuple(value) for key, value in body.filter_server_table.items()},
        {
            name: mapping.model()
            for name, mapping in (body.topic_queue_mapping_by_broker or {}).items()
        },
    )


def encode_topic_route(route: TopicRoute, *, standard_json: bool = False) -> bytes:
    """Return the body of 105.

    Standard JSON is for peers of version 4.9.4 or later, and for peers that ask for it.
    """
    members: dict[str, Any] = {
        "brokerDatas": [_broker_members(broker) for broker in route.brokers],
        "filterServerTable": route.filter_servers,
        "orderTopicConf": route.order_topic_conf,
        "queueDatas": [
            {
                "brokerName": queue.broker_name,
                "perm": int(queue.perm),
                "readQueueNums": queue.read_queue_nums,
                "topicSysFlag": queue.topic_sys_flag,
                "writeQueueNums": queue.write_queue_nums,
            }
            for queue in route.queues
        ],
    }
    if route.mappings:
        members["topicQueueMappingByBroker"] = {
            name: mapping_info_members(mapping)
            for name, mapping in route.mappings.items()
        }
    return dumps(members, standard_json=standard_json)


def decode_cluster_info(data: bytes) -> ClusterInfo:
    """Return the brokers of all clusters that a name server knows (106)."""
    body = _CLUSTER_INFO.decode(data)
    return ClusterInfo(
        {name: broker.model() for name, broker in body.broker_addr_table.items()},
        {name: tuple(names) for name, names in body.cluster_addr_table.items()},
    )


def encode_cluster_info(info: ClusterInfo) -> bytes:
    """Return the body of 106, whose broker ids are always bare keys."""
    return dumps(
        {
            "brokerAddrTable": {
                name: _broker_members(broker) for name, broker in info.brokers.items()
            },
            "clusterAddrTable": info.clusters,
        }
    )


def decode_broker_member_group(data: bytes) -> BrokerData:
    """Return all addresses of one broker name (901)."""
    return _MEMBER_GROUP.decode(data).broker_member_group.model()


def encode_broker_member_group(broker: BrokerData) -> bytes:
    """Return the body of 901."""
    members = _broker_members(broker)
    del members["enableActingMaster"]
    return dumps({"brokerMemberGroup": members})


def _broker_members(broker: BrokerData) -> dict[str, Any]:
    return {
        "brokerAddrs": broker.addresses,
        "brokerName": broker.broker_name,
        "cluster": broker.cluster,
        "enableActingMaster": False,
    }


def decode_topic_list(data: bytes) -> list[str]:
    """Return topic names (206, 224, 304, 305, 311 to 313, 343)."""
    return _TOPIC_LIST.decode(data).topic_list


def encode_topic_list(topics: Sequence[str], broker_addr: str | None = None) -> bytes:
    """Return a list of topics; brokers add their own address (343, 305)."""
    return dumps({"brokerAddr": broker_addr, "topicList": topics})


def decode_kv_table(data: bytes) -> dict[str, str]:
    """Return a table of settings or measurements (28, 219)."""
    return _KV_TABLE.decode(data).table


def encode_kv_table(table: Mapping[str, str]) -> bytes:
    """Return the body of 28 and 219."""
    return dumps({"table": table})
