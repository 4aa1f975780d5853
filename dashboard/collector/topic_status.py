"""The state of a topic in one word: which topic needs attention, and why.

From the worst: messages come and nobody reads them; one queue gets most; dead letters
come; brokers differ; a part is not known; healthy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dashboard.live.documents import Status
from dashboard.live.topic_documents import TopicRow
from rmqcore.model.route import QueueData

DLQ_POINTS: Final = 30
"""Dead letters that came within the last hour count."""


def topic_status(row: TopicRow, *, complete: bool) -> Status:
    """Return the worst state that applies; `complete` says that all offsets are known.

    A topic with traffic that no known group reads is only partly known while a group
    that reads it may be missing from its row.
    """
    needs_reader = row["kind"] == "normal" and bool(row["rate_in"])
    if row["kind"] == "dlq":
        if any(row["trend"][-DLQ_POINTS:]):
            return {"level": "warn", "word": "filling"}
    elif needs_reader and row["groups_known"] and _unread(row):
        return {"level": "crit", "word": "no_consumer"}
    if row["hot"]:
        return {"level": "warn", "word": "hot_queue"}
    if row["differs"]:
        return {"level": "warn", "word": "brokers_differ"}
    if not complete or (needs_reader and not any(g["reads"] for g in row["groups"])):
        return {"level": "unk", "word": "half_known"}
    return {"level": "ok", "word": "healthy"}


def differences(brokers: Mapping[str, QueueData], *, static: bool = False) -> list[str]:
    """Return the names of the settings of a topic in which brokers differ.

    Those of a `static` topic have as many queues as were moved to them.
    """
    said = list(brokers.values())
    counted = [] if static else said
    found: dict[str, set[object]] = {
        "readQueueNums": {each.read_queue_nums for each in counted},
        "writeQueueNums": {each.write_queue_nums for each in counted},
        "perm": {each.perm for each in said},
        "message.type": {each.message_type or "NORMAL" for each in said},
    }
    return [name for name, values in found.items() if len(values) > 1]


def _unread(row: TopicRow) -> bool:
    """Return whether it is known that no member online reads the topic."""
    return all(each["reads"] is False for each in row["groups"])
