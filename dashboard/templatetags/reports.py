"""Filters of the report pages."""

from __future__ import annotations

from datetime import timedelta

from django import template

from dashboard.views import figures

register = template.Library()


@register.filter
def span(value: timedelta) -> str:
    """Write a span of time in its two largest units."""
    return figures.duration(value.total_seconds() * 1000)


@register.filter
def percent(value: float) -> str:
    """Write a share: 0.25 is 25 %."""
    return f"{value * 100:.0f} %"
