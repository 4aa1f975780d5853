"""The words of every feature, brought together once at the start."""

from __future__ import annotations

from dashboard.brokers.words import POOLS, REASONS, TROUBLES
from dashboard.clients.words import AGES
from dashboard.findings.words import FINDINGS, STATES
from dashboard.messages.words import CUTS, FORMS
from dashboard.messages.words import REASONS as FATE_REASONS
from dashboard.messages.words import STATES as FATES
from dashboard.timeline.words import CHANGES, EPOCHS, EVENTS
from dashboard.timers.words import SLOTS, TIMERS
from dashboard.topics.words import TOPIC_KINDS, TOPIC_STATES
from dashboard.whatif.words import OPTIONS, WEIGHINGS, WHATIF
from dashboard.wording.words import add_words


def bring_words_together() -> None:
    """Register the words of all features with `word`."""
    add_words(
        {
            "status": STATES,
            "unknown": REASONS,
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
            "topic": TOPIC_STATES,
            "topic_kind": TOPIC_KINDS,
            "timer": TIMERS,
            "slot": SLOTS,
            "whatif": WHATIF,
            "option": OPTIONS,
            "weighing": WEIGHINGS,
        }
    )
