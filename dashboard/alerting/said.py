"""Alerts in words, for messages and pages alike: what, where, since when, why, and
what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.accounts.owners import Owners
from dashboard.clock.moments import as_ms
from dashboard.findings.said import say_finding
from dashboard.models import Alert, AlertSubject
from dashboard.wording.numbers import count, day_and_time, duration, ratio
from dashboard.wording.words import word
from dashboard.wording.zones import zone_label

from .kinds import ABOUT, Kind

NAMED: Final = 3
"""So many groups are named in a title, and queues in a sentence."""


@dataclass(frozen=True, slots=True)
class SaidSubject:
    """One group or broker of an alert. Texts are empty where there is nothing to say.

    `queues` are topic, broker and queue id; `owners` the members that hold them. `team`
    owns the group and is reached under `contact`.
    """

    name: str
    what: str
    queues: Sequence[str]
    owners: Sequence[str]
    why: str
    advice: str
    finding: str
    since: str
    open: bool
    team: str = ""
    contact: str = ""


@dataclass(frozen=True, slots=True)
class SaidAlert:
    """An alert in the language and zone at hand; `more` subjects are not in it."""

    title: str
    severity: str
    since: str
    subjects: Sequence[SaidSubject]
    more: int = 0
    link: str = ""


def say_alert(
    alert: Alert,
    subjects: Sequence[AlertSubject],
    *,
    teams: Owners,
    all_subjects: int | None = None,
) -> SaidAlert:
    """Return an alert in words; `subjects` are those to be named, of so many.

    `teams` are the owners of the groups of its cluster.
    """
    said = [say_subject(alert, each, teams) for each in subjects]
    number = len(said) if all_subjects is None else all_subjects
    return SaidAlert(
        title=said[0].what if number == 1 and said else _title(alert, said, number),
        severity=alert.get_severity_display(),
        since=_time(as_ms(alert.opened_at)),
        subjects=said,
        more=max(0, number - len(said)),
        link=link_of(alert),
    )


def say_subject(alert: Alert, subject: AlertSubject, teams: Owners) -> SaidSubject:
    """Return one group or broker of an alert in words; `teams` own the groups."""
    facts = subject.facts
    finding = facts.get("finding")
    said = say_finding(finding) if finding else None
    team = None if alert.kind == Kind.BROKER else teams.of(subject.name)
    queues = facts.get("queues", [])
    holders = list(dict.fromkeys(o for queue in queues for o in queue["owners"]))
    return SaidSubject(
        name=subject.name,
        what=_what(alert, subject),
        queues=[_queue(each) for each in queues],
        owners=holders,
        why=said.text if said else _why(alert, facts, holders),
        advice=said.advice if said else "",
        finding=said.title if said else "",
        since=_time(as_ms(subject.began_at)),
        open=subject.closed_at is None,
        team="" if team is None else team.team,
        contact="" if team is None else team.contact,
    )


def shown_value(kind: str, value: float | None) -> str:
    """Write a rule's figure or limit with its unit."""
    unit = ABOUT[kind].unit
    if value is None:
        return _("unlimited") if unit == "ms" else "—"
    if unit == "ms":
        return duration(value)
    if unit == "ratio":
        return ratio(value)
    return count(value)


def link_of(alert: Alert) -> str:
    """Return the address of an alert's page, as people outside reach it."""
    base = settings.ROCKETSCOPE_URL.rstrip("/")
    return f"{base}/clusters/{quote(alert.cluster, safe='')}/alerts/{alert.pk}/"


def _title(alert: Alert, said: Sequence[SaidSubject], number: int) -> str:
    names = ", ".join(each.name for each in said[:NAMED])
    if number > NAMED:
        names = f"{names}, …"
    if alert.kind == Kind.BROKER:
        form = ngettext(
            "%(n)s broker does not answer: %(names)s",
            "%(n)s brokers do not answer: %(names)s",
            number,
        )
        return form % {"n": count(number), "names": names}
    form = ngettext(
        "%(reason)s in %(n)s group: %(names)s",
        "%(reason)s in %(n)s groups: %(names)s",
        number,
    )
    reason = word("finding", f"{alert.cause}.title") if alert.cause else alert.rule_name
    return form % {"reason": reason, "n": count(number), "names": names}


def _what(alert: Alert, subject: AlertSubject) -> str:
    facts, name = subject.facts, subject.name
    value = facts.get("value")
    shown = shown_value(alert.kind, value)
    if facts.get("partial"):
        shown = f"≥ {shown}"
    if alert.kind == Kind.FINDING:
        finding = facts.get("finding")
        title = say_finding(finding).title if finding else alert.rule_name
        return _("%(title)s in %(group)s") % {"title": title, "group": name}
    if alert.kind == Kind.MEMBERS:
        number = round(value or 0)
        form = ngettext(
            "%(group)s has %(n)s member", "%(group)s has %(n)s members", number
        )
        return form % {"group": name, "n": count(number)}
    if alert.kind == Kind.OUT_STOPS:
        number = facts.get("queue_count") or 1
        form = ngettext(
            "%(n)s queue of %(group)s stands still",
            "%(n)s queues of %(group)s stand still",
            number,
        )
        # Of queues whose lag is not known, nobody can say whether they stand still.
        least = "≥ " if facts.get("partial") else ""
        return form % {"group": name, "n": f"{least}{count(number)}"}
    if alert.kind == Kind.DRAIN and value is None:
        return _("The lag of %(group)s does not shrink") % {"group": name}
    return _SENTENCES[Kind(alert.kind)]() % {"name": name, "value": shown}


_SENTENCES: Final = {
    Kind.LAG: lambda: _("%(value)s messages wait for %(name)s"),
    Kind.OLDEST: lambda: _("The oldest message for %(name)s has waited %(value)s"),
    Kind.DRAIN: lambda: _("Draining the lag of %(name)s takes %(value)s"),
    Kind.IN_STOPS: lambda: _("No message has arrived for %(name)s in %(value)s"),
    Kind.SKEW: lambda: _("The skew of %(name)s over its members is %(value)s"),
    Kind.DEAD_LETTERS: lambda: _("%(value)s dead letters came for %(name)s"),
    Kind.BROKER: lambda: _("Broker %(name)s has not answered for %(value)s"),
}


def _why(alert: Alert, facts: dict[str, Any], holders: Sequence[str]) -> str:
    """Return what is known of the reason where no finding explains it."""
    if alert.kind == Kind.BROKER:
        condition = word("broker", str(facts.get("condition", "")))
        error = facts.get("error")
        return f"{condition}: {error}" if error else condition
    silent = facts.get("silent", [])
    if silent:
        form = ngettext(
            "Its owner %(names)s does not answer when asked.",
            "Its owners %(names)s do not answer when asked.",
            len(silent),
        )
        return form % {"names": ", ".join(silent)}
    if alert.kind == Kind.OUT_STOPS and holders:
        still = max(each["still_ms"] or 0 for each in facts["queues"])
        return _("%(owners)s holds it and has committed nothing for %(still)s.") % {
            "owners": ", ".join(holders[:NAMED]),
            "still": duration(still),
        }
    if alert.kind == Kind.OUT_STOPS:
        return _("No member holds it.")
    return _("No finding explains it yet.")


def _queue(queue: dict[str, Any]) -> str:
    topic, _sep, rest = queue["key"].partition("|")
    broker, _sep, number = rest.rpartition("|")
    return f"{topic} {broker}/{number}"


def _time(ms: int) -> str:
    return f"{day_and_time(ms)} {zone_label()}"
