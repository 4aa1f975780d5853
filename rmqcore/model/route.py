"""The route of a topic: its brokers, their addresses, their queues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .mapping import TopicQueueMapping, leaders_of
from .queue import MessageQueue
from .topic import Perm

MASTER_ID: Final = 0


@dataclass(frozen=True, slots=True)
class BrokerData:
    """The addresses (`host:port`) of one broker name, by broker id; 0 is the master."""

    cluster: str
    broker_name: str
    addresses: Mapping[int, str]

    @property
    def master(self) -> str | None:
        """The master's address, or None while only slaves are alive."""
        return self.addresses.get(MASTER_ID)

    @property
    def any_address(self) -> str | None:
        """The master's address, else the slave's with the lowest id."""
        if not self.addresses:
            return None
        return self.addresses[min(self.addresses)]


@dataclass(frozen=True, slots=True)
class QueueData:
    """How many queues a topic has on one broker, and their permissions.

    `message_type` is the topic's attribute `message.type` there, as the broker words
    it. It is None where it is not set, and in routes, which do not tell it.
    """

    broker_name: str
    read_queue_nums: int
    write_queue_nums: int
    perm: Perm
    topic_sys_flag: int = 0
    message_type: str | None = None


@dataclass(frozen=True, slots=True)
class TopicRoute:
    """Everything that a name server says about one topic.

    A static topic has `mappings` by broker name; its queues are logical ones.
    """

    brokers: tuple[BrokerData, ...]
    queues: tuple[QueueData, ...]
    order_topic_conf: str | None = None
    filter_servers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mappings: Mapping[str, TopicQueueMapping] = field(default_factory=dict)

    def broker(self, broker_name: str) -> BrokerData | None:
        """Return the broker of that name, or None."""
        return next((b for b in self.brokers if b.broker_name == broker_name), None)

    def leaders(self, topic: str) -> dict[MessageQueue, str]:
        """Return the logical queues of a static topic and the broker of each."""
        found = leaders_of(self.mappings.values())
        return {MessageQueue(topic, *key): leader for key, leader in found.items()}

    def subscribe_queues(self, topic: str) -> list[MessageQueue]:
        """Return the queues that consumers may read, in the order of the route."""
        if self.mappings:
            return list(self.leaders(topic))
        return self.physical_queues(topic)

    def physical_queues(self, topic: str) -> list[MessageQueue]:
        """Return the readable queues of its brokers, also those of a static topic."""
        return [
            MessageQueue(topic, data.broker_name, queue_id)
            for data in self.queues
            if Perm.READ in data.perm
            for queue_id in range(data.read_queue_nums)
        ]

    def publish_queues(self, topic: str) -> list[MessageQueue]:
        """Return the queues that producers may write: writable, on a living master.

        `order_topic_conf`, where a name server has one, replaces the counts.
        """
        if self.order_topic_conf:
            return self._ordered_queues(topic, self.order_topic_conf)
        if self.mappings:
            return list(self.leaders(topic))
        writable = (
            data
            for data in sorted(self.queues, key=lambda data: data.broker_name)
            if Perm.WRITE in data.perm
        )
        return [
            MessageQueue(topic, data.broker_name, queue_id)
            for data in writable
            if (broker := self.broker(data.broker_name)) and broker.master is not None
            for queue_id in range(data.write_queue_nums)
        ]

    @staticmethod
    def _ordered_queues(topic: str, conf: str) -> list[MessageQueue]:
        queues: list[MessageQueue] = []
        for item in filter(None, conf.split(";")):
            broker_name, _, count = item.partition(":")
            queues.extend(
                MessageQueue(topic, broker_name, queue_id)
                for queue_id in range(int(count))
            )
        return queues
