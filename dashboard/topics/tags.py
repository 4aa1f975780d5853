"""Tags of a topic's page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.wording import numbers

register = template.Library()

WIDTH: Final = 10
HEIGHT: Final = 80


@register.simple_tag
def hour_chart(points: Sequence[float | None]) -> SafeString:
    """Draw a bar for each two minutes; those without a value are hatched."""
    known = [point for point in points if point is not None]
    if not known:
        return format_html('<p class="dim">{}</p>', _("no data"))
    top = max(known) or 1.0
    bars = format_html_join(
        "",
        '<rect class="{}" x="{}" width="{}" y="{}" height="{}"/>',
        (_bar(at, point, top) for at, point in enumerate(points)),
    )
    told = _("peak %(rate)s/s, now %(now)s/s") % {
        "rate": numbers.rate(max(known)),
        "now": numbers.rate(known[-1]),
    }
    box = f"0 0 {WIDTH * len(points)} {HEIGHT}"
    return format_html(
        '<svg class="hour" viewBox="{}" preserveAspectRatio="none" role="img">'
        '<title>{}</title>{}</svg><p class="small dim">{}</p>',
        *(box, told, bars, told),
    )


def _bar(at: int, point: float | None, top: float) -> tuple[str, int, int, str, str]:
    if point is None:
        return "gap", at * WIDTH, WIDTH, "0", str(HEIGHT)
    height = point / top * (HEIGHT - 4)
    return "bar", at * WIDTH, WIDTH - 2, f"{HEIGHT - height:.1f}", f"{height:.1f}"
