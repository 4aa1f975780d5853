"""Headers of inspecting and operating a broker's topics, groups and offsets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from rmqcore.model.topic import AUTO_CREATE_TOPIC, TopicConfig

from .codec import Header, Int32, RequestHeader, TopicRequestHeader


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopicRequestHeader(TopicRequestHeader):
    """17: create or change a topic; `attributes` is `+key=value,-key`."""

    topic: str
    default_topic: str
    read_queue_nums: Int32
    write_queue_nums: Int32
    perm: Int32
    topic_filter_type: str
    topic_sys_flag: Int32 | None = None
    order: bool | None = None
    attributes: str | None = None
    force: bool | None = None

    @classmethod
    def of(cls, config: TopicConfig, removed: Iterable[str] = ()) -> Self:
        """Return the header that sets a configuration and removes some attributes."""
        changes = [f"+{key}={value}" for key, value in config.attributes.items()]
        changes += [f"-{key}" for key in removed]
        return cls(
            topic=config.topic,
            default_topic=AUTO_CREATE_TOPIC,
            read_queue_nums=config.read_queue_nums,
            write_queue_nums=config.write_queue_nums,
            perm=int(config.perm),
            topic_filter_type=config.topic_filter_type,
            topic_sys_flag=config.topic_sys_flag,
            order=config.order,
            attributes=",".join(changes) or None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopicRequestHeader(TopicRequestHeader):
    """215: delete a topic on this broker."""

    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllTopicConfigRequestHeader(RequestHeader):
    """21: all topics; the newest releases ask for them in pages."""

    data_version: str | None = None
    topic_seq: Int32 | None = None
    max_topic_num: Int32 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllTopicConfigResponseHeader(Header):
    """Answer to 21 by the newest releases."""

    total_topic_num: Int32 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTopicConfigRequestHeader(TopicRequestHeader):
    """351: one topic's configuration."""

    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTopicStatsInfoRequestHeader(TopicRequestHeader):
    """202: offsets of each queue of a topic."""

    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTopicConsumeByWhoRequestHeader(TopicRequestHeader):
    """300: the groups that consume a topic."""

    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllSubscriptionGroupRequestHeader(RequestHeader):
    """201: all groups; the newest releases ask for them in pages."""

    data_version: str | None = None
    group_seq: Int32 | None = None
    max_group_num: Int32 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllSubscriptionGroupResponseHeader(Header):
    """Answer to 201 by the newest releases."""

    total_group_num: Int32 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSubscriptionGroupConfigRequestHeader(RequestHeader):
    """352: one group's configuration."""

    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSubscriptionGroupRequestHeader(RequestHeader):
    """207: delete a group, and with `clean_offset` its committed offsets."""

    group_name: str
    clean_offset: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumeStatsRequestHeader(TopicRequestHeader):
    """208: offsets of a group; no topic means all of its topics."""

    consumer_group: str
    topic: str | None = None
    topic_list: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerConnectionListRequestHeader(RequestHeader):
    """203: the members of a group, with addresses and subscriptions."""

    consumer_group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetProducerConnectionListRequestHeader(RequestHeader):
    """204: the producers of a group."""

    producer_group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTopicsByConsumerRequestHeader(RequestHeader):
    """343: the topics that a group consumes."""

    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySubscriptionByConsumerRequestHeader(TopicRequestHeader):
    """345: how a group subscribes to a topic."""

    group: str
    topic: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeTimeSpanRequestHeader(TopicRequestHeader):
    """303: store times at the ends of each queue and at the committed offset."""

    topic: str
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCorrectionOffsetRequestHeader(TopicRequestHeader):
    """308: offsets below which a set of groups has consumed everything."""

    topic: str
    compare_group: str
    filter_groups: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneGroupOffsetRequestHeader(RequestHeader):
    """314: give one group the offsets of another."""

    src_group: str
    dest_group: str
    topic: str | None = None
    offline: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerConsumeStatsRequestHeader(RequestHeader):
    """317: offsets of all groups."""

    is_order: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewBrokerStatsDataRequestHeader(RequestHeader):
    """315: rates of one statistic, such as TOPIC_PUT_NUMS of a topic."""

    stats_name: str
    stats_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerConfigResponseHeader(Header):
    """Answer to 26; `version` is a DataVersion in JSON."""

    version: str
