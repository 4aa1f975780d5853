"""Tables of the header that belongs to each request code.

Every known code is in exactly one of the request tables: it has a typed header, it has
none, or this project does not support it (the answer is code 3).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from rmqcore.protocol.codes import RequestCode as Code

from . import admin, client, nameserver, pull, send
from .codec import Header

REQUEST_HEADERS: Final = MappingProxyType[int, type[Header]](
    {
        Code.SEND_MESSAGE: send.SendMessageRequestHeader,
        Code.PULL_MESSAGE: pull.PullMessageRequestHeader,
        Code.QUERY_MESSAGE: pull.QueryMessageRequestHeader,
        Code.QUERY_CONSUMER_OFFSET: pull.QueryConsumerOffsetRequestHeader,
        Code.UPDATE_CONSUMER_OFFSET: pull.UpdateConsumerOffsetRequestHeader,
        Code.UPDATE_AND_CREATE_TOPIC: admin.CreateTopicRequestHeader,
        Code.GET_ALL_TOPIC_CONFIG: admin.GetAllTopicConfigRequestHeader,
        Code.SEARCH_OFFSET_BY_TIMESTAMP: pull.SearchOffsetRequestHeader,
        Code.GET_MAX_OFFSET: pull.GetMaxOffsetRequestHeader,
        Code.GET_MIN_OFFSET: pull.GetMinOffsetRequestHeader,
        Code.GET_EARLIEST_MSG_STORETIME: pull.GetEarliestMsgStoretimeRequestHeader,
        Code.VIEW_MESSAGE_BY_ID: pull.ViewMessageRequestHeader,
        Code.UNREGISTER_CLIENT: client.UnregisterClientRequestHeader,
        Code.CONSUMER_SEND_MSG_BACK: send.ConsumerSendMsgBackRequestHeader,
        Code.END_TRANSACTION: client.EndTransactionRequestHeader,
        Code.GET_CONSUMER_LIST_BY_GROUP: client.GetConsumerListByGroupRequestHeader,
        Code.CHECK_TRANSACTION_STATE: client.CheckTransactionStateRequestHeader,
        Code.NOTIFY_CONSUMER_IDS_CHANGED: client.NotifyConsumerIdsChangedRequestHeader,
        Code.PUT_KV_CONFIG: nameserver.PutKvConfigRequestHeader,
        Code.GET_KV_CONFIG: nameserver.GetKvConfigRequestHeader,
        Code.DELETE_KV_CONFIG: nameserver.DeleteKvConfigRequestHeader,
        Code.REGISTER_BROKER: nameserver.RegisterBrokerRequestHeader,
        Code.UNREGISTER_BROKER: nameserver.UnregisterBrokerRequestHeader,
        Code.GET_ROUTEINFO_BY_TOPIC: nameserver.GetRouteInfoRequestHeader,
        Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: (
            admin.GetAllSubscriptionGroupRequestHeader
        ),
        Code.GET_TOPIC_STATS_INFO: admin.GetTopicStatsInfoRequestHeader,
        Code.GET_CONSUMER_CONNECTION_LIST: admin.GetConsumerConnectionListRequestHeader,
        Code.GET_PRODUCER_CONNECTION_LIST: admin.GetProducerConnectionListRequestHeader,
        Code.WIPE_WRITE_PERM_OF_BROKER: nameserver.WipeWritePermOfBrokerRequestHeader,
        Code.DELETE_SUBSCRIPTIONGROUP: admin.DeleteSubscriptionGroupRequestHeader,
        Code.GET_CONSUME_STATS: admin.GetConsumeStatsRequestHeader,
        Code.DELETE_TOPIC_IN_BROKER: admin.DeleteTopicRequestHeader,
        Code.DELETE_TOPIC_IN_NAMESRV: nameserver.DeleteTopicFromNamesrvRequestHeader,
        Code.REGISTER_TOPIC_IN_NAMESRV: nameserver.RegisterTopicRequestHeader,
        Code.GET_KVLIST_BY_NAMESPACE: nameserver.GetKvListByNamespaceRequestHeader,
        Code.RESET_CONSUMER_CLIENT_OFFSET: client.ResetOffsetRequestHeader,
        Code.GET_CONSUMER_STATUS_FROM_CLIENT: client.GetConsumerStatusRequestHeader,
        Code.INVOKE_BROKER_TO_RESET_OFFSET: client.ResetOffsetRequestHeader,
        Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: (
            client.GetConsumerStatusRequestHeader
        ),
        Code.GET_TOPICS_BY_CLUSTER: nameserver.GetTopicsByClusterRequestHeader,
        Code.QUERY_TOPIC_CONSUME_BY_WHO: admin.QueryTopicConsumeByWhoRequestHeader,
        Code.QUERY_CONSUME_TIME_SPAN: admin.QueryConsumeTimeSpanRequestHeader,
        Code.GET_CONSUMER_RUNNING_INFO: client.GetConsumerRunningInfoRequestHeader,
        Code.QUERY_CORRECTION_OFFSET: admin.QueryCorrectionOffsetRequestHeader,
        Code.CONSUME_MESSAGE_DIRECTLY: client.ConsumeMessageDirectlyRequestHeader,
        Code.SEND_MESSAGE_V2: send.SendMessageRequestHeader,
        Code.CLONE_GROUP_OFFSET: admin.CloneGroupOffsetRequestHeader,
        Code.VIEW_BROKER_STATS_DATA: admin.ViewBrokerStatsDataRequestHeader,
        Code.GET_BROKER_CONSUME_STATS: admin.GetBrokerConsumeStatsRequestHeader,
        Code.SEND_BATCH_MESSAGE: send.SendMessageRequestHeader,
        Code.QUERY_CONSUME_QUEUE: pull.QueryConsumeQueueRequestHeader,
        Code.QUERY_DATA_VERSION: nameserver.QueryDataVersionRequestHeader,
        Code.SEND_REPLY_MESSAGE: send.SendMessageRequestHeader,
        Code.SEND_REPLY_MESSAGE_V2: send.SendMessageRequestHeader,
        Code.PUSH_REPLY_MESSAGE_TO_CLIENT: send.ReplyMessageRequestHeader,
        Code.ADD_WRITE_PERM_OF_BROKER: nameserver.AddWritePermOfBrokerRequestHeader,
        Code.QUERY_TOPICS_BY_CONSUMER: admin.QueryTopicsByConsumerRequestHeader,
        Code.QUERY_SUBSCRIPTION_BY_CONSUMER: (
            admin.QuerySubscriptionByConsumerRequestHeader
        ),
        Code.GET_TOPIC_CONFIG: admin.GetTopicConfigRequestHeader,
        Code.GET_SUBSCRIPTIONGROUP_CONFIG: (
            admin.GetSubscriptionGroupConfigRequestHeader
        ),
        Code.LITE_PULL_MESSAGE: pull.PullMessageRequestHeader,
        Code.RECALL_MESSAGE: send.RecallMessageRequestHeader,
        Code.GET_BROKER_MEMBER_GROUP: nameserver.GetBrokerMemberGroupRequestHeader,
        Code.BROKER_HEARTBEAT: nameserver.BrokerHeartbeatRequestHeader,
    }
)

RESPONSE_HEADERS: Final = MappingProxyType[int, type[Header]](
    {
        Code.SEND_MESSAGE: send.SendMessageResponseHeader,
        Code.PULL_MESSAGE: pull.PullMessageResponseHeader,
        Code.QUERY_MESSAGE: pull.QueryMessageResponseHeader,
        Code.QUERY_CONSUMER_OFFSET: pull.OffsetResponseHeader,
        Code.GET_ALL_TOPIC_CONFIG: admin.GetAllTopicConfigResponseHeader,
        Code.GET_BROKER_CONFIG: admin.GetBrokerConfigResponseHeader,
        Code.SEARCH_OFFSET_BY_TIMESTAMP: pull.OffsetResponseHeader,
        Code.GET_MAX_OFFSET: pull.OffsetResponseHeader,
        Code.GET_MIN_OFFSET: pull.OffsetResponseHeader,
        Code.GET_EARLIEST_MSG_STORETIME: pull.GetEarliestMsgStoretimeResponseHeader,
        Code.HEART_BEAT: client.HeartbeatResponseHeader,
        Code.GET_KV_CONFIG: nameserver.GetKvConfigResponseHeader,
        Code.REGISTER_BROKER: nameserver.RegisterBrokerResponseHeader,
        Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: (
            admin.GetAllSubscriptionGroupResponseHeader
        ),
        Code.WIPE_WRITE_PERM_OF_BROKER: nameserver.WipeWritePermOfBrokerResponseHeader,
        Code.SEND_MESSAGE_V2: send.SendMessageResponseHeader,
        Code.SEND_BATCH_MESSAGE: send.SendMessageResponseHeader,
        Code.QUERY_DATA_VERSION: nameserver.QueryDataVersionResponseHeader,
        Code.SEND_REPLY_MESSAGE: send.SendMessageResponseHeader,
        Code.SEND_REPLY_MESSAGE_V2: send.SendMessageResponseHeader,
        Code.ADD_WRITE_PERM_OF_BROKER: nameserver.AddWritePermOfBrokerResponseHeader,
        Code.LITE_PULL_MESSAGE: pull.PullMessageResponseHeader,
        Code.RECALL_MESSAGE: send.RecallMessageResponseHeader,
    }
)

SHORT_NAMED_CODES: Final = frozenset(
    {Code.SEND_MESSAGE_V2, Code.SEND_BATCH_MESSAGE, Code.SEND_REPLY_MESSAGE_V2}
)
"""Requests whose header is sent with one-letter names."""

HEADERLESS_CODES: Final = frozenset(
    {
        Code.UPDATE_AND_CREATE_TOPIC_LIST,
        Code.UPDATE_BROKER_CONFIG,
        Code.GET_BROKER_CONFIG,
        Code.GET_BROKER_RUNTIME_INFO,
        Code.HEART_BEAT,
        Code.LOCK_BATCH_MQ,
        Code.UNLOCK_BATCH_MQ,
        Code.GET_ALL_CONSUMER_OFFSET,
        Code.GET_ALL_DELAY_OFFSET,
        Code.CHECK_CLIENT_CONFIG,
        Code.GET_BROKER_CLUSTER_INFO,
        Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
        Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
        Code.GET_SYSTEM_TOPIC_LIST_FROM_NS,
        Code.GET_SYSTEM_TOPIC_LIST_FROM_BROKER,
        Code.CLEAN_EXPIRED_CONSUMEQUEUE,
        Code.GET_UNIT_TOPIC_LIST,
        Code.GET_HAS_UNIT_SUB_TOPIC_LIST,
        Code.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST,
        Code.CLEAN_UNUSED_TOPIC,
        Code.UPDATE_NAMESRV_CONFIG,
        Code.GET_NAMESRV_CONFIG,
        Code.GET_ALL_PRODUCER_INFO,
        Code.DELETE_EXPIRED_COMMITLOG,
        Code.QUERY_ASSIGNMENT,
        Code.SET_MESSAGE_REQUEST_MODE,
        Code.GET_ALL_MESSAGE_REQUEST_MODE,
        Code.GET_BROKER_HA_STATUS,
    }
)
"""Requests without fields of their own: they are empty, or all is in the body."""

UNSPOKEN_CODES: Final = frozenset(
    code
    for code in Code
    if code not in REQUEST_HEADERS and code not in HEADERLESS_CODES
)
"""Requests known by name only: POP, lite topics, controller, users and the like."""
