"""Moments as milliseconds since the epoch: in documents, the lake and the protocol."""

from __future__ import annotations

from datetime import UTC, datetime


def as_ms(moment: datetime) -> int:
    """Return a moment in ms since the epoch."""
    return round(moment.timestamp() * 1000)


def moment_of(ms: float) -> datetime:
    """Return the moment this many ms after the epoch, in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC)
