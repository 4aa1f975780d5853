"""The topics of one broker.

A topic is made by an administrator, by the first message sent to it (where topics
inherit from a default one), or by the broker for retries and dead letters. Every change
makes a new data version, which is how name servers notice.

No IO and no clock: times are arguments in ms, and `changed` tells the owner to write
the table to disk and register it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from rmqcore.model import Perm, TopicConfig
from rmqcore.model.topic import AUTO_CREATE_TOPIC, SCHEDULE_TOPIC
from rmqcore.protocol.bodies import DataVersion

from .names import (
    OFFSET_MOVED_TOPIC,
    SELF_TEST_TOPIC,
    TRANSACTION_TOPICS,
    is_system_topic,
    topic_fault,
)
from .versions import advanced

_READ_WRITE: Final = Perm.READ | Perm.WRITE
_SCHEDULE_QUEUES: Final = 18


def system_topics(
    cluster: str, broker_name: str, *, default_queue_nums: int, auto_create: bool
) -> list[TopicConfig]:
    """Return the topics that a broker has from the start.

    There are at least two: a name server mistakes a first registration with only one
    topic for a change.
    """
    inherit = _READ_WRITE | Perm.INHERIT
    topics = [
        TopicConfig(SELF_TEST_TOPIC, 1, 1),
        TopicConfig(OFFSET_MOVED_TOPIC, 1, 1),
        TopicConfig(SCHEDULE_TOPIC, _SCHEDULE_QUEUES, _SCHEDULE_QUEUES),
        TopicConfig(f"{cluster}_REPLY_TOPIC", 1, 1),
        TopicConfig(TRANSACTION_TOPICS[0], 1, 1),
        TopicConfig(cluster, 16, 16, inherit),
        TopicConfig(broker_name, 1, 1, inherit),
    ]
    if auto_create:
        topics.append(
            TopicConfig(
                AUTO_CREATE_TOPIC, default_queue_nums, default_queue_nums, inherit
            )
        )
    return topics


class TopicTable:
    """Topics by name, with the version of the whole table."""

    def __init__(self, initial: list[TopicConfig], now_ms: int) -> None:
        self._topics = {config.topic: config for config in initial}
        self._initial = frozenset(self._topics)
        self.version = DataVersion(timestamp=now_ms)
        self.changed = False

    def __contains__(self, topic: object) -> bool:
        return topic in self._topics

    def get(self, topic: str) -> TopicConfig | None:
        """Return a topic's configuration, None when it does not exist."""
        return self._topics.get(topic)

    @property
    def all(self) -> Mapping[str, TopicConfig]:
        """Every topic by name."""
        return self._topics

    def is_system(self, topic: str) -> bool:
        """Tell whether the topic is RocketMQ's own or was there from the start."""
        return topic in self._initial or is_system_topic(topic)

    def restore(self, topics: Mapping[str, TopicConfig], version: DataVersion) -> None:
        """Load what an earlier run of this broker wrote to disk."""
        self._topics |= topics
        self.version = version

    def put(self, config: TopicConfig, now_ms: int) -> None:
        """Create or replace a topic."""
        self._topics[config.topic] = config
        self._touch(now_ms)

    def delete(self, topic: str, now_ms: int) -> bool:
        """Remove a topic; false when it was not there."""
        if self._topics.pop(topic, None) is None:
            return False
        self._touch(now_ms)
        return True

    def inherit(
        self, topic: str, default_topic: str, queue_nums: int, now_ms: int
    ) -> TopicConfig | None:
        """Create the topic of a first message with the settings of a default topic.

        Return None when the default topic does not exist or does not pass on its
        configuration, or when the name is not allowed.
        """
        example = self._topics.get(default_topic)
        if (
            example is None
            or Perm.INHERIT not in example.perm
            or topic_fault(topic) is not None
        ):
            return None
        nums = max(0, min(queue_nums, example.write_queue_nums))
        config = replace(
            example,
            topic=topic,
            read_queue_nums=nums,
            write_queue_nums=nums,
            perm=example.perm & ~Perm.INHERIT,
        )
        self.put(config, now_ms)
        return config

    def ensure(self, topic: str, queue_nums: int, now_ms: int) -> TopicConfig:
        """Return the topic; create it with that many queues of each kind if missing."""
        config = self._topics.get(topic)
        if config is None:
            config = TopicConfig(topic, queue_nums, queue_nums, _READ_WRITE)
            self.put(config, now_ms)
        return config

    def _touch(self, now_ms: int) -> None:
        self.version = advanced(self.version, now_ms)
        self.changed = True
