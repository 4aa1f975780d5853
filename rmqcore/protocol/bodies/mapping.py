"""The mapping of a static topic's logical queues, which is part of 21, 105 and 351."""

from __future__ import annotations

from typing import Any

import msgspec

from rmqcore.model import LogicQueueMappingItem, TopicQueueMapping
from rmqcore.model.mapping import GLOBAL_SCOPE

from .codec import Int32, Int64, Name, QueueCount

_UNDECIDED = -1


class WireMappingItem(msgspec.Struct, rename="camel"):
    """One piece of a logical queue with Java's member names."""

    bname: Name
    end_offset: Int64 = _UNDECIDED
    gen: Int32 = 0
    logic_offset: Int64 = 0
    queue_id: Int32 = 0
    start_offset: Int64 = 0
    time_of_end: Int64 = _UNDECIDED
    time_of_start: Int64 = _UNDECIDED

    def model(self) -> LogicQueueMappingItem:
        """Return it as the model's type."""
        return LogicQueueMappingItem(
            self.gen,
            self.queue_id,
            self.bname,
            _decided(self.logic_offset),
            self.start_offset,
            _decided(self.end_offset),
            _decided(self.time_of_start),
            _decided(self.time_of_end),
        )


class WireMapping(msgspec.Struct, rename="camel"):
    """A mapping with Java's member names; name servers send no `hostedQueues`."""

    bname: Name
    curr_id_map: dict[Int32, Int32] = {}
    epoch: Int64 = 0
    hosted_queues: dict[Int32, list[WireMappingItem]] = {}
    scope: str = GLOBAL_SCOPE
    topic: str = ""
    total_queues: QueueCount = 0

    def model(self) -> TopicQueueMapping:
        """Return it as the model's type."""
        return TopicQueueMapping(
            self.topic,
            self.bname,
            self.total_queues,
            self.epoch,
            self.scope,
            self.curr_id_map,
            {
                queue: tuple(item.model() for item in items)
                for queue, items in self.hosted_queues.items()
            },
        )


def mapping_info_members(mapping: TopicQueueMapping) -> dict[str, Any]:
    """Return what a name server tells of a mapping, with Java's names."""
    return {
        "bname": mapping.broker_name,
        "currIdMap": mapping.current,
        "dirty": False,
        "epoch": mapping.epoch,
        "scope": mapping.scope,
        "topic": mapping.topic,
        "totalQueues": mapping.total_queues,
    }


def mapping_detail_members(mapping: TopicQueueMapping) -> dict[str, Any]:
    """Return a mapping with the pieces of its logical queues."""
    return mapping_info_members(mapping) | {
        "hostedQueues": {
            queue: [_item_members(item) for item in items]
            for queue, items in mapping.hosted.items()
        }
    }


def _item_members(item: LogicQueueMappingItem) -> dict[str, Any]:
    return {
        "bname": item.broker_name,
        "endOffset": _wire(item.end_offset),
        "gen": item.gen,
        "logicOffset": _wire(item.logic_offset),
        "queueId": item.queue_id,
        "startOffset": item.start_offset,
        "timeOfEnd": _wire(item.time_of_end),
        "timeOfStart": _wire(item.time_of_start),
    }


def _decided(number: int) -> int | None:
    return None if number < 0 else number


def _wire(number: int | None) -> int:
    return _UNDECIDED if number is None else number
