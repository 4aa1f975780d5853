"""Time zones as people name them."""

from __future__ import annotations

from django.utils import timezone


def zone_label() -> str:
    """Name the zone by its present offset from UTC: UTC, UTC+8, UTC-3:30."""
    offset = timezone.localtime().utcoffset()
    minutes = int(offset.total_seconds() // 60) if offset else 0
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes > 0 else '-'}{hours}" + (f":{rest:02}" if rest else "")
