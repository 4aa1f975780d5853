"""Draws what a trial found: the values, the limit, the openings, what is not known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from analytics.trial import DRAIN, ENDLESS, LAG, OLDEST, SKEW, STOPS
from dashboard.clock.moments import as_ms
from dashboard.wording import numbers

from .trials import Trial

HEIGHT: Final = 200
MOST_TICKS: Final = 8
_MARGIN: Final = 24
"""Room above the top of the scale, for the numbers of the openings."""
_TICK_HOURS: Final = (1, 2, 4, 6, 12, 24, 48, 168, 336)


def trial_chart(trial: Trial) -> SafeString:
    """Draw the group that fired most; the openings are numbered as in the list."""
    series = trial.series
    known = [value for value in series["values"] if value is not None]
    top = numbers.nice_top(max([*known, trial.rule.limit, 0]))
    across = _Across(trial)
    scale = format_html_join(
        "", "<span>{}</span>", ((told(trial, each),) for each in (top, top / 2, 0))
    )
    return format_html(
        '<div class="trial-chart"><div class="trial-scale" aria-hidden="true">{}</div>'
        '<svg class="trial-plot" height="{}" role="img" aria-label="{}">'
        '<pattern id="trial-gap" width="6" height="6" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><line y2="6" stroke-width="2"/></pattern>'
        '<line class="grid" x2="100%" y1="{}" y2="{}"/>{}{}{}{}{}</svg>'
        '<svg class="trial-times" height="16" aria-hidden="true">{}</svg></div>',
        scale,
        HEIGHT,
        _aloud(trial),
        *([_y(top / 2, top)] * 2),
        _gaps(trial, across),
        _values(series, top),
        _shades(trial, across),
        _limit(trial, top),
        _numbers(trial, across),
        _ticks(trial, across),
    )


def told(trial: Trial, value: float | None) -> str:
    """Write a value of a trial's kind of rule; without a value it has no end."""
    if value is None:
        return _("never")
    kind = trial.rule.kind
    if kind in {OLDEST, DRAIN}:
        return numbers.duration(value)
    if kind == SKEW:
        return numbers.ratio(value)
    if kind in STOPS:
        return f"{numbers.rate(value)}/s"
    return (
        numbers.compact(value) if kind == LAG and value >= 10_000 else f"{value:,.0f}"
    )


class _Across:
    """Places on the axis of time, in percent of its width."""

    def __init__(self, trial: Trial) -> None:
        series = trial.series
        self.since_ms: int = series["since_ms"]
        self.until_ms: int = self.since_ms + series["bucket_ms"] * len(series["values"])

    def __call__(self, ms: float) -> float:
        part = (ms - self.since_ms) / (self.until_ms - self.since_ms)
        return round(min(1.0, max(0.0, part)) * 100, 2)

    def span(self, begin: float, end: float) -> tuple[float, float]:
        """Return where a span begins and how wide it is, wide enough to be seen."""
        x = self(begin)
        return x, max(0.2, round(self(end) - x, 2))


def _y(value: float, top: float) -> str:
    return f"{HEIGHT - (HEIGHT - _MARGIN) * min(value, top) / top:.1f}"


def _values(series: Mapping[str, Any], top: float) -> SafeString:
    """Draw the line and the area below it, interrupted where nothing is known."""
    count = len(series["values"])
    areas = format_html_join(
        "",
        '<path class="area" d="{}V{}H{}Z"/><path class="line" d="{}"/>',
        ((path, HEIGHT, begin, path) for begin, path in _runs(series, top)),
    )
    return format_html(
        '<svg viewBox="0 0 {} {}" preserveAspectRatio="none" width="100%" '
        'height="{}">{}</svg>',
        *(count, HEIGHT, HEIGHT, areas),
    )


def _runs(series: Mapping[str, Any], top: float) -> Iterator[tuple[int, str]]:
    begin, path = 0, ""
    for at, value in enumerate([*series["values"], None]):
        endless = value is None and series["marks"][at : at + 1] == ENDLESS
        if value is None and not endless:
            if path:
                yield begin, path
            path = ""
            continue
        y = _y(top if endless else value, top)
        if not path:
            begin, path = at, f"M{at},{y}"
        path += f"L{at + 0.5},{y}"


