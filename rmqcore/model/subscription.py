"""A client's report to a broker about itself: groups, modes, subscriptions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SUBSCRIBE_ALL: Final = "*"


class MessageModel(StrEnum):
    """How a group divides the work (behaviour A1, A2)."""

    CLUSTERING = "CLUSTERING"
    BROADCASTING = "BROADCASTING"


class ConsumeType(StrEnum):
    """How a member gets its messages."""

    PULL = "CONSUME_ACTIVELY"
    PUSH = "CONSUME_PASSIVELY"
    POP = "CONSUME_POP"


class ConsumeFromWhere(StrEnum):
    """Where a group starts on a queue that it has committed no offset for."""

    LAST_OFFSET = "CONSUME_FROM_LAST_OFFSET"
    FIRST_OFFSET = "CONSUME_FROM_FIRST_OFFSET"
    TIMESTAMP = "CONSUME_FROM_TIMESTAMP"
    # Deprecated by RocketMQ, but still sent by old clients.
    LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST = (
        "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST"
    )
    MIN_OFFSET = "CONSUME_FROM_MIN_OFFSET"
    MAX_OFFSET = "CONSUME_FROM_MAX_OFFSET"


@dataclass(frozen=True, slots=True)
class SubscriptionData:
    """One topic that a group subscribes to, and which of its messages.

    `sub_version` is the time of subscribing, in ms; brokers keep the newest.
    """

    topic: str
    sub_string: str = SUBSCRIBE_ALL
    tags: frozenset[str] = frozenset()
    codes: frozenset[int] = frozenset()
    sub_version: int = 0
    expression_type: str = "TAG"
    class_filter_mode: bool = False

    @property
    def takes_all(self) -> bool:
        """Whether no tag filter applies."""
        return self.sub_string == SUBSCRIBE_ALL or not self.tags


@dataclass(frozen=True, slots=True)
class ConsumerData:
    """One consumer group in a client's heartbeat."""

    group: str
    consume_type: ConsumeType
    message_model: MessageModel
    consume_from_where: ConsumeFromWhere
    subscriptions: tuple[SubscriptionData, ...]
    unit_mode: bool = False


@dataclass(frozen=True, slots=True)
class HeartbeatData:
    """The message that a client sends to each broker every 30 s."""

    client_id: str
    producers: tuple[str, ...] = ()
    consumers: tuple[ConsumerData, ...] = ()
