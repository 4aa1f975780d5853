"""Rules, silences and states of alerts in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dashboard.alerting.kinds import ABOUT, LEVELS, Kind
from dashboard.alerting.said import shown_value
from dashboard.models import AlertMessage, AlertRule, Silence
from dashboard.wording.words import word

from .quantities import written_span
from .rule_writes import FINDING_KEYS

RULE_STATES: Final[Mapping[str, Promise]] = {
    "firing": gettext_lazy("Firing"),
    "unknown": gettext_lazy("Cannot tell"),
    "quiet": gettext_lazy("Quiet"),
    "silenced": gettext_lazy("Silenced"),
    "off": gettext_lazy("Off"),
}
"""In the order in which rules are listed."""

STATE_ICONS: Final = {
    "firing": ("crit", "crit"),
    "unknown": ("warn", "unk"),
    "quiet": ("ok", "ok"),
    "silenced": ("unk", "pause"),
    "off": ("unk", "idle"),
}
"""The class and the icon of a state."""

_CONDITIONS: Final[Mapping[str, Callable[[], str]]] = {
    Kind.LAG: lambda: _("over %(limit)s messages"),
    Kind.OLDEST: lambda: _("older than %(limit)s"),
    Kind.DRAIN: lambda: _("takes longer than %(limit)s to drain"),
    Kind.IN_STOPS: lambda: _("nothing arrives for %(limit)s"),
    Kind.OUT_STOPS: lambda: _("messages wait and nothing is committed for %(limit)s"),
    Kind.MEMBERS: lambda: _("fewer than %(limit)s members"),
    Kind.SKEW: lambda: _("over %(limit)s"),
    Kind.DEAD_LETTERS: lambda: _("more than %(limit)s in %(within)s"),
    Kind.BROKER: lambda: _("does not answer for %(limit)s"),
}

_CLOSINGS: Final[Mapping[str, Callable[[], str]]] = {
    "above": lambda: _("when it is at most %(limit)s"),
    "below": lambda: _("when there are at least %(limit)s"),
    "finding": lambda: _("when the finding is gone"),
    "broker": lambda: _("when the broker answers"),
    "moves": lambda: _("when messages move again"),
}


def finding_choices() -> list[tuple[str, str]]:
    """Return what a rule about findings may name, with words."""
    named = [(key, finding_word(key)) for key in (*LEVELS, *FINDING_KEYS)]
    return named[: len(LEVELS)] + sorted(named[len(LEVELS) :], key=lambda each: each[1])


def finding_word(key: str) -> str:
    """Return the name of a finding, or of all findings of a level."""
    if key == "crit":
        return _("any critical finding")
    if key == "warn":
        return _("any critical finding or warning")
    return word("finding", f"{key}.title")


def condition(rule: AlertRule) -> str:
    """Say what must hold, and for how long."""
    if rule.kind == Kind.FINDING:
        text = finding_word(rule.finding)
    else:
        text = _CONDITIONS[rule.kind]() % {
            "limit": shown_limit(rule, rule.limit),
            "within": written_span(rule.within_s * 1000),
        }
    if not rule.hold_s:
        return text
    return _("%(condition)s for %(span)s") % {
        "condition": text,
        "span": written_span(rule.hold_s * 1000),
    }


def closing(rule: AlertRule) -> str:
    """Say when an alert of a rule closes by itself."""
    about = ABOUT[rule.kind]
    limit = rule.limit if rule.clear_limit is None else rule.clear_limit
    manner = "below" if about.below else "above"
    if rule.kind in {Kind.FINDING, Kind.BROKER}:
        manner = "finding" if rule.kind == Kind.FINDING else "broker"
    elif rule.kind in {Kind.IN_STOPS, Kind.OUT_STOPS}:
        manner = "moves"
    text = _CLOSINGS[manner]() % {"limit": shown_limit(rule, limit)}
    if not rule.clear_s:
        return text
    return _("%(condition)s, for %(span)s") % {
        "condition": text,
        "span": written_span(rule.clear_s * 1000),
    }


def shown_limit(rule: AlertRule, value: float | None) -> str:
    """Write a limit with its unit, spans as people enter them."""
    if ABOUT[rule.kind].unit == "ms" and value is not None:
        return written_span(value)
    return shown_value(rule.kind, value)


def subjects_of(rule: AlertRule) -> str:
    """Say which groups or brokers a rule is about."""
    where = rule.cluster or _("every cluster")
    if rule.kind == Kind.BROKER:
        return _("any broker, %(cluster)s") % {"cluster": where}
    if rule.groups and rule.team:
        return _("%(groups)s of team %(team)s") % {
            "groups": rule.groups,
            "team": rule.team,
        }
    if rule.team:
        return _("groups of team %(team)s") % {"team": rule.team}
    return rule.groups or _("any group, %(cluster)s") % {"cluster": where}


def silenced_of(silence: Silence) -> str:
    """Say what a silence covers."""
    groups = silence.groups or _("every group")
    if silence.rule is None:
        return groups
    return _("%(groups)s, rule %(rule)s") % {
        "groups": groups,
        "rule": silence.rule.name,
    }


def message_text(message: AlertMessage) -> str:
    """Say what became of a message."""
    words = {"channel": message.channel_name, "error": message.error}
    waiting = message.state == AlertMessage.State.WAITING
    if message.state == AlertMessage.State.SENT:
        return _("sent to %(channel)s, accepted") % words
    if message.state == AlertMessage.State.GIVEN_UP:
        return _("not sent to %(channel)s: %(error)s") % words
    if waiting and message.error:
        return _("%(channel)s did not accept it, tried again: %(error)s") % words
    return _("waits to be sent to %(channel)s") % words
