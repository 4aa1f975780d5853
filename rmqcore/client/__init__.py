"""Clients: producer, push and lite pull consumers, and the instance that they share.

`sync` has the same three clients for code without asyncio.
"""

from rmqcore.client.consumer.listener import ConsumeContext, ConsumeResult, Listener
from rmqcore.client.consumer.lite_pull_consumer import LitePullConsumer
from rmqcore.client.consumer.pulling import PullSettings
from rmqcore.client.consumer.push_consumer import PushConsumer
from rmqcore.client.consumer.push_settings import PushSettings
from rmqcore.client.instance.calls import BrokerCalls
from rmqcore.client.instance.client_instance import ClientInstance
from rmqcore.client.instance.registry import PROCESS_REGISTRY, InstanceRegistry
from rmqcore.client.instance.timer_driver import (
    TimerDriver,
    TimerRun,
    run_slot,
)
from rmqcore.client.membership.events import (
    AllocationChanged,
    Event,
    EventCallback,
    LockGained,
    LockLost,
    MemberEvent,
    OffsetCommitted,
    PullDelayed,
)
from rmqcore.client.membership.process_queue import ProcessQueue, QueueLimits
from rmqcore.client.producer.producer import Producer
from rmqcore.client.producer.selectors import (
    Selector,
    by_hash,
    by_machine_room,
    by_random,
)
from rmqcore.client.producer.sending import SendResult, SendStatus
from rmqcore.protocol.acl import AclCredentials

__all__ = [
    "PROCESS_REGISTRY",
    "AclCredentials",
    "AllocationChanged",
    "BrokerCalls",
    "ClientInstance",
    "ConsumeContext",
    "ConsumeResult",
    "Event",
    "EventCallback",
    "InstanceRegistry",
    "Listener",
    "LitePullConsumer",
    "LockGained",
    "LockLost",
    "MemberEvent",
    "OffsetCommitted",
    "ProcessQueue",
    "Producer",
    "PullDelayed",
    "PullSettings",
    "PushConsumer",
    "PushSettings",
    "QueueLimits",
    "Selector",
    "SendResult",
    "SendStatus",
    "TimerDriver",
    "TimerRun",
    "by_hash",
    "by_machine_room",
    "by_random",
    "run_slot",
]
