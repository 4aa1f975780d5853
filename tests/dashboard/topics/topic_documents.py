"""A document of topics as the collector writes it."""

from __future__ import annotations

from typing import Any

from dashboard.live.topic_documents import TopicBroker, TopicGroup, TopicRow, Topics
from tests.dashboard.documents import NOW_MS

BROKERS = ("hz1@broker-a", "hz2@broker-b")


def broker(name: str, queues: int, **changes: Any) -> TopicBroker:
    made: dict[str, Any] = {
        "name": name,
        "read": queues,
        "write": queues,
        "perm": 6,
        "message_type": None,
        "ids": list(range(queues)),
        "min": [100] * queues,
        "max": [1_100] * queues,
        "rate": [5.0] * queues,
        "reason": None,
        "as_of": None,
        "left_out": 0,
    }
    return TopicBroker(**{**made, **changes})  # type: ignore[typeddict-item]


def topic_group(name: str, **changes: Any) -> TopicGroup:
    made: dict[str, Any] = {
        "group": name,
        "kind": "owned",
        "reads": True,
        "members": 2,
        "lag": 40,
        "partial": False,
        "oldest_ms": 4_000,
        "level": "ok",
        "word": "healthy",
    }
    return TopicGroup(**{**made, **changes})  # type: ignore[typeddict-item]


def topic_row(name: str, **changes: Any) -> TopicRow:
    brokers = changes.get("brokers") or [broker(each, 4) for each in BROKERS]
    made: dict[str, Any] = {
        "topic": name,
        "kind": "normal",
        "message_type": "NORMAL",
        "status": {"level": "ok", "word": "healthy"},
        "brokers": brokers,
        "queues": sum(len(each["ids"]) for each in brokers),
        "held": 8_000,
        "rate_in": 40.0,
        "rate_partial": False,
        "skew": 1.0,
        "hot": [],
        "trend": [None] * 10 + [40.0] * 20,
        "quiet_since": NOW_MS,
        "differs": [],
        "groups": [topic_group("order-settlement")],
        "group_count": 1,
        "oldest_ms": 4_000,
        "oldest_partial": False,
    }
    return TopicRow(**{**made, **changes})  # type: ignore[typeddict-item]


def topics(*rows: TopicRow) -> Topics:
    return {"cluster": "hangzhou", "taken_at": NOW_MS, "topics": list(rows)}
