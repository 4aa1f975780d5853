"""Template tags of the pages about messages."""

from __future__ import annotations

from django import template

from dashboard.frame.messages import cuts, moments
from dashboard.wording import sizes
from dashboard.wording.words import word

from .consumption import Verdict
from .words import ICONS

register = template.Library()
register.filter("exact", moments.exact)
register.filter("byte_size", sizes.size)
register.filter("cuts_said", cuts.cuts_said)


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
