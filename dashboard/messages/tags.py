"""Template tags of the pages about messages."""

from __future__ import annotations

from django import template

from dashboard.gateway.messages import Cut
from dashboard.wording.words import word

from . import moments, rows
from .consumption import Verdict
from .words import ICONS

register = template.Library()


@register.filter
def exact(milliseconds: int) -> str:
    return moments.exact(milliseconds)


@register.filter
def byte_size(number: int) -> str:
    return rows.size(number)


@register.filter
def said(verdict: Verdict) -> str:
    """Write the reason of a verdict as a sentence."""
    values = dict(verdict.values)
    number = values.pop("n", None)
    if "time" in values:
        values["time"] = moments.exact(values["time"])
    return word("fate_reason", verdict.reason, number, **values)


@register.filter
def level_of(verdict: Verdict) -> str:
    return ICONS[verdict.state][0]


@register.filter
def icon_of(verdict: Verdict) -> str:
    return ICONS[verdict.state][1]


@register.filter
def cut_said(cut: Cut) -> str:
    """Say where a search may have left something out."""
    return word("search_cut", cut.kind, where=cut.where)
