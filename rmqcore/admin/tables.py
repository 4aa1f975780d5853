"""The large answers of a sweep, decoded into columns without an object per queue.

Theory. A sweep reads one offset table with tens of thousands of numbers and hundreds
of topic statistics. Both have queues or bare integers as keys, which no JSON decoder
accepts; but their shape is known, so a few replacements in the bytes turn the part that
matters into JSON, and one call of a C decoder reads it. The counts in the result are
checked against the text; when they differ (a name held one of the patterns) or the
decoder refuses, the general decoder of `protocol.bodies` reads the original.

Most of an offset table is the same, byte by byte, as a sweep before, so entries are
looked up by their bytes first, and only new ones are decoded. The offsets of a group of
which no entry is new are the same object, by which later steps see that it has not
moved.

Cost, 4,600 entries of 8 offsets: 5 ms for the JSON, 8 ms for the tables, less for
those known.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import Final

import msgspec

from rmqcore.model.columns import Values
from rmqcore.model.mapping import TopicQueueMapping
from rmqcore.model.route import QueueData
from rmqcore.model.topic import MESSAGE_TYPE, Perm
from rmqcore.protocol import bodies
from rmqcore.protocol.bodies.codec import (
    Int32,
    Int64,
    QueueCount,
    quote_bare_keys,
)
from rmqcore.protocol.bodies.mapping import WireMapping

GroupOffsets = dict[str, dict[str, list[int]]]
"""Group, then topic, then queue ids and offsets in turn: `[0, 5, 1, 6]`."""

_SEPARATOR: Final = "@"
_OFFSETS: Final = b'"offsetTable":{'
_PULLED: Final = b'"pullOffsetTable":{'
_NEXT_TABLE: Final = b"," + _PULLED


@dataclass(frozen=True, slots=True)
class TopicOffsets:
    """A topic's queues on one broker, by queue id."""

    queue_ids: list[int]
    min: Values
    max: Values


@dataclass(frozen=True, slots=True)
class OffsetTables:
    """What groups have committed, and pulled where the broker tells (5.x does)."""

    committed: GroupOffsets
    pulled: GroupOffsets | None


# 43: all consumer offsets

_Entry = tuple[str, str, list[int]]
"""Topic, group, and queue ids and offsets in turn."""


@dataclass(slots=True)
class _KnownTable:
    """The entries of a table by their bytes, and what they say, by group."""

    entries: dict[bytes, _Entry] = field(default_factory=dict)
    groups: GroupOffsets = field(default_factory=dict)


@dataclass(slots=True)
class KnownOffsets:
    """A broker's last offset tables."""

    committed: _KnownTable = field(default_factory=_KnownTable)
    pulled: _KnownTable = field(default_factory=_KnownTable)


_FLAT: Final = msgspec.json.Decoder(list[str | list[Int64]])


def decode_offset_tables(
    body: bytes, known: KnownOffsets | None = None, *, pulled: bool = True
) -> OffsetTables:
    """Return a broker's consumer offsets (43), or raise `BodyError`.

    Entries that are among the `known` are not decoded again, and what they say is
    shared; what is known is then that of this body. Without `pulled` it is not read.
    """
    known = known or KnownOffsets()
    committed = _fast_offsets(body, _OFFSETS, known.committed)
    if committed is None:
        return _slow_offsets(body)
    if not pulled or _PULLED not in body:
        return OffsetTables(committed, None)
    handed_out = _fast_offsets(body, _PULLED, known.pulled)
    if handed_out is None:
        return _slow_offsets(body)
    return OffsetTables(committed, handed_out)


def _fast_offsets(
    body: bytes, opening: bytes, known: _KnownTable
) -> GroupOffsets | None:
    start = body.find(opening) + len(opening)
    if start < len(opening):
        return None
    if body[start : start + 1] == b"}":
        known.entries, known.groups = {}, {}
        return {} if _ends_well(body, start) else None
    end = body.find(b"}}", start) + 1
    if end == 0 or not _ends_well(body, end):
        return None
    # Without the closing brace of each. A name that holds such a pattern makes more
    # parts than there are entries.
    parts = body[start : end - 1].split(b"},")
    entries = known.entries
    fresh = [part for part in parts if part not in entries]
    decoded = _decoded(fresh) if fresh else {}
    if decoded is None:
        return None
    gone = [entries.pop(part) for part in entries.keys() - set(parts)]
    entries.update(decoded)
    if gone or decoded:
        known.groups = _changed(known.groups, gone, decoded.values())
    if sum(map(len, known.groups.values())) != len(entries):
        # An entry names a group and topic that another names, too: the last one counts.
        known.groups = _by_group(entries[part] for part in parts)
    return known.groups


