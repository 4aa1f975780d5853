"""The name server's answers, request by request.

A handler takes the name server's state, the channel and the request, and returns the
response. `HANDLERS` lists them all: a code that is not there is answered with "not
supported".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from rmqcore.model.route import MASTER_ID
from rmqcore.protocol.bodies import (
    ClusterInfo,
    body_crc32,
    decode_data_version,
    decode_register_broker,
    decode_topic_route,
    encode_broker_member_group,
    encode_cluster_info,
    encode_data_version,
    encode_kv_table,
    encode_topic_list,
    encode_topic_route,
)
from rmqcore.protocol.codes import VERSION_V4_9_4, RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import decode_header, encode_header
from rmqcore.protocol.headers import nameserver as headers
from rmqcore.transport import Channel, Clock

from .routes import BrokerIdentity, RouteTable
from .settings_table import ORDER_TOPIC_NAMESPACE, SettingsTable


@dataclass(slots=True)
class NameServerState:
    """Everything a name server knows, and the clock it uses."""

    clock: Clock
    routes: RouteTable = field(default_factory=RouteTable)
    settings: SettingsTable = field(default_factory=SettingsTable)
    address: str = ""
    order_messages: bool = False
    """Whether routes include the queues that are set for an ordered topic."""


_ORDER_MESSAGES: Final = "orderMessageEnable"

Handler = Callable[[NameServerState, Channel, RemotingCommand], RemotingCommand]


def register_broker(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """103: a broker and its topics."""
    header = decode_header(headers.RegisterBrokerRequestHeader, command.ext_fields)
    if header.body_crc32 and header.body_crc32 != body_crc32(command.body):
        return command.response(ResponseCode.SYSTEM_ERROR, "crc32 not match")
    body = decode_register_broker(command.body, compressed=bool(header.compressed))
    identity = BrokerIdentity(
        header.cluster_name, header.broker_name, header.broker_id, header.broker_addr
    )
    accepted = state.routes.register(
        identity,
        body.table.topics,
        body.table.data_version,
        channel=channel,
        now_ms=state.clock.time_ms(),
        ha_address=header.ha_server_addr,
        expiry_ms=header.heartbeat_timeout_millis,
    )
    if not accepted:
        return command.response(ResponseCode.SYSTEM_ERROR, "register broker failed")
    master, ha_address = state.routes.master_of(identity) or (None, None)
    return command.response(
        ext_fields=encode_header(
            headers.RegisterBrokerResponseHeader(
                ha_server_addr=ha_address, master_addr=master
            )
        ),
        body=encode_kv_table(state.settings.namespace(ORDER_TOPIC_NAMESPACE) or {}),
    )


def unregister_broker(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """104: a broker leaves."""
    header = decode_header(headers.UnregisterBrokerRequestHeader, command.ext_fields)
    state.routes.unregister(
        BrokerIdentity(
            header.cluster_name,
            header.broker_name,
            header.broker_id,
            header.broker_addr,
        )
    )
    return command.response()


def broker_heartbeat(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """904: a broker is still there."""
    header = decode_header(headers.BrokerHeartbeatRequestHeader, command.ext_fields)
    now_ms = state.clock.time_ms()
    state.routes.renew(header.cluster_name, header.broker_addr, now_ms)
    return command.response()


def query_data_version(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """322: does the broker have to register its topics again?"""
    header = decode_header(headers.QueryDataVersionRequestHeader, command.ext_fields)
    asked = decode_data_version(command.body)
    known = state.routes.version_of(header.cluster_name, header.broker_addr)
    if known == asked:
        now_ms = state.clock.time_ms()
        state.routes.renew(header.cluster_name, header.broker_addr, now_ms)
    return command.response(
        ext_fields=encode_header(
            headers.QueryDataVersionResponseHeader(changed=known != asked)
        ),
        body=b"" if known is None else encode_data_version(known),
    )


def route_of_topic(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """105: the route of a topic."""
    header = decode_header(headers.GetRouteInfoRequestHeader, command.ext_fields)
    route = state.routes.route(header.topic)
    if route is None:
        return command.response(
            ResponseCode.TOPIC_NOT_EXIST,
            f"No topic route info in name server for the topic: {header.topic}",
        )
    if state.order_messages:
        order = state.settings.get(ORDER_TOPIC_NAMESPACE, header.topic)
        route = replace(route, order_topic_conf=order)
    is_standard = (
        command.version >= VERSION_V4_9_4 or header.accept_standard_json_only is True
    )
    return command.response(body=encode_topic_route(route, standard_json=is_standard))


def cluster_info(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """106: all clusters and brokers."""
    clusters = {name: tuple(names) for name, names in state.routes.clusters().items()}
    info = ClusterInfo(state.routes.brokers(), clusters)
    return command.response(body=encode_cluster_info(info))


def broker_members(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """901: the addresses of one broker name."""
    header = decode_header(
        headers.GetBrokerMemberGroupRequestHeader, command.ext_fields
    )
    broker = state.routes.brokers().get(header.broker_name)
    if broker is None or broker.cluster != header.cluster_name:
        return command.response()
    return command.response(body=encode_broker_member_group(broker))


def all_topics(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """206: the names of all topics."""
    return command.response(body=encode_topic_list(state.routes.topics()))


def topics_of_cluster(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """224: the names of a cluster's topics."""
    header = decode_header(headers.GetTopicsByClusterRequestHeader, command.ext_fields)
    topics = state.routes.topics_of_cluster(header.cluster)
    return command.response(body=encode_topic_list(topics))


