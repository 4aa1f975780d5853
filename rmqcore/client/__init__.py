"""Clients: producer, push and lite pull consumers, and the instance that they share.

`sync` has the same three for code without asyncio.
"""

from rmqcore.protocol.acl import AclCredentials

from .calls import BrokerCalls
from .events import (
    AllocationChanged,
    Event,
    EventCallback,
    LockGained,
    LockLost,
    MemberEvent,
    OffsetCommitted,
    PullDelayed,
)
from .instance import ClientInstance
from .listener import ConsumeContext, ConsumeResult, Listener
from .lite_pull_consumer import LitePullConsumer
from .process_queue import ProcessQueue, QueueLimits
from .producer import Producer
from .pulling import PullSettings
from .push_consumer import PushConsumer
from .push_settings import PushSettings
from .registry import PROCESS_REGISTRY, InstanceRegistry
from .selectors import Selector, by_hash, by_machine_room, by_random
from .sending import SendResult, SendStatus
from .timer_driver import TimerDriver, TimerRun, run_slot

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
