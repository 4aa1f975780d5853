"""Value types of all packages: queues, messages, routes, subscriptions, snapshots.

They are frozen, slotted and checked on construction. No IO, no clock, no randomness.
"""

from .mapping import LogicQueueMappingItem, TopicQueueMapping
from .message import Message, MessageExt
from .queue import MessageQueue, sorted_client_ids, sorted_queues
from .route import BrokerData, QueueData, TopicRoute
from .subscription import (
    ConsumeFromWhere,
    ConsumerData,
    ConsumeType,
    HeartbeatData,
    MessageModel,
    SubscriptionData,
)
from .topic import Perm, SubscriptionGroupConfig, TopicConfig

__all__ = [
    "BrokerData",
    "ConsumeFromWhere",
    "ConsumeType",
    "ConsumerData",
    "HeartbeatData",
    "LogicQueueMappingItem",
    "Message",
    "MessageExt",
    "MessageModel",
    "MessageQueue",
    "Perm",
    "QueueData",
    "SubscriptionData",
    "SubscriptionGroupConfig",
    "TopicConfig",
    "TopicQueueMapping",
    "TopicRoute",
    "sorted_client_ids",
    "sorted_queues",
]