def _changed(
    before: GroupOffsets, gone: Iterable[_Entry], new: Iterable[_Entry]
) -> GroupOffsets:
    """Return offsets by group after some entries have gone and others have come.

    Those of other groups are shared.
    """
    groups, made = dict(before), GroupOffsets()
    for topic, group, _flat in gone:
        if group not in made:
            made[group] = dict(before[group])
        made[group].pop(topic, None)
    for topic, group, flat in new:
        if group not in made:
            made[group] = dict(before.get(group, ()))
        made[group][topic] = flat
    groups.update(made)
    for group, topics in made.items():
        if not topics:
            del groups[group]
    return groups


def _decoded(parts: list[bytes]) -> dict[bytes, _Entry] | None:
    """Return the entries of a table's parts; None when one is not what it seems."""
    text = b"},".join(parts) + b"}"
    as_list = text.replace(b'":{', b'",[').replace(b"}", b"]").replace(b":", b",")
    try:
        items = _FLAT.decode(b"[" + as_list + b"]")
    except msgspec.MsgspecError:
        return None
    entries = len(items) // 2
    numbers = sum(map(len, items[1::2]))
    if text.count(b":") * 2 != numbers + 2 * entries or text.count(b"}") != entries:
        return None
    if entries != len(parts):
        return None
    found: dict[bytes, _Entry] = {}
    for part, name, flat in zip(parts, items[::2], items[1::2], strict=True):
        if not isinstance(name, str) or not isinstance(flat, list):
            return None
        topic, separator, group = name.partition(_SEPARATOR)
        if not separator:
            return None
        # Each name is in many entries, and in the next table again.
        found[part] = intern(topic), intern(group), flat
    return found


def _ends_well(body: bytes, brace: int) -> bool:
    """Return whether a table's closing brace is followed by what should follow it."""
    rest = body[brace + 1 : brace + 1 + len(_NEXT_TABLE)]
    return rest in (b"}", _NEXT_TABLE)


def _by_group(entries: Iterable[_Entry]) -> GroupOffsets:
    groups: GroupOffsets = {}
    for topic, group, flat in entries:
        topics = groups.get(group)
        if topics is None:
            groups[group] = {topic: flat}
        else:
            topics[topic] = flat
    return groups


def _slow_offsets(body: bytes) -> OffsetTables:
    groups: GroupOffsets = {}
    for key, offsets in bodies.decode_consumer_offsets(body).offsets.items():
        topic, group = bodies.split_offset_key(key)
        groups.setdefault(group, {})[topic] = [
            number for pair in sorted(offsets.items()) for number in pair
        ]
    return OffsetTables(groups, None)


# 202: topic statistics


class _Queue(msgspec.Struct, gc=False):
    queueId: Int32  # noqa: N815 - Java's names, read without a renaming step
    minOffset: Int64  # noqa: N815
    maxOffset: Int64  # noqa: N815


class _Stats(msgspec.Struct, gc=False):
    offsetTable: list[_Queue]  # noqa: N815


_STATS: Final = msgspec.json.Decoder(_Stats)


def decode_topic_offsets(body: bytes) -> TopicOffsets:
    """Return a topic's queues on one broker (202), or raise `BodyError`."""
    # {{queue}:{offsets},{queue}:{offsets}} becomes [{queue,offsets},{queue,offsets}].
    text = (
        body.replace(b'{{"brokerName"', b'[{"brokerName"', 1)
        .replace(b"}:{", b",")
        .replace(b'}},"topicPutTps"', b'}],"topicPutTps"', 1)
    )
    try:
        rows = _STATS.decode(text).offsetTable
        if len(rows) == body.count(b'"queueId":'):
            return _sorted_offsets(rows)
    except msgspec.MsgspecError:
        pass
    general = bodies.decode_topic_stats(body).offset_table
    return _sorted_offsets(
        [_Queue(key.queue_id, row.min_offset, row.max_offset) for key, row in general]
    )


