"""Bodies about topics: their configuration (17, 18, 21, 351) and statistics (202)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from rmqcore.model import MessageQueue, Perm, TopicConfig
from rmqcore.protocol.fastjson import dumps

from .codec import (
    BodyDecoder,
    DataVersion,
    Int32,
    Int64,
    Name,
    QueueCount,
    WireQueue,
    by_queue,
    empty_tables,
    pair_queue_keys,
    quote_bare_keys,
    reshape_tables,
    rewrite_one_table,
)
from .mapping import WireMapping, mapping_detail_members

_STATS_CLOSING: Final = b'}},"topicPutTps":'


class WireTopicConfig(msgspec.Struct, rename="camel"):
    """A topic's configuration with Java's member names.

    `mapping_detail` is set for static topics, and only by the answer to 351.
    """

    topic_name: Name
    attributes: dict[str, str] = {}
    mapping_detail: WireMapping | None = None
    order: bool = False
    perm: Int32 = 6
    read_queue_nums: QueueCount = 16
    topic_filter_type: str = "SINGLE_TAG"
    topic_sys_flag: Int32 = 0
    write_queue_nums: QueueCount = 16

    def model(self) -> TopicConfig:
        """Return it as the model's type."""
        return TopicConfig(
            self.topic_name,
            self.read_queue_nums,
            self.write_queue_nums,
            Perm(self.perm),
            self.topic_filter_type,
            self.topic_sys_flag,
            self.order,
            self.attributes,
            None if self.mapping_detail is None else self.mapping_detail.model(),
        )


class _TopicConfigTable(msgspec.Struct, rename="camel"):
    data_version: DataVersion = DataVersion()
    topic_config_table: dict[str, WireTopicConfig] = {}
    topic_queue_mapping_detail_map: dict[str, WireMapping] = {}


class _TopicConfigList(msgspec.Struct, rename="camel"):
    topic_config_list: list[WireTopicConfig] = []


class TopicOffset(msgspec.Struct, frozen=True, rename="camel"):
    """Offsets of one queue; the update time is that of the newest message, in ms."""

    last_update_timestamp: Int64 = 0
    max_offset: Int64 = 0
    min_offset: Int64 = 0


class TopicStats(msgspec.Struct, frozen=True, rename="camel"):
    """Offsets of each queue of a topic on one broker (202).

    `offset_table` is in the broker's order, which is arbitrary.
    """

    offset_table: list[tuple[WireQueue, TopicOffset]] = []
    topic_put_tps: float = 0.0

    def by_queue(self) -> dict[MessageQueue, TopicOffset]:
        """Return the offsets as a table."""
        return by_queue(self.offset_table)


@dataclass(frozen=True, slots=True)
class TopicConfigTable:
    """All topics of a broker, by name."""

    topics: Mapping[str, TopicConfig]
    data_version: DataVersion


def _rewrite_stats(data: bytes) -> bytes | None:
    if not data.endswith(b"}}"):
        paired = pair_queue_keys(data)
        if paired == data:
            return empty_tables(data, b"offsetTable")
        return paired and paired.replace(_STATS_CLOSING, b'}]],"topicPutTps":')
    # Brokers of 4.9 send no rate.
    return rewrite_one_table(data)


_CONFIG: Final = BodyDecoder(WireTopicConfig, rewrite=quote_bare_keys)
_CONFIG_TABLE: Final = BodyDecoder(_TopicConfigTable, rewrite=quote_bare_keys)
_CONFIG_LIST: Final = BodyDecoder(_TopicConfigList)
_STATS: Final = BodyDecoder(
    TopicStats, rewrite=_rewrite_stats, reshape=reshape_tables("offsetTable")
)


def decode_topic_config(data: bytes) -> TopicConfig:
    """Return one topic's configuration (351)."""
    return _CONFIG.decode(data).model()


def encode_topic_config(config: TopicConfig) -> bytes:
    """Return the body of 351."""
    members = topic_config_members(config)
    if config.mapping is not None:
        members["mappingDetail"] = mapping_detail_members(config.mapping)
    return dumps(members)


def decode_topic_config_list(data: bytes) -> list[TopicConfig]:
    """Return the topics to create or change at once (18)."""
    return [config.model() for config in _CONFIG_LIST.decode(data).topic_config_list]


def encode_topic_config_list(configs: Sequence[TopicConfig]) -> bytes:
    """Return the body of 18."""
    return dumps({"topicConfigList": [topic_config_members(c) for c in configs]})


def decode_topic_config_table(data: bytes) -> TopicConfigTable:
    """Return all topics of a broker (21)."""
    body = _CONFIG_TABLE.decode(data)
    mappings = body.topic_queue_mapping_detail_map
    for name in mappings.keys() & body.topic_config_table.keys():
        body.topic_config_table[name].mapping_detail = mappings[name]
    return TopicConfigTable(
        {name: config.model() for name, config in body.topic_config_table.items()},
        body.data_version,
    )


def encode_topic_config_table(table: TopicConfigTable) -> bytes:
    """Return the body of 21."""
    mappings = {
        name: mapping_detail_members(config.mapping)
        for name, config in table.topics.items()
        if config.mapping is not None
    }
    members = topic_table_members(table)
    return dumps(
        members | {"topicQueueMappingDetailMap": mappings} if mappings else members
    )


def topic_table_members(table: TopicConfigTable) -> dict[str, Any]:
    """Return the members of a topic table, which is also part of other bodies."""
    return {
        "dataVersion": msgspec.to_builtins(table.data_version),
        "topicConfigTable": {
            name: topic_config_members(config) for name, config in table.topics.items()
        },
    }


def topic_config_members(config: TopicConfig) -> dict[str, Any]:
    """Return a topic's configuration with Java's names, in Java's order."""
    return {
        "attributes": config.attributes,
        "order": config.order,
        "perm": int(config.perm),
        "readQueueNums": config.read_queue_nums,
        "topicFilterType": config.topic_filter_type,
        "topicName": config.topic,
        "topicSysFlag": config.topic_sys_flag,
        "writeQueueNums": config.write_queue_nums,
    }


def decode_topic_stats(data: bytes) -> TopicStats:
    """Return the offsets of a topic's queues on one broker (202)."""
    return _STATS.decode(data)


def encode_topic_stats(
    offsets: Mapping[MessageQueue, TopicOffset], topic_put_tps: float = 0.0
) -> bytes:
    """Return the body of 202; the rate is messages per second."""
    return dumps(
        {
            "offsetTable": {
                queue: msgspec.to_builtins(offset) for queue, offset in offsets.items()
            },
            "topicPutTps": topic_put_tps,
        }
    )
