"""Tags of the pages of alerts."""

from __future__ import annotations

from django import template

from .trial_chart import told, trial_chart
from .trial_words import headline, notes, rule_text, unknown_note
from .trials import Trial

register = template.Library()
register.simple_tag(trial_chart)
register.filter("trial_headline", headline)
register.filter("trial_rule", rule_text)
register.filter("trial_notes", notes)
register.filter("trial_unknown", unknown_note)


@register.filter
def trial_peak(trial: Trial, peak: float | None) -> str:
    """Write the worst value of an opening."""
    return told(trial, peak)
