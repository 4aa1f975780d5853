"""Draws a topic's traffic over a day or a week: a bar for each step, with its axes."""

from __future__ import annotations

from typing import Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.wording import numbers

from .history import Bar, History

WIDTH: Final = 10
HEIGHT: Final = 160


def history_chart(history: History) -> SafeString:
    """Draw the bars of a span; steps that are not known are hatched."""
    top = numbers.nice_top(max(history.known, default=0))
    bars = format_html_join(
        "",
        '<rect class="{}" x="{}" width="{}" y="{}" height="{}"><title>{}</title>'
        "</rect>",
        (_drawn(bar, at, top) for at, bar in enumerate(history.bars)),
    )
    scale = format_html_join(
        "", "<span>{}</span>", ((numbers.rate(each),) for each in (top, top / 2, 0))
    )
    labels = format_html_join(
        "", "<span>{}</span>", ((each,) for each in history.labels)
    )
    box = f"0 0 {WIDTH * len(history.bars)} {HEIGHT}"
    return format_html(
        '<div class="traffic"><div class="traffic-scale" aria-hidden="true">{}</div>'
        '<svg viewBox="{}" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<pattern id="traffic-gap" width="5" height="5" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><line y2="5" stroke-width="2"/></pattern>'
        '<line class="grid" y1="{}" y2="{}" x2="100%"/>{}</svg>'
        '<div class="traffic-times">{}</div></div>',
        *(scale, box, summary(history), HEIGHT / 2, HEIGHT / 2, bars, labels),
    )


def summary(history: History) -> str:
    """Say in one line what the chart shows."""
    if not history.known:
        return _("no data")
    peak = max(history.bars, key=lambda bar: -1 if bar.rate is None else bar.rate)
    least = "≥ " if peak.partial else ""
    return _("peak %(rate)s/s at %(time)s") % {
        "rate": least + numbers.rate(peak.rate or 0),
        "time": numbers.day_and_time(peak.since_ms),
    }


def _drawn(bar: Bar, at: int, top: float) -> tuple[str, int, int, str, str, str]:
    place = at * WIDTH
    if bar.rate is None:
        return "gap", place, WIDTH, "0", str(HEIGHT), bar.told
    height = bar.rate / top * HEIGHT
    css = "bar partial" if bar.partial else "bar"
    return css, place, WIDTH - 2, f"{HEIGHT - height:.1f}", f"{height:.1f}", bar.told
