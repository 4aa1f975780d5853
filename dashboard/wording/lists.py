"""Lists of queues in a short form that JSON can carry: [topic, broker, ids].

Ids are ranges such as "0-5,9". The same form is used in exported `CONFIG` mappings, in
the options of hosted groups and in the predictions of changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue, sorted_queues

from .ranges import from_ranges, to_ranges


def to_entries(queues: Iterable[MessageQueue]) -> list[list[str]]:
    """Return queues as entries, in RocketMQ's order."""
    return [
        [topic, broker, to_ranges(queue.queue_id for queue in same)]
        for (topic, broker), same in groupby(
            sorted_queues(queues), key=lambda queue: (queue.topic, queue.broker_name)
        )
    ]


def from_entries(what: str, entries: Any) -> list[MessageQueue]:
    """Return the queues of entries; raise ArgumentError that names `what`."""
    if not isinstance(entries, list):
        raise ArgumentError(f"{what} is {entries!r}, it must be a list")
    queues: list[MessageQueue] = []
    for entry in entries:
        if not (
            isinstance(entry, list)
            and len(entry) == 3
            and all(isinstance(part, str) and part for part in entry)
        ):
            raise ArgumentError(
                f"{what} has {entry!r}; an entry is topic, broker and "
                'queue ids such as ["orders", "broker-a", "0-5,9"]'
            )
        topic, broker, ids = entry
        queues.extend(MessageQueue(topic, broker, each) for each in from_ranges(ids))
    return queues


def from_lists(what: str, value: Any, *, limit: int) -> dict[str, list[MessageQueue]]:
    """Return lists by member; raise ArgumentError for a wrong form or too many."""
    if not isinstance(value, Mapping):
        raise ArgumentError(
            f"{what} is {value!r}, it must map members to lists of queues"
        )
    lists: dict[str, list[MessageQueue]] = {}
    left = limit
    for member, entries in value.items():
        lists[str(member)] = from_entries(f"{what}[{member!r}]", entries)
        left -= len(lists[str(member)])
        if left < 0:
            raise ArgumentError(f"{what} names more than {limit:,} queues")
    return lists
