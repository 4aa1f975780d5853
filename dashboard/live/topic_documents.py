"""The document of a cluster's topics, written at each sweep of all groups.

The rules of `documents` hold: a number is known or None, times are milliseconds since
the epoch, rates are messages per second, words are keys. Queues are columns: `ids`,
`min`, `max` and `rate` of a broker are equally long.
"""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from .documents import Level, Status

TopicType = Literal["normal", "retry", "dlq", "system"]


class UnreadAge(TypedDict):
    """The age of the oldest message on a broker that a group has yet to read.

    It is 0 where nothing waits; there may be an older one where it is `partial`. `lost`
    says that the broker has deleted messages which a group had not read.
    """

    oldest_ms: int
    partial: bool
    lost: bool


class TopicBroker(TypedDict):
    """A topic's queues on one broker, and what the broker says of the topic.

    `reason` is set while the offsets are not known; `min` and `max` are then those of
    `as_of`, or empty where they never were known, and are part of no sum. `rate` is
    None in each place where it is not known. `left_out` counts the queues that were too
    many to be listed. `unread` is over all groups that read the topic.

    The logical queues of a static topic are listed under the name that clients use for
    them, which is of no broker; `held` is there since their offsets have gaps.
    """

    name: str
    read: int
    write: int
    perm: int
    message_type: str | None
    ids: list[int]
    min: list[int | None]
    max: list[int | None]
    rate: list[float | None]
    reason: str | None
    as_of: int | None
    left_out: int
    unread: NotRequired[UnreadAge]
    held: NotRequired[list[int | None]]


class TopicGroup(TypedDict):
    """A group with offsets on a topic.

    `reads` says that members are online and subscribe to the topic; None if that is not
    known. `lag` and `oldest_ms` are those on this topic; there may be more where they
    are `partial`.
    """

    group: str
    kind: str
    reads: bool | None
    members: int | None
    lag: int | None
    partial: bool
    oldest_ms: int | None
    oldest_partial: NotRequired[bool]
    level: Level
    word: str


class HotQueue(TypedDict):
    """A queue with three times its even share or more; `share` is from 0 to 1."""

    broker: str
    queue_id: int
    share: float
    since: int


class TopicRow(TypedDict):
    """One topic. `groups` are the worst of `group_count`, the worst first.

    `groups_known` is False while there may be more: some have not been looked at yet,
    or a broker that would know of them is silent.
    `message_type` is the attribute `message.type`, None where brokers differ.
    `rate_partial` says that there may be more. `skew` is the largest queue's traffic
    over the mean of the last five minutes. `trend` has the mean rate of each two
    minutes of the last hour. `quiet_since` is since when no message has come, as far
    as it was watched; 0 where none ever came. `differs` names what brokers say
    differently. A static topic has `leaders`: how many of its logical queues each of
    its brokers leads now.
    """

    topic: str
    kind: TopicType
    message_type: str | None
    status: Status
    brokers: list[TopicBroker]
    queues: int
    held: int | None
    rate_in: float | None
    rate_partial: bool
    skew: float | None
    hot: list[HotQueue]
    trend: list[float | None]
    quiet_since: int | None
    differs: list[str]
    leaders: NotRequired[dict[str, int]]
    groups: list[TopicGroup]
    group_count: int
    groups_known: NotRequired[bool]
    oldest_ms: int | None
    oldest_partial: bool


class Topics(TypedDict):
    """All topics of a cluster as one sweep saw them, in the order of their names."""

    cluster: str
    taken_at: int
    topics: list[TopicRow]
