"""The state that a broker's handlers work on: tables, store and clock in one place."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from rmqcore.model import MessageQueue
from rmqcore.protocol.command import RemotingCommand
from rmqcore.store import MessageStore
from rmqcore.transport import Channel, Clock

from .consumers import ChangeNotice, ConsumerTable
from .delays import DelayOffsets
from .groups import SubscriptionGroupTable
from .holds import PullHolds
from .locks import QueueLocks
from .offsets import ConsumerOffsetTable
from .producers import ProducerTable
from .settings import BrokerSettings
from .statistics import Statistics
from .topics import TopicTable

Answer = RemotingCommand | None


@dataclass(slots=True)
class BrokerState:
    """One broker's tables and services. The server makes it and runs its timers."""

    settings: BrokerSettings
    clock: Clock
    store: MessageStore
    topics: TopicTable
    groups: SubscriptionGroupTable
    offsets: ConsumerOffsetTable
    delays: DelayOffsets
    holds: PullHolds[Channel]
    statistics: Statistics
    notify: Callable[[ChangeNotice[Channel] | None], None]
    """Tells the members of a group that its members or topics changed."""
    save_configuration: Callable[[], None]
    """Writes changed topics and groups to disk."""
    topics_changed: Callable[[], None]
    """Writes changed topics to disk and registers them soon."""
    register_now: Callable[[], Awaitable[object]]
    """Returns when the name servers have been told of the topics."""
    readable_queues: Callable[[str], Awaitable[list[MessageQueue] | None]]
    """Returns a topic's queues on the whole cluster; None where no broker has it."""
    wait_flushed: Callable[[int], Awaitable[None]]
    """Returns when the log is on the disk up to an offset."""
    consumers: ConsumerTable[Channel] = field(default_factory=ConsumerTable)
    producers: ProducerTable[Channel] = field(default_factory=ProducerTable)
    locks: QueueLocks = field(default_factory=QueueLocks)
    chance: random.Random = field(default_factory=random.Random)
    address: str = ""
    store_host: bytes = b""
    store_host_hex: str = ""
    """The beginning of every offset message id."""
    own_properties: bytes = b""
    """The properties that the broker adds to every message it stores."""
    started_ms: int = 0

    async def answer_registered(self, response: RemotingCommand) -> Answer:
        """Answer when the name servers have been told of changed topics."""
        await self.register_now()
        return response


Handler = Callable[[BrokerState, Channel, RemotingCommand], Answer | Awaitable[Answer]]
"""Answers one request: now, later, or (None) not at all or in another way."""