def system_topics(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """304: clusters and brokers, whose names are also topics; and one broker."""
    clusters = state.routes.clusters()
    brokers = state.routes.brokers().values()
    masters = [broker.addresses.get(MASTER_ID) for broker in brokers]
    names = [*clusters, *(name for names in clusters.values() for name in names)]
    return command.response(
        body=encode_topic_list(names, next(filter(None, masters), ""))
    )


def delete_topic(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """216: forget a topic."""
    header = decode_header(
        headers.DeleteTopicFromNamesrvRequestHeader, command.ext_fields
    )
    state.routes.delete_topic(header.topic, header.cluster_name or None)
    return command.response()


def register_topic(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """217: queues of a topic on brokers that are known."""
    header = decode_header(headers.RegisterTopicRequestHeader, command.ext_fields)
    state.routes.add_topic(header.topic, decode_topic_route(command.body).queues)
    return command.response()


def wipe_write_perm(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """205: stop writes to a broker."""
    header = decode_header(
        headers.WipeWritePermOfBrokerRequestHeader, command.ext_fields
    )
    count = state.routes.set_writable(header.broker_name, writable=False)
    answer = headers.WipeWritePermOfBrokerResponseHeader(wipe_topic_count=count)
    return command.response(ext_fields=encode_header(answer))


def add_write_perm(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """327: allow writes to a broker again."""
    header = decode_header(
        headers.AddWritePermOfBrokerRequestHeader, command.ext_fields
    )
    count = state.routes.set_writable(header.broker_name, writable=True)
    answer = headers.AddWritePermOfBrokerResponseHeader(add_topic_count=count)
    return command.response(ext_fields=encode_header(answer))


def put_setting(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """100: set a value."""
    header = decode_header(headers.PutKvConfigRequestHeader, command.ext_fields)
    state.settings.put(header.kv_namespace, header.key, header.value)
    return command.response()


def get_setting(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """101: read a value."""
    header = decode_header(headers.GetKvConfigRequestHeader, command.ext_fields)
    value = state.settings.get(header.kv_namespace, header.key)
    if value is None:
        return command.response(
            ResponseCode.QUERY_NOT_FOUND,
            f"No config item, Namespace: {header.kv_namespace} Key: {header.key}",
        )
    answer = headers.GetKvConfigResponseHeader(value=value)
    return command.response(ext_fields=encode_header(answer))


def delete_setting(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """102: remove a value."""
    header = decode_header(headers.DeleteKvConfigRequestHeader, command.ext_fields)
    state.settings.delete(header.kv_namespace, header.key)
    return command.response()


def list_settings(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """219: all values of a namespace."""
    header = decode_header(
        headers.GetKvListByNamespaceRequestHeader, command.ext_fields
    )
    values = state.settings.namespace(header.kv_namespace)
    if values is None:
        return command.response(
            ResponseCode.QUERY_NOT_FOUND,
            f"No config item, Namespace: {header.kv_namespace}",
        )
    return command.response(body=encode_kv_table(values))


def own_settings(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """319: the name server's own settings, as lines `name=value`."""
    host, _, port = state.address.rpartition(":")
    values = {
        "bindAddress": host,
        "listenPort": port,
        "scanNotActiveBrokerInterval": "5000",
        _ORDER_MESSAGES: "true" if state.order_messages else "false",
    }
    lines = (f"{name}={value}" for name, value in values.items())
    return command.response(body="\n".join(lines).encode())


def change_own_settings(
    state: NameServerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """318: change its own settings, given as lines `name=value`, until it stops."""
    lines = command.body.decode(errors="replace").splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line)
    wanted = {name.strip(): value.strip() for name, _, value in pairs}
    for name, value in wanted.items():
        if name != _ORDER_MESSAGES or value not in ("true", "false"):
            return command.response(
                ResponseCode.NO_PERMISSION,
                f"setting {name[:80]} cannot be changed to {value[:80]!r}; "
                f"{_ORDER_MESSAGES} can, to true or false",
            )
    if wanted:
        state.order_messages = wanted[_ORDER_MESSAGES] == "true"
    return command.response()


HANDLERS: Final[Mapping[int, Handler]] = MappingProxyType(
    {
        RequestCode.PUT_KV_CONFIG: put_setting,
        RequestCode.GET_KV_CONFIG: get_setting,
        RequestCode.DELETE_KV_CONFIG: delete_setting,
        RequestCode.REGISTER_BROKER: register_broker,
        RequestCode.UNREGISTER_BROKER: unregister_broker,
        RequestCode.GET_ROUTEINFO_BY_TOPIC: route_of_topic,
        RequestCode.GET_BROKER_CLUSTER_INFO: cluster_info,
        RequestCode.WIPE_WRITE_PERM_OF_BROKER: wipe_write_perm,
        RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: all_topics,
        RequestCode.DELETE_TOPIC_IN_NAMESRV: delete_topic,
        RequestCode.REGISTER_TOPIC_IN_NAMESRV: register_topic,
        RequestCode.GET_KVLIST_BY_NAMESPACE: list_settings,
        RequestCode.GET_TOPICS_BY_CLUSTER: topics_of_cluster,
        RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: system_topics,
        RequestCode.UPDATE_NAMESRV_CONFIG: change_own_settings,
        RequestCode.GET_NAMESRV_CONFIG: own_settings,
        RequestCode.QUERY_DATA_VERSION: query_data_version,
        RequestCode.ADD_WRITE_PERM_OF_BROKER: add_write_perm,
        RequestCode.GET_BROKER_MEMBER_GROUP: broker_members,
        RequestCode.BROKER_HEARTBEAT: broker_heartbeat,
    }
)
