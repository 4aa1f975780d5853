"""Filters of the report pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django import template

from dashboard.frame.tags import unknown
from dashboard.reports.data.facts import Highest
from dashboard.reports.data.stats import highest_text
from dashboard.reports.data.strategies import StrategyRow
from dashboard.reports.request.periods import LAST
from dashboard.reports.writers.formats import FORMATS
from dashboard.wording import numbers

from .data import spans, twins
from .words import error_word, schedule_word, state_word, title_of

register = template.Library()
register.filter("report_title", title_of)
register.filter(state_word)
register.filter(error_word)
register.filter(schedule_word)


@register.filter
def span(value: timedelta | None) -> str:
    """Write a span of time in its two largest units."""
    return unknown() if value is None else spans.span(value)


@register.filter
def highest_count(found: Highest | None) -> str:
    """Write the highest of a period, with ≥ where it is that of some queues."""
    return highest_text(found, numbers.count) or unknown()


@register.filter
def highest_duration(found: Highest | None) -> str:
    """Write the highest age of a period, with ≥ where it is that of some queues."""
    return highest_text(found, numbers.duration) or unknown()


@register.filter
def two_places(value: float | None) -> str:
    """Write a score with the decimal places that distinguish strategies."""
    return unknown() if value is None else twins.skew_text(value)


@register.filter
def drain(row: StrategyRow) -> str:
    """Write a strategy's worst time to drain: a span, never, or unknown."""
    return twins.drain_text(row) or unknown()


@register.filter
def period_word(name: str) -> str:
    """Write a named period."""
    return str(LAST[name][1]) if name in LAST else name


@register.filter
def format_words(keys: Sequence[str]) -> str:
    """Write the names of formats."""
    return ", ".join(FORMATS[key].title for key in keys if key in FORMATS) or "—"


@register.filter
def format_word(key: str) -> str:
    """Write the name of a format."""
    return FORMATS[key].title if key in FORMATS else key


@register.filter
def percent(value: float | None) -> str:
    """Write a share: 0.25 is 25 %."""
    return unknown() if value is None else twins.percent_text(value)
