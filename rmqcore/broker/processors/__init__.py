"""The broker's answers, request by request.

`HANDLERS` lists them all; a code that is not there is answered with "not supported",
which is what clients expect of a broker without that ability.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rmqcore.broker.state import Handler
from rmqcore.protocol.codes import RequestCode as Code

from . import (
    assignment,
    clients,
    groups,
    messages,
    monitoring,
    offsets,
    operations,
    progress,
    pulling,
    relays,
    sending,
    sending_back,
    topics,
)

HANDLERS: Final[Mapping[int, Handler]] = MappingProxyType(
    {
        Code.SEND_MESSAGE: sending.send_message,
        Code.SEND_MESSAGE_V2: sending.send_message,
        Code.SEND_BATCH_MESSAGE: sending.send_message,
        Code.CONSUMER_SEND_MSG_BACK: sending_back.send_back,
        Code.PULL_MESSAGE: pulling.pull_message,
        Code.LITE_PULL_MESSAGE: pulling.pull_message,
        Code.QUERY_CONSUME_QUEUE: messages.query_consume_queue,
        Code.QUERY_MESSAGE: messages.query_message,
        Code.VIEW_MESSAGE_BY_ID: messages.view_message,
        Code.HEART_BEAT: clients.heartbeat,
        Code.UNREGISTER_CLIENT: clients.unregister_client,
        Code.CHECK_CLIENT_CONFIG: clients.check_client_config,
        Code.GET_CONSUMER_LIST_BY_GROUP: clients.consumer_ids,
        Code.LOCK_BATCH_MQ: clients.lock_queues,
        Code.UNLOCK_BATCH_MQ: clients.unlock_queues,
        Code.QUERY_ASSIGNMENT: assignment.query_assignment,
        Code.SET_MESSAGE_REQUEST_MODE: assignment.set_request_mode,
        Code.QUERY_CONSUMER_OFFSET: offsets.query_consumer_offset,
        Code.UPDATE_CONSUMER_OFFSET: offsets.update_consumer_offset,
        Code.GET_ALL_CONSUMER_OFFSET: offsets.all_consumer_offsets,
        Code.GET_ALL_DELAY_OFFSET: offsets.all_delay_offsets,
        Code.GET_MAX_OFFSET: offsets.max_offset,
        Code.GET_MIN_OFFSET: offsets.min_offset,
        Code.SEARCH_OFFSET_BY_TIMESTAMP: offsets.offset_by_time,
        Code.GET_EARLIEST_MSG_STORETIME: offsets.earliest_store_time,
        Code.UPDATE_AND_CREATE_TOPIC: topics.create_topic,
        Code.UPDATE_AND_CREATE_TOPIC_LIST: topics.create_topics,
        Code.DELETE_TOPIC_IN_BROKER: topics.delete_topic,
        Code.GET_ALL_TOPIC_CONFIG: topics.all_topics,
        Code.GET_TOPIC_CONFIG: topics.topic_config,
        Code.GET_TOPIC_STATS_INFO: topics.topic_stats,
        Code.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: topics.system_topics,
        Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: groups.create_group,
        Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST: groups.create_groups,
        Code.DELETE_SUBSCRIPTIONGROUP: groups.delete_group,
        Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: groups.all_groups,
        Code.GET_SUBSCRIPTIONGROUP_CONFIG: groups.group_config,
        Code.GET_CONSUMER_CONNECTION_LIST: groups.consumer_connections,
        Code.GET_PRODUCER_CONNECTION_LIST: groups.producer_connections,
        Code.GET_ALL_PRODUCER_INFO: groups.all_producers,
        Code.QUERY_TOPIC_CONSUME_BY_WHO: groups.groups_of_topic,
        Code.QUERY_TOPICS_BY_CONSUMER: groups.topics_of_group,
        Code.QUERY_SUBSCRIPTION_BY_CONSUMER: groups.subscription_of_group,
        Code.GET_CONSUME_STATS: progress.consume_stats,
        Code.GET_BROKER_CONSUME_STATS: progress.broker_consume_stats,
        Code.QUERY_CONSUME_TIME_SPAN: progress.consume_time_spans,
        Code.INVOKE_BROKER_TO_RESET_OFFSET: operations.reset_offsets,
        Code.CLONE_GROUP_OFFSET: operations.clone_offsets,
        Code.GET_BROKER_CONFIG: operations.broker_settings,
        Code.UPDATE_BROKER_CONFIG: operations.change_settings,
        Code.CLEAN_EXPIRED_CONSUMEQUEUE: operations.drop_unused_queues,
        Code.CLEAN_UNUSED_TOPIC: operations.drop_unused_queues,
        Code.DELETE_EXPIRED_COMMITLOG: operations.drop_expired_files,
        Code.GET_CONSUMER_RUNNING_INFO: relays.running_info,
        Code.CONSUME_MESSAGE_DIRECTLY: relays.consume_directly,
        Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: relays.consumer_status,
        Code.GET_BROKER_RUNTIME_INFO: monitoring.runtime_info,
        Code.VIEW_BROKER_STATS_DATA: monitoring.view_statistic,
        Code.GET_BROKER_HA_STATUS: monitoring.ha_status,
    }
)
