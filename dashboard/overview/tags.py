"""Filters and tags of the overview."""

from __future__ import annotations

from collections.abc import Sequence

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from dashboard.wording import numbers
from dashboard.wording.markup import escaped, fill

from .sparkline import HEIGHT, WIDTH, sparkline

register = template.Library()


@register.simple_tag
def trend(points: Sequence[float | None], level: str) -> SafeString:
    """Draw the last hour of a lag; screen readers read out its peak."""
    known = [value for value in points if value is not None]
    if not known:
        return fill('<span class="dim small">{}</span>', _("no data"))
    lines = "".join(f'<polyline points="{line}"/>' for line in sparkline(points))
    peak = _("peak %(lag)s in the last hour") % {"lag": numbers.compact(max(known))}
    # The rest is numbers, some thousands on a page, which need not be escaped.
    return mark_safe(  # noqa: S308
        f'<svg class="trend {escaped(level)}" width="{WIDTH}" '
        f'height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        f"<title>{escaped(peak)}</title>{lines}</svg>"
    )


@register.filter
def need_a_look(by_level: dict[str, int]) -> int:
    return by_level.get("crit", 0) + by_level.get("warn", 0)
