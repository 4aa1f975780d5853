"""Filters and tags of the overview."""

from __future__ import annotations

from collections.abc import Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.wording import numbers

from .sparkline import HEIGHT, WIDTH, sparkline

register = template.Library()


@register.simple_tag
def trend(points: Sequence[float | None], level: str) -> SafeString:
    """Draw the last hour of a lag; screen readers read out its peak."""
    known = [value for value in points if value is not None]
    if not known:
        return format_html('<span class="dim small">{}</span>', _("no data"))
    lines = format_html_join(
        "", '<polyline points="{}"/>', ((line,) for line in sparkline(points))
    )
    peak = _("peak %(lag)s in the last hour") % {"lag": numbers.compact(max(known))}
    return format_html(
        '<svg class="trend {}" width="{}" height="{}" viewBox="0 0 {} {}" role="img">'
        "<title>{}</title>{}</svg>",
        level,
        WIDTH,
        HEIGHT,
        WIDTH,
        HEIGHT,
        peak,
        lines,
    )


@register.filter
def need_a_look(by_level: dict[str, int]) -> int:
    return by_level.get("crit", 0) + by_level.get("warn", 0)
