"""Spans of time as a report writes them."""

from __future__ import annotations

from datetime import timedelta

from django.utils.translation import gettext as _

from dashboard.wording import numbers


def span(value: timedelta) -> str:
    """Write a span of time in its two largest units; none is 0 s, not 0.0 s."""
    if not value:
        return _("%(seconds)s s") % {"seconds": 0}
    return numbers.duration(value.total_seconds() * 1000)
