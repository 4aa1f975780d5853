"""The words of every feature, brought together once at the start."""

from __future__ import annotations

from dashboard.brokers.words import POOLS, REASONS, TROUBLES
from dashboard.clients.words import AGES
from dashboard.findings.words import FINDINGS, STATES
from dashboard.frame.messages.cuts import CUTS
from dashboard.messages.words import FORMS
from dashboard.messages.words import REASONS as FATE_REASONS
from dashboard.messages.words import STATES as FATES
from dashboard.timeline.words import CHANGES, EPOCHS, EVENTS, NOTES
from dashboard.timers.words import SLOTS, TIMERS
from dashboard.topics.words import REASONS as TOPIC_REASONS
from dashboard.topics.words import RETENTION, TOPIC_KINDS, TOPIC_STATES
from dashboard.whatif.words import OPTIONS, WEIGHINGS, WHATIF
from dashboard.wording.terms import MEANINGS, TERMS
from dashboard.wording.words import add_words


def bring_words_together() -> None:
    """Register the words of all features with `word`."""
    add_words(
        {
            "status": STATES,
            "unknown": {**REASONS, **TOPIC_REASONS},
            "broker_pool": POOLS,
            "broker_trouble": TROUBLES,
            "old_client": AGES,
            "finding": FINDINGS,
            "fate": FATES,
            "fate_reason": FATE_REASONS,
            "search_cut": CUTS,
            "body_form": FORMS,
            "change": CHANGES,
            "epoch": EPOCHS,
            "event": EVENTS,
            "note": NOTES,
            "topic": TOPIC_STATES,
            "topic_kind": TOPIC_KINDS,
            "retention": RETENTION,
            "timer": TIMERS,
            "slot": SLOTS,
            "whatif": WHATIF,
            "option": OPTIONS,
            "weighing": WEIGHINGS,
            "term": TERMS,
            "meaning": MEANINGS,
        }
    )
