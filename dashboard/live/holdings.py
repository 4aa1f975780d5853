"""The queues that members of our own fleet report, as sent through the cache."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Final

import orjson

from rmqcore.model.columns import QueueKey

logger = logging.getLogger(__name__)

SEPARATOR: Final = "\0"


@dataclass(frozen=True, slots=True)
class Holding:
    """All queues of one member, since when, and when it last vouched for them.

    `busy_since_ms` is when a call of its listener began that takes unusually long.
    `left` is set in a member's last word: it has left its group.
    """

    group: str
    client_id: str
    queues: tuple[QueueKey, ...]
    since_ms: int
    vouched_ms: int
    busy_since_ms: int | None = None
    left: bool = False


def encode_holding(holding: Holding) -> bytes:
    """Return a holding as the cache carries it."""
    return orjson.dumps(
        {
            "group": holding.group,
            "client_id": holding.client_id,
            "queues": [list(key) for key in holding.queues],
            "since": holding.since_ms,
            "vouched": holding.vouched_ms,
            "busy_since": holding.busy_since_ms,
            "left": holding.left,
        }
    )


def decode_holding(text: bytes) -> Holding:
    """Read a holding; raises ValueError or KeyError when it is not one."""
    document: dict[str, Any] = orjson.loads(text)
    return Holding(
        document["group"],
        document["client_id"],
        tuple((topic, broker, number) for topic, broker, number in document["queues"]),
        document["since"],
        document["vouched"],
        # These are absent in what an older version wrote.
        document.get("busy_since"),
        document.get("left", False),
    )


def read_holding(text: bytes) -> Holding | None:
    """Read a holding that came through the cache; None for other bytes."""
    try:
        return decode_holding(text)
    except (ValueError, KeyError, TypeError) as error:
        logger.warning("unreadable holding: %s", error)
        return None


def field_of(group: str, client_id: str) -> str:
    """Return the field of the cache's hash that holds a member's report."""
    return group + SEPARATOR + client_id
