"""Draws the last hour of a rate, two minutes a bar, as the collector keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.wording import numbers

WIDTH: Final = 10
HEIGHT: Final = 80
_BAR: Final = SafeString(' class="bar"')


def hour_chart(points: Sequence[float | None], name: str = "hour") -> SafeString:
    """Draw a bar for each two minutes; those without a value are hatched.

    Charts of one page need different names.
    """
    known = [point for point in points if point is not None]
    if not known:
        return format_html('<p class="dim">{}</p>', _("no data"))
    top = max(known) or 1.0
    bars = format_html_join(
        "",
        '<rect{} x="{}" width="{}" y="{}" height="{}"/>',
        (_bar(at, point, top, name) for at, point in enumerate(points)),
    )
    peak, last = numbers.rate(max(known)), points[-1]
    if last is None:
        told = _("peak %(rate)s/s, now not measured") % {"rate": peak}
    else:
        now = numbers.rate(last)
        told = _("peak %(rate)s/s, now %(now)s/s") % {"rate": peak, "now": now}
    box = f"0 0 {WIDTH * len(points)} {HEIGHT}"
    return format_html(
        '<svg class="hour" viewBox="{}" preserveAspectRatio="none" role="img">'
        '<title>{}</title><pattern id="{}-gap" width="5" height="5" '
        'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<line y2="5" stroke-width="2"/></pattern>{}</svg><p class="small dim">{}</p>',
        *(box, told, name, bars, told),
    )


def _bar(
    at: int, point: float | None, top: float, name: str
) -> tuple[SafeString, int, int, str, str]:
    if point is None:
        gap = format_html(' fill="url(#{}-gap)"', name)
        return gap, at * WIDTH, WIDTH, "0", str(HEIGHT)
    height = point / top * (HEIGHT - 4)
    return _BAR, at * WIDTH, WIDTH - 2, f"{HEIGHT - height:.1f}", f"{height:.1f}"
