"""Configuration of topics and of consumer groups, as brokers keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Final

from rmqcore.errors import ArgumentError

from .mapping import TopicQueueMapping

RETRY_PREFIX: Final = "%RETRY%"
DLQ_PREFIX: Final = "%DLQ%"
SYSTEM_GROUP_PREFIX: Final = "CID_RMQ_SYS_"
AUTO_CREATE_TOPIC: Final = "TBW102"
SCHEDULE_TOPIC: Final = "SCHEDULE_TOPIC_XXXX"
MESSAGE_TYPE: Final = "message.type"
DEFAULT_RETRY_MAX_TIMES: Final = 16


class Perm(IntFlag):
    """The permissions of a topic's queues on a broker."""

    NONE = 0
    INHERIT = 1
    WRITE = 2
    READ = 4
    PRIORITY = 8


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """One topic on one broker; `mapping` is set where it is a static topic."""

    topic: str
    read_queue_nums: int = 16
    write_queue_nums: int = 16
    perm: Perm = Perm.READ | Perm.WRITE
    topic_filter_type: str = "SINGLE_TAG"
    topic_sys_flag: int = 0
    order: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict)
    mapping: TopicQueueMapping | None = None

    def __post_init__(self) -> None:
        if not self.topic:
            raise ArgumentError("a topic needs a name, got an empty one")
        if self.read_queue_nums < 0 or self.write_queue_nums < 0:
            raise ArgumentError(
                f"topic {self.topic}: queue counts {self.read_queue_nums} (read) and "
                f"{self.write_queue_nums} (write) must not be negative"
            )


@dataclass(frozen=True, slots=True)
class SubscriptionGroupConfig:
    """One consumer group on one broker."""

    group: str
    consume_enable: bool = True
    consume_from_min_enable: bool = True
    consume_broadcast_enable: bool = True
    consume_message_orderly: bool = False
    retry_queue_nums: int = 1
    retry_max_times: int = DEFAULT_RETRY_MAX_TIMES
    broker_id: int = 0
    which_broker_when_consume_slowly: int = 1
    notify_consumer_ids_changed_enable: bool = True
    group_sys_flag: int = 0
    consume_timeout_minute: int = 15

    def __post_init__(self) -> None:
        if not self.group:
            raise ArgumentError("a consumer group needs a name, got an empty one")


def retry_topic(group: str) -> str:
    """Return the topic that holds a group's messages for retry."""
    return RETRY_PREFIX + group


def dead_letter_topic(group: str) -> str:
    """Return the topic that holds the messages a group gave up on."""
    return DLQ_PREFIX + group
