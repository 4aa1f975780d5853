"""Moments as milliseconds since the epoch, as in documents, the lake and the protocol;
and days as people write them.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from django.utils import timezone


def as_ms(moment: datetime) -> int:
    """Return a moment in ms since the epoch."""
    return round(moment.timestamp() * 1000)


def moment_of(ms: float) -> datetime:
    """Return the moment this many ms after the epoch, in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC)


def is_day(text: str) -> bool:
    """Tell whether a text is a day such as 2026-11-24, and not the first or last."""
    try:
        return date.min < date.fromisoformat(text) < date.max
    except ValueError:
        return False


def midnight(day: str) -> datetime:
    """Return the beginning of a day in the reader's zone."""
    begin = datetime.combine(date.fromisoformat(day), time())
    return timezone.make_aware(begin, timezone.get_current_timezone())
