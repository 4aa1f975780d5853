"""Tags of the pages of alerts."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.frame.tags import icon
from dashboard.models import AlertMessage

from .trial_chart import told, trial_chart
from .trial_words import headline, notes, rule_text, unknown_note
from .trials import Trial
from .words import (
    RULE_STATES,
    STATE_ICONS,
    closing,
    condition,
    finding_word,
    message_text,
    silenced_of,
    subjects_of,
)

register = template.Library()
register.simple_tag(trial_chart)
register.filter("trial_headline", headline)
register.filter("trial_rule", rule_text)
register.filter("trial_notes", notes)
register.filter("trial_unknown", unknown_note)
register.filter("rule_condition", condition)
register.filter("rule_closing", closing)
register.filter("rule_subjects", subjects_of)
register.filter("silence_subjects", silenced_of)
register.filter("message_text", message_text)
register.filter("finding_word", finding_word)


@register.simple_tag
def rule_state(state: str) -> SafeString:
    """Draw how a rule stands: an icon and a word."""
    level, name = STATE_ICONS[state]
    return format_html(
        '<span class="state {}">{}{}</span>', level, icon(name), RULE_STATES[state]
    )


@register.filter
def message_failed(message: AlertMessage | None) -> bool:
    """Tell whether the last attempt to send a message failed."""
    return bool(message and message.error)


@register.filter
def trial_peak(trial: Trial, peak: float | None) -> str:
    """Write the worst value of an opening."""
    return told(trial, peak)
