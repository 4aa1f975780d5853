"""Recognizes RocketMQ's own topics and groups, and finds the group of a retry topic.

Names are all there is to go by: brokers do not mark what they made for themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from rmqcore.model.topic import (
    AUTO_CREATE_TOPIC,
    RETRY_PREFIX,
    SCHEDULE_TOPIC,
    SYSTEM_GROUP_PREFIX,
)

SYSTEM_GROUPS: Final = frozenset(
    (
        "DEFAULT_CONSUMER",
        "DEFAULT_PRODUCER",
        "TOOLS_CONSUMER",
        "SCHEDULE_CONSUMER",
        "FILTERSRV_CONSUMER",
        "__MONITOR_CONSUMER",
        "CLIENT_INNER_PRODUCER",
        "SELF_TEST_P_GROUP",
        "SELF_TEST_C_GROUP",
        "CID_ONS-HTTP-PROXY",
        "CID_ONSAPI_PERMISSION",
        "CID_ONSAPI_OWNER",
        "CID_ONSAPI_PULL",
        "CID_SYS_RMQ_TRANS",
    )
)

SYSTEM_TOPICS: Final = frozenset(
    (
        AUTO_CREATE_TOPIC,
        SCHEDULE_TOPIC,
        "BenchmarkTest",
        "CHECKPOINT_TOPIC",
        "OFFSET_MOVED_EVENT",
        "SELF_TEST_TOPIC",
        "TRANS_CHECK_MAX_TIME_TOPIC",
    )
)
BROADCAST_OFFSETS_SUFFIX: Final = "@broadcast"
"""Suffix of the name under which brokers since 5.1 keep a broadcasting group's offsets.

Every five seconds `broker/offset/BroadcastOffsetManager.java` commits to
GROUP@broadcast the least offset that connected members have pulled, for members that
change between proxy and broker (`enableBroadcastOffsetStore`, on by default). The
offsets stay when all members are gone. Older brokers have nothing of the kind, and no
group can have such a name: @ is refused in it.
"""
_SYSTEM_TOPIC_PREFIXES: Final = ("rmq_sys_", "RMQ_SYS_")
_REPLY_TOPIC_SUFFIX: Final = "_REPLY_TOPIC"
_POP_RETRY_SEPARATORS: Final = ("_", "+")


def is_system_group(group: str) -> bool:
    """Return whether RocketMQ uses the group for itself, or the name is empty.

    Brokers accept offsets for a group without a name, but no one can join or query it.
    """
    return (
        not group
        or group in SYSTEM_GROUPS
        or group.startswith(SYSTEM_GROUP_PREFIX)
        or group.endswith(BROADCAST_OFFSETS_SUFFIX)
    )


def is_system_topic(
    topic: str, cluster_names: Collection[str], broker_names: Collection[str]
) -> bool:
    """Return whether RocketMQ made the topic for itself.

    Each broker has a topic of its own name and one of its cluster's name.
    """
    return (
        topic in SYSTEM_TOPICS
        or topic.startswith(_SYSTEM_TOPIC_PREFIXES)
        or topic in cluster_names
        or topic in broker_names
        or topic.removesuffix(_REPLY_TOPIC_SUFFIX) in cluster_names
    )


def retry_groups(
    topics: Iterable[str], groups: Collection[str], known_topics: Collection[str]
) -> set[str]:
    """Return the groups that are known only from their retry topics.

    POP has a retry topic per group and topic, `%RETRY%group_topic` or
    `%RETRY%group+topic`: such a name is not a group.
    """
    names = (topic.removeprefix(RETRY_PREFIX) for topic in topics)
    return {
        name
        for name in names
        if name not in groups and not _is_pop_retry(name, groups, known_topics)
    }


def _is_pop_retry(
    name: str, groups: Collection[str], known_topics: Collection[str]
) -> bool:
    return any(
        name[:at] in groups and name[at + 1 :] in known_topics
        for at, letter in enumerate(name)
        if letter in _POP_RETRY_SEPARATORS
    )
