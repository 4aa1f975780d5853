"""Consumer groups: settings (200, 225, 201, 207, 352) and clients.

Members (203), producers (204, 328), what a group reads (343, 345), who reads a topic
(300).
"""

from __future__ import annotations

from collections.abc import Awaitable

from rmqcore.broker.consumers import ClientChannel
from rmqcore.broker.names import group_fault
from rmqcore.broker.state import Answer, BrokerState
from rmqcore.model import SubscriptionGroupConfig
from rmqcore.model.topic import dead_letter_topic, retry_topic
from rmqcore.protocol.bodies import (
    ClientConnection,
    ConsumerConnection,
    GroupSubscription,
    ProducerInfo,
    SubscriptionGroupTable,
    decode_group_config,
    decode_group_config_list,
    encode_consumer_connection,
    encode_group_config,
    encode_group_list,
    encode_group_subscription,
    encode_group_table,
    encode_producer_connection,
    encode_producer_table,
    encode_topic_list,
)
from rmqcore.protocol.codes import LanguageCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    DeleteSubscriptionGroupRequestHeader,
    GetAllSubscriptionGroupResponseHeader,
    GetConsumerConnectionListRequestHeader,
    GetProducerConnectionListRequestHeader,
    GetSubscriptionGroupConfigRequestHeader,
    QuerySubscriptionByConsumerRequestHeader,
    QueryTopicConsumeByWhoRequestHeader,
    QueryTopicsByConsumerRequestHeader,
    decode_header,
    encode_header,
)
from rmqcore.transport import Channel


def create_group(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """200: create or change a group."""
    return _put_groups(state, command, [decode_group_config(command.body)])


def create_groups(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """225: create or change several groups, all or none."""
    return _put_groups(state, command, decode_group_config_list(command.body))


def delete_group(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> Answer | Awaitable[Answer]:
    """207: delete a group and its retry and dead-letter topics."""
    header = decode_header(DeleteSubscriptionGroupRequestHeader, command.ext_fields)
    group = header.group_name
    now_ms = state.clock.time_ms()
    state.groups.delete(group, now_ms)
    state.statistics.forget(group)
    if header.clean_offset:
        state.offsets.forget_group(group)
    topics = (retry_topic(group), dead_letter_topic(group))
    deleted = [topic for topic in topics if state.topics.delete(topic, now_ms)]
    for topic in deleted:
        state.store.drop_topic(topic)
    state.save_configuration()
    if not deleted:
        return command.response()
    return state.answer_registered(command.response())


def all_groups(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """201: every group of this broker, in one answer."""
    table = SubscriptionGroupTable(state.groups.all, state.groups.version)
    answer = GetAllSubscriptionGroupResponseHeader(total_group_num=len(table.groups))
    return command.response(
        ext_fields=encode_header(answer), body=encode_group_table(table)
    )


def group_config(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """352: one group."""
    header = decode_header(GetSubscriptionGroupConfigRequestHeader, command.ext_fields)
    config = state.groups.get(header.group)
    if config is None:
        return command.response(
            ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
            f"No group in this broker. group: {header.group}",
        )
    return command.response(body=encode_group_config(config))


def consumer_connections(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """203: the members of a group and its subscriptions."""
    header = decode_header(GetConsumerConnectionListRequestHeader, command.ext_fields)
    group = state.consumers.group(header.consumer_group)
    if group is None:
        return command.response(
            ResponseCode.CONSUMER_NOT_ONLINE,
            f"the consumer group[{header.consumer_group}] not online",
        )
    body = ConsumerConnection(
        tuple(_connection(member) for member in group.members.values()),
        group.subscriptions,
        group.consume_type,
        group.message_model,
        group.consume_from_where,
    )
    return command.response(body=encode_consumer_connection(body))


def producer_connections(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """204: the producers of a group."""
    header = decode_header(GetProducerConnectionListRequestHeader, command.ext_fields)
    clients = state.producers.clients(header.producer_group)
    if not clients:
        return command.response(
            ResponseCode.SYSTEM_ERROR,
            f"the producer group[{header.producer_group}] not exist",
        )
    connections = [_connection(client) for client in clients]
    return command.response(body=encode_producer_connection(connections))


def all_producers(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """328: the producers of every group."""
    table = {
        group: [
            ProducerInfo(
                client.client_id,
                _language(client),
                client.last_update_ms,
                client.channel.remote_address,
                client.version,
            )
            for client in clients
        ]
        for group, clients in state.producers.all_clients().items()
    }
    return command.response(body=encode_producer_table(table))


def groups_of_topic(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """300: the groups that read a topic now or have committed offsets on it."""
    topic = decode_header(QueryTopicConsumeByWhoRequestHeader, command.ext_fields).topic
    groups = {*state.consumers.groups_reading(topic), *state.offsets.groups_of(topic)}
    return command.response(body=encode_group_list(sorted(groups)))


def topics_of_group(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """343: the topics that a group has committed offsets on."""
    group = decode_header(QueryTopicsByConsumerRequestHeader, command.ext_fields).group
    topics = sorted(state.offsets.topics_of(group))
    return command.response(body=encode_topic_list(topics, state.address))


def subscription_of_group(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """345: how a group subscribes to a topic."""
    header = decode_header(QuerySubscriptionByConsumerRequestHeader, command.ext_fields)
    topic = header.topic or ""
    group = state.consumers.group(header.group)
    subscription = None if group is None else group.subscriptions.get(topic)
    body = GroupSubscription(header.group, topic, subscription)
    return command.response(body=encode_group_subscription(body))


# Private, in order of first use


def _put_groups(
    state: BrokerState,
    command: RemotingCommand,
    configs: list[SubscriptionGroupConfig],
) -> RemotingCommand:
    for config in configs:
        fault = group_fault(config.group)
        if fault is not None:
            return command.response(ResponseCode.INVALID_PARAMETER, fault)
    for config in configs:
        state.groups.put(config, state.clock.time_ms())
    state.save_configuration()
    return command.response()


def _connection(client: ClientChannel[Channel]) -> ClientConnection:
    return ClientConnection(
        client.channel.remote_address,
        client.client_id,
        _language(client),
        client.version,
    )


def _language(client: ClientChannel[Channel]) -> str:
    if isinstance(client.language, str):
        return client.language
    try:
        return LanguageCode(client.language).name
    except ValueError:
        return LanguageCode.OTHER.name
