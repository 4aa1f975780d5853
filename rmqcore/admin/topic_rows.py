"""Joins what brokers say about each topic into one table of queues.

A broker that did not answer still has its queues: they are known from its listing, or
from the previous snapshot, and their offsets are unknown, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rmqcore.model.columns import Column, QueueKey, joined
from rmqcore.model.route import QueueData
from rmqcore.model.snapshot import TopicSnapshot, topic_kind
from rmqcore.model.topic import dead_letter_topic, retry_topic

from .logical_queues import logical_segments
from .names import is_system_topic
from .segments import Segment
from .sweep import BrokerAnswers
from .tables import TopicOffsets


@dataclass(frozen=True, slots=True)
class TopicRows:
    """A topic's rows, and the same rows broker by broker."""

    topic: TopicSnapshot
    segments: tuple[Segment, ...]


def join_topics(
    answers: Sequence[BrokerAnswers],
    names: Iterable[str],
    previous: Mapping[str, TopicSnapshot],
) -> dict[str, TopicRows]:
    """Return the named topics in the order of their names; answers by broker name.

    Unchanged topics and columns are shared with the previous ones.
    """
    rows = {}
    for name in sorted(names):
        topic = _join(name, answers, previous.get(name))
        if topic is not None:
            rows[name] = topic
    return rows


def known_topics(
    answers: Sequence[BrokerAnswers], groups: Collection[str] | None
) -> set[str]:
    """Return the topics that any broker was asked about, and those of silent brokers.

    They are those of all groups, or of the groups named.
    """
    names: set[str] = set()
    for answer in answers:
        names |= answer.stats.keys()
        if answer.error is None:
            continue
        if groups is None:
            names |= answer.memory.topic_names
        else:
            names.update(*(_topics_of(answer, group) for group in groups))
    return names


def system_topics(
    answers: Sequence[BrokerAnswers],
) -> dict[str, dict[str, QueueData]]:
    """Return the topics that RocketMQ made for itself, by name and broker."""
    clusters = frozenset(answer.broker.cluster for answer in answers)
    brokers = frozenset(answer.name for answer in answers)
    found: dict[str, dict[str, QueueData]] = {}
    for answer in answers:
        for name, data in answer.listed_topics.items():
            if is_system_topic(name, clusters, brokers):
                found.setdefault(name, {})[answer.name] = data
    return dict(sorted(found.items()))


def _topics_of(answer: BrokerAnswers, group: str) -> set[str]:
    """Return the topics of a group that a silent broker listed."""
    used = {retry_topic(group), dead_letter_topic(group)}
    used.update(answer.committed.get(group, ()))
    members = answer.memory.members.get(group)
    if members is not None:
        used.update(members.subscriptions)
    return used & answer.listed_topics.keys()


def _join(
    name: str, answers: Sequence[BrokerAnswers], before: TopicSnapshot | None
) -> TopicRows | None:
    segments = []
    brokers = {}
    for answer in answers:
        data = answer.listed_topics.get(name)
        if data is None:
            continue
        brokers[answer.name] = data
        segments.append(_segment(name, answer, data))
    if not segments:
        return None
    mappings = [each.mappings[name] for each in answers if name in each.mappings]
    if mappings:
        segments = logical_segments(name, answers, mappings)
    keys: tuple[QueueKey, ...] = tuple(
        [(name, part.broker, queue) for part in segments for queue in part.queue_ids]
    )
    pieces = tuple([each for part in segments for each in part.pieces or ()])
    low = joined([part.min for part in segments])
    high = joined([part.max for part in segments])
    if before is not None and before.keys == keys:
        # Sharing unchanged columns keeps comparisons fast and memory small.
        keys = before.keys
        low = before.min if before.min == low else low
        high = before.max if before.max == high else high
        if (
            low is before.min
            and high is before.max
            and before.brokers == brokers
            and before.pieces == pieces
        ):
            return TopicRows(before, tuple(segments))
    topic = TopicSnapshot(name, topic_kind(name), keys, low, high, brokers, pieces)
    return TopicRows(topic, tuple(segments))


def _segment(name: str, answer: BrokerAnswers, data: QueueData) -> Segment:
    offsets = answer.stats.get(name, answer.reason_of("topics"))
    if isinstance(offsets, TopicOffsets):
        return Segment(
            name,
            answer.name,
            offsets.queue_ids,
            Column(offsets.min),
            Column(offsets.max),
        )
    count = max(data.read_queue_nums, data.write_queue_nums)
    queue_ids = list(range(count))
    if answer.topics is None:
        queue_ids = answer.memory.queue_ids.get(name, queue_ids)
    unknown = Column.unknown(len(queue_ids), offsets)
    return Segment(name, answer.name, queue_ids, unknown, unknown)
