"""Clients themselves: heartbeats, leaving, members of a group, queue locks.

Codes 34, 35, 46, 38, 41, 42.
"""

from __future__ import annotations

from rmqcore.broker.consumers import ClientChannel
from rmqcore.broker.state import BrokerState
from rmqcore.model import ConsumerData
from rmqcore.model.topic import retry_topic
from rmqcore.protocol.bodies import (
    decode_client_config,
    decode_heartbeat,
    decode_lock_request,
    encode_consumer_ids,
    encode_lock_response,
)
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    GetConsumerListByGroupRequestHeader,
    HeartbeatResponseHeader,
    UnregisterClientRequestHeader,
    decode_header,
    encode_header,
)
from rmqcore.transport import Channel


def heartbeat(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """34: a client reports its groups and their subscriptions."""
    data = decode_heartbeat(command.body)
    client = ClientChannel(channel, data.client_id, command.language, command.version)
    for consumer in data.consumers:
        _register_consumer(state, consumer, client)
    for group in data.producers:
        state.producers.register(group, client, state.clock.time_ms())
    answer = HeartbeatResponseHeader(
        support_heartbeat_v2=False, subscription_changed=True
    )
    return command.response(ext_fields=encode_header(answer))


def unregister_client(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """35: a client leaves a group."""
    header = decode_header(UnregisterClientRequestHeader, command.ext_fields)
    if header.producer_group:
        state.producers.unregister(header.producer_group, channel)
    if header.consumer_group:
        state.notify(state.consumers.unregister(header.consumer_group, channel))
    return command.response()


def check_client_config(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """46: does the broker understand this subscription?"""
    kind = decode_client_config(command.body).subscription.expression_type
    if kind in ("TAG", ""):
        return command.response()
    return command.response(
        ResponseCode.SYSTEM_ERROR,
        f"The broker does not support consumer to filter message by {kind}",
    )


def consumer_ids(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """38: the client ids of a group, one for each channel."""
    header = decode_header(GetConsumerListByGroupRequestHeader, command.ext_fields)
    group = state.consumers.group(header.consumer_group)
    if group is None:
        return command.response(
            ResponseCode.SYSTEM_ERROR,
            f"no consumer for this group, {header.consumer_group}",
        )
    return command.response(body=encode_consumer_ids(group.client_ids))


def lock_queues(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """41: lock queues for a client; the answer names those it holds now."""
    asked = decode_lock_request(command.body)
    held = state.locks.lock(
        asked.consumer_group, asked.client_id, asked.queues, state.clock.time_ms()
    )
    return command.response(body=encode_lock_response(held))


def unlock_queues(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """42: a client gives queues back."""
    asked = decode_lock_request(command.body)
    state.locks.unlock(asked.consumer_group, asked.client_id, asked.queues)
    return command.response()


def _register_consumer(
    state: BrokerState, consumer: ConsumerData, client: ClientChannel[Channel]
) -> None:
    now_ms = state.clock.time_ms()
    config = state.groups.find(consumer.group, now_ms)
    if config is None:
        return
    topic = retry_topic(consumer.group)
    if topic not in state.topics:
        state.topics.ensure(topic, config.retry_queue_nums, now_ms)
        state.topics_changed()
    notice = state.consumers.register(consumer, client, now_ms)
    if config.notify_consumer_ids_changed_enable:
        state.notify(notice)
