"""Messages as a broker would give them, for tests of pure code."""

from __future__ import annotations

from collections.abc import Mapping

from rmqcore.model import MessageExt


def stored(
    body: bytes = b"",
    *,
    properties: Mapping[str, str] | None = None,
    offset: int = 100,
    at: int = 1_000_000,
) -> MessageExt:
    """Return a message of topic `orders` on broker-a, queue 1."""
    return MessageExt(
        *("orders", "broker-a", 1, offset, 0, body, properties or {}, 0, 0),
        *(at, "10.0.0.1:1", at, "10.0.0.2:2", 0, 0, 0, len(body) + 100, "ID"),
    )
