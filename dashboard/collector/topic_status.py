"""The state of a topic in one word: which topic needs a look, and why.

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


def topic_status(row: TopicRow, *, complete: bool, judged: bool) -> Status:
    """Return the worst that is true of a topic.

    `complete` says that all offsets are known, `judged` that all groups have been
    looked at. Without both, a group that reads the topic may not be in its row: it has
    not been met yet, or a broker that would know its members is silent.
    """
    known = complete and judged
    if row["kind"] == "dlq":
        if any(row["trend"][-DLQ_POINTS:]):
            return {"level": "warn", "word": "filling"}
    elif row["kind"] == "normal" and row["rate_in"] and known and _unread(row):
        return {"level": "crit", "word": "no_consumer"}
    if row["hot"]:
        return {"level": "warn", "word": "hot_queue"}
    if row["differs"]:
        return {"level": "warn", "word": "brokers_differ"}
    if not complete:
        return {"level": "unk", "word": "half_known"}
    return {"level": "ok", "word": "healthy"}


def differences(brokers: Mapping[str, QueueData]) -> list[str]:
    """Return what brokers say differently about a topic, as their settings' names."""
    said = list(brokers.values())
    found: dict[str, set[object]] = {
        "readQueueNums": {each.read_queue_nums for each in said},
        "writeQueueNums": {each.write_queue_nums for each in said},
        "perm": {each.perm for each in said},
        "message.type": {each.message_type or "NORMAL" for each in said},
    }
    return [name for name, values in found.items() if len(values) > 1]


def _unread(row: TopicRow) -> bool:
    """Return whether it is known that no member online reads the topic."""
    return all(each["reads"] is False for each in row["groups"])
