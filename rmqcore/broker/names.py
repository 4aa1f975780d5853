"""The topic and group names that a broker accepts, and those it keeps for itself."""

from __future__ import annotations

import re
from typing import Final

from rmqcore.model.topic import (
    AUTO_CREATE_TOPIC,
    DLQ_PREFIX,
    RETRY_PREFIX,
    SCHEDULE_TOPIC,
)

LONGEST_TOPIC: Final = 127
LONGEST_RETRY_TOPIC: Final = 255
LONGEST_GROUP: Final = 120

_NAME: Final = re.compile(r"[%|a-zA-Z0-9_-]+")
_PATTERN: Final = "^[%|a-zA-Z0-9_-]+$"

SELF_TEST_TOPIC: Final = "SELF_TEST_TOPIC"
OFFSET_MOVED_TOPIC: Final = "OFFSET_MOVED_EVENT"
TRANSACTION_TOPICS: Final = (
    "RMQ_SYS_TRANS_HALF_TOPIC",
    "RMQ_SYS_TRANS_OP_HALF_TOPIC",
    "TRANS_CHECK_MAX_TIME_TOPIC",
)
SYSTEM_TOPIC_PREFIX: Final = "rmq_sys_"
SYSTEM_GROUPS: Final = (
    "TOOLS_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
    "CID_RMQ_SYS_TRANS",
)

CLOSED_TOPICS: Final = frozenset(
    (SCHEDULE_TOPIC, SELF_TEST_TOPIC, OFFSET_MOVED_TOPIC, *TRANSACTION_TOPICS)
)
"""Topics that clients must not send to."""

_SYSTEM_TOPICS: Final = CLOSED_TOPICS | {
    AUTO_CREATE_TOPIC,
    "BenchmarkTest",
    "RMQ_SYS_TRACE_TOPIC",
    "CHECKPOINT_TOPIC",
}


def topic_fault(topic: str) -> str | None:
    """Return, in RocketMQ's words, why a topic name is not allowed; None when it is."""
    if not topic.strip():
        return "The specified topic is blank."
    if not _NAME.fullmatch(topic):
        return (
            f"The specified topic: {topic}, contains illegal characters, "
            f"allowing only {_PATTERN}"
        )
    if topic.startswith((RETRY_PREFIX, DLQ_PREFIX)):
        if len(topic) > LONGEST_RETRY_TOPIC:
            return (
                f"The specified topic is DLQ or Retry topic: {topic}, and it's longer "
                f"than topic max length: {LONGEST_RETRY_TOPIC}"
            )
    elif len(topic) > LONGEST_TOPIC:
        return (
            f"The specified topic: {topic}, is longer than topic max length: "
            f"{LONGEST_TOPIC}"
        )
    return None


def group_fault(group: str) -> str | None:
    """Return, in RocketMQ's words, why a group name is not allowed; None when it is."""
    if not group.strip():
        return "The specified group is blank."
    if not _NAME.fullmatch(group):
        return (
            f"The specified group: {group}, contains illegal characters, "
            f"allowing only {_PATTERN}"
        )
    if len(group) > LONGEST_GROUP:
        return (
            f"The specified group: {group}, is longer than group max length: "
            f"{LONGEST_GROUP}"
        )
    return None


def is_system_topic(topic: str) -> bool:
    """Tell whether a topic belongs to RocketMQ itself."""
    return topic in _SYSTEM_TOPICS or topic.startswith(SYSTEM_TOPIC_PREFIX)