def _mine(trial: Trial) -> list[dict[str, Any]]:
    return [each for each in trial.openings if each["group"] == trial.series["group"]]


def _shades(trial: Trial, across: _Across) -> SafeString:
    spans = (
        across.span(each["opened_ms"], each["closed_ms"] or across.until_ms)
        for each in _mine(trial)
    )
    return format_html_join(
        "", '<rect class="opening" x="{}%" width="{}%" height="100%"/>', spans
    )


def _gaps(trial: Trial, across: _Across) -> SafeString:
    spans = (across.span(*each) for each in trial.charted["unknown"])
    return format_html_join(
        "", '<rect class="gap" x="{}%" width="{}%" height="100%"/>', spans
    )


def _limit(trial: Trial, top: float) -> SafeString:
    y = _y(trial.rule.limit, top)
    label = limit_word(trial)
    return format_html(
        '<line class="limit" x2="100%" y1="{}" y2="{}"/>'
        '<text class="limit-word" x="6" y="{}" dy="-5">{}</text>',
        *(y, y, y, label),
    )


def limit_word(trial: Trial) -> str:
    """Say the condition in a few words."""
    words = {
        "lag": _("lag over %(limit)s"),
        "oldest": _("oldest message over %(limit)s"),
        "drain": _("drained later than in %(limit)s"),
        "in_stops": _("nothing comes in"),
        "out_stops": _("nothing goes out while messages wait"),
        "skew": _("skew over %(limit)s"),
        "members": _("fewer than %(limit)s members"),
    }
    return words[trial.rule.kind] % {"limit": limit_text(trial, trial.rule.limit)}


def limit_text(trial: Trial, limit: float) -> str:
    """Write a limit in full: 40,000 rather than 40k."""
    if trial.rule.kind == LAG:
        return numbers.count(limit)
    return told(trial, limit)


def _numbers(trial: Trial, across: _Across) -> SafeString:
    places = []
    for each in _mine(trial):
        x, width = across.span(each["opened_ms"], each["closed_ms"] or across.until_ms)
        places.append((min(98.5, max(1.5, round(x + width / 2, 2))), each["number"]))
    return format_html_join(
        "",
        '<svg x="{}%" y="12" overflow="visible"><circle r="8"/>'
        '<text class="number" dy="4">{}</text></svg>',
        _apart(places),
    )


def _apart(places: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Leave out the numbers that would cover the one before; the list has them all."""
    kept: list[tuple[float, int]] = []
    for x, number in places:
        if not kept or x - kept[-1][0] >= 2.5:
            kept.append((x, number))
    return kept


def _ticks(trial: Trial, across: _Across) -> SafeString:
    return format_html_join(
        "",
        '<text x="{}%" y="12">{}</text>',
        ((across(as_ms(at)), word) for at, word in _moments(across)),
    )


def _moments(across: _Across) -> Iterator[tuple[datetime, str]]:
    """Yield round local times, and how to write them."""
    hours = (across.until_ms - across.since_ms) / 3_600_000
    step = next((n for n in _TICK_HOURS if hours / n <= MOST_TICKS), _TICK_HOURS[-1])
    since = datetime.fromtimestamp(across.since_ms / 1000, UTC)
    local = timezone.localtime(since)
    at = local.replace(hour=0, minute=0, second=0, microsecond=0)
    end_ms = across.until_ms - (across.until_ms - across.since_ms) * 0.12
    while as_ms(at) < end_ms:
        if as_ms(at) >= across.since_ms:
            form = "H:i" if at.hour or (step < 24 and hours <= 24) else "D j"
            yield at, date_format(at, "M j" if hours > 24 * 20 else form)
        at += timedelta(hours=step)


def _aloud(trial: Trial) -> str:
    known = [value for value in trial.series["values"] if value is not None]
    if not known:
        return _("no data")
    worst = min(known) if trial.rule.below else max(known)
    return _("%(group)s: at worst %(value)s; %(limit)s") % {
        "group": trial.series["group"],
        "value": told(trial, worst),
        "limit": limit_word(trial),
    }