def _sorted_offsets(rows: list[_Queue]) -> TopicOffsets:
    queue_ids = [row.queueId for row in rows]
    if queue_ids != sorted(queue_ids):
        rows.sort(key=lambda row: row.queueId)
        queue_ids.sort()
    return TopicOffsets(
        queue_ids,
        array("q", [row.minOffset for row in rows]),
        array("q", [row.maxOffset for row in rows]),
    )


# 21 and 201: which topics and groups there are


class _Topic(msgspec.Struct, gc=False):
    readQueueNums: QueueCount  # noqa: N815
    writeQueueNums: QueueCount  # noqa: N815
    perm: Int32 = 6
    attributes: dict[str, str] = {}


class _Topics(msgspec.Struct):
    topicConfigTable: dict[str, _Topic]  # noqa: N815
    dataVersion: msgspec.Raw = msgspec.Raw(b"")  # noqa: N815
    mappingDataVersion: msgspec.Raw = msgspec.Raw(b"")  # noqa: N815
    topicQueueMappingDetailMap: dict[str, WireMapping] = {}  # noqa: N815


class _Group(msgspec.Struct, gc=False):
    pass


class _Groups(msgspec.Struct):
    subscriptionGroupTable: dict[str, _Group]  # noqa: N815
    dataVersion: msgspec.Raw = msgspec.Raw(b"")  # noqa: N815


_HOSTED: Final = b'"hostedQueues":'
_TOPICS: Final = msgspec.json.Decoder(_Topics)
_GROUPS: Final = msgspec.json.Decoder(_Groups)


@dataclass(frozen=True, slots=True)
class Listing:
    """The names that a broker lists, and their version as the broker words it.

    `topics` has the queue counts where the names are topics, `mappings` those of them
    that are static. `version` is sent back unchanged, to ask whether anything has
    changed since; `mapping_version` comes with every answer.
    """

    names: frozenset[str]
    version: str
    topics: Mapping[str, QueueData] = field(default_factory=dict)
    mappings: Mapping[str, TopicQueueMapping] = field(default_factory=dict)
    mapping_version: str = ""


def decode_topic_listing(body: bytes, broker_name: str) -> Listing:
    """Return a broker's topics and their queue counts (21), or raise `BodyError`."""
    mappings: Mapping[str, TopicQueueMapping]
    try:
        # Mappings have bare integers as keys; most brokers have none.
        is_strict = _HOSTED not in body
        read = _TOPICS.decode(body if is_strict else quote_bare_keys(body))
        version = bytes(read.dataVersion).decode()
        mapping_version = bytes(read.mappingDataVersion).decode()
        table = read.topicConfigTable
        found = read.topicQueueMappingDetailMap
        mappings = {name: mapping.model() for name, mapping in found.items()}
    except (msgspec.MsgspecError, UnicodeDecodeError):
        version = mapping_version = ""
        general = bodies.decode_topic_config_table(body).topics
        mappings = {
            name: topic.mapping
            for name, topic in general.items()
            if topic.mapping is not None
        }
        table = {
            name: _Topic(
                topic.read_queue_nums,
                topic.write_queue_nums,
                topic.perm,
                dict(topic.attributes),
            )
            for name, topic in general.items()
        }
    topics = {
        name: QueueData(
            broker_name,
            topic.readQueueNums,
            topic.writeQueueNums,
            Perm(topic.perm),
            message_type=topic.attributes.get(MESSAGE_TYPE),
        )
        for name, topic in table.items()
    }
    return Listing(frozenset(topics), version, topics, mappings, mapping_version)


def decode_group_listing(body: bytes) -> Listing:
    """Return a broker's group names (201), or raise `BodyError`."""
    try:
        read = _GROUPS.decode(body)
        version = bytes(read.dataVersion).decode()
        return Listing(frozenset(read.subscriptionGroupTable), version)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return Listing(frozenset(bodies.decode_group_table(body).groups), "")
