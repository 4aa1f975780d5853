"""What the pages of alerts and the REST API show, read from the database and the cache.

What is open and what was told is in the database. How each rule stood at the last look
is in a document of the collector (`dashboard.live.alert_documents`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final, Literal, cast

import redis
from django.conf import settings
from django.db.models import Count, Max, Min, Q, QuerySet
from django.utils import timezone
from typing_extensions import TypedDict

from dashboard.accounts.owners import Owners, owners
from dashboard.alerting.kinds import Kind
from dashboard.alerting.records import silence_of
from dashboard.alerting.said import SaidAlert, SaidSubject, say_alert
from dashboard.findings.said import say_finding
from dashboard.live.alert_documents import AlertingDocument, RuleState
from dashboard.live.documents import FindingState
from dashboard.live.state import live_state
from dashboard.models import Alert, AlertMessage, AlertRule, AlertSubject, Silence, User

from .logs import LogLine, log_of
from .rights import may_act, may_rule
from .words import RULE_STATES

WEEK: Final = timedelta(days=7)
MOST_CARDS: Final = 30
"""Open alerts that are shown in full; the list of all has the others."""
MOST_SUBJECTS: Final = 3
STALE_MS: Final = 60_000
"""When a look at the rules is old: six sweeps."""

State = Literal["firing", "unknown", "quiet", "silenced", "off"]
_OWNERS: Final = ("last_owner", "held_by", "expected_owner")
"""What findings know of owners beside the members that hold the queues."""


class _Open(TypedDict):
    number: int
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Described:
    """One group or broker of an alert: its facts, in words, and what was seen."""

    facts: Mapping[str, Any]
    said: SaidSubject
    evidence: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class ShownAlert:
    """An alert with its groups, what is said of it, and what was told to whom."""

    alert: Alert
    subjects: Sequence[AlertSubject]
    messages: Sequence[AlertMessage]
    teams: Owners
    silence: Silence | None = None
    may_act: bool = False

    @cached_property
    def said(self) -> SaidAlert:
        named = self.named
        return say_alert(
            self.alert, named, teams=self.teams, all_subjects=len(self.subjects)
        )

    @property
    def named(self) -> Sequence[AlertSubject]:
        """The subjects that are described."""
        return _named(self.subjects)

    @property
    def described(self) -> list[Described]:
        pairs = zip(self.named, self.said.subjects, strict=True)
        return [
            Described(row.facts, said, _owners_seen(row.facts.get("finding")))
            for row, said in pairs
        ]

    @property
    def is_many(self) -> bool:
        return len(self.subjects) > 1

    @property
    def log(self) -> list[LogLine]:
        return log_of(self.alert, self.subjects, self.messages)

    @property
    def lasted_ms(self) -> float:
        end = self.alert.closed_at or timezone.now()
        return (end - self.alert.opened_at).total_seconds() * 1000

    @property
    def groups(self) -> str:
        """The pattern that a silence of this alert would have."""
        names = [each.name for each in self.subjects if each.closed_at is None]
        is_group = self.alert.kind != Kind.BROKER
        return names[0] if is_group and len(names) == 1 else ""


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule, how it stands in a cluster, and how often it fired in the last week."""

    rule: AlertRule
    state: State
    standing: RuleState | None
    silence: Silence | None
    open: int
    fired: int
    last: datetime | None
    may_change: bool

    @property
    def channels(self) -> str:
        return ", ".join(each.name for each in self.rule.channels.all())


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures at the top: what is open, silenced, not known, and was sent."""

    open: int
    since: datetime | None
    silences: int
    silenced_until: datetime | None
    unknown: int
    unknown_name: str
    rules: int
    on: int
    fired: int
    most_fired: int
    sent: int
    failed: int


@dataclass(frozen=True, slots=True)
class Board:
    """All that the page of a cluster's alerts shows."""

    alerts: Sequence[ShownAlert]
    more: int
    rules: Sequence[RuleRow]
    silences: Sequence[Silence]
    summary: Summary
    document: AlertingDocument | None

    @property
    def is_old(self) -> bool:
        """Whether the rules were looked at too long ago to be relied on."""
        if self.document is None:
            return False
        now_ms = timezone.now().timestamp() * 1000
        return now_ms - self.document["taken_at"] > STALE_MS


def read_board(user: User, cluster: str) -> Board:
    """Read the page of a cluster's alerts, in about ten queries."""
    now = timezone.now()
    document = read_alerting(cluster)
    silences = list(silences_of(cluster).filter(ends_at__gt=now))
    found = Alert.objects.open().filter(cluster=cluster)
    by_severity = found.select_related("rule").order_by(
        "severity", "-opened_at"
    )  # crit before warn
    every = cast("_Open", found.aggregate(number=Count("pk"), since=Min("opened_at")))
    alerts = shown(by_severity[:MOST_CARDS], user, silences, now)
    rules = rule_rows(user, cluster, document, silences, now)
    return Board(
        alerts=alerts,
        more=max(0, every["number"] - len(alerts)),
        rules=rules,
        silences=silences,
        summary=_summary(
            cluster, every, rules, [each for each in silences if each.starts_at <= now]
        ),
        document=document,
    )


def read_alerting(cluster: str) -> AlertingDocument | None:
    """Read how the rules stood; None if nothing was collected or the cache is away."""
    if not settings.ROCKETSCOPE_REDIS_URL:
        return None
    try:
        return live_state().alerting(cluster)
    except redis.RedisError:
        return None


def shown(
    alerts: Iterable[Alert],
    user: User,
    silences: Sequence[Silence] = (),
    now: datetime | None = None,
) -> list[ShownAlert]:
    """Return alerts with their groups and messages, in three queries for all.

    Facts are read only of the groups that are described: there may be 500 others.
    """
    rows = list(alerts)
    keys = [row.pk for row in rows]
    subjects: dict[int, list[AlertSubject]] = {key: [] for key in keys}
    messages: dict[int, list[AlertMessage]] = {key: [] for key in keys}
    for subject in AlertSubject.objects.filter(alert__in=keys).defer("facts"):
        subjects[subject.alert_id].append(subject)
    named = {each.pk: each for found in subjects.values() for each in _named(found)}
    facts = AlertSubject.objects.filter(pk__in=named).values_list("pk", "facts")
    for pk, known in facts:
        named[pk].facts = known
    for message in AlertMessage.objects.filter(alert__in=keys):
        if message.alert_id is not None:
            messages[message.alert_id].append(message)
    running = [each for each in silences if now and each.starts_at <= now]
    teams = {name: owners(name) for name in {row.cluster for row in rows}}
    return [
        ShownAlert(
            row,
            subjects[row.pk],
            messages[row.pk],
            teams[row.cluster],
            silence=_silence_of(row, subjects[row.pk], running),
            may_act=row.closed_at is None
            and may_act(user, row, (s.name for s in subjects[row.pk])),
        )
        for row in rows
    ]


def _named(subjects: Sequence[AlertSubject]) -> Sequence[AlertSubject]:
    """Return those of an alert that are described: the open ones before others."""
    ordered = sorted(subjects, key=lambda each: each.closed_at is not None)
    return ordered[:MOST_SUBJECTS]


def silences_of(cluster: str) -> QuerySet[Silence]:
    """Return the silences of a cluster, and those of every cluster."""
    return Silence.objects.filter(Q(cluster="") | Q(cluster=cluster)).select_related(
        "rule"
    )


def rules_of(cluster: str) -> QuerySet[AlertRule]:
    """Return the rules about a cluster, and those about every cluster."""
    found = AlertRule.objects.filter(Q(cluster="") | Q(cluster=cluster))
    return found.prefetch_related("channels", "escalation")


def rule_rows(
    user: User,
    cluster: str,
    document: AlertingDocument | None,
    silences: Sequence[Silence],
    now: datetime,
) -> list[RuleRow]:
    """Return the rules of a cluster: firing, cannot tell, quiet, silenced, off."""
    fired = {
        row["rule"]: row
        for row in Alert.objects.filter(cluster=cluster, rule__isnull=False)
        .order_by()
        .values("rule")
        .annotate(
            last=Max("opened_at"),
            week=Count("pk", filter=Q(opened_at__gte=now - WEEK)),
            open=Count("pk", filter=Q(closed_at=None)),
        )
    }
    running = [each for each in silences if each.starts_at <= now]
    rows = []
    for rule in rules_of(cluster):
        counts = fired.get(rule.pk, {})
        standing = document["rules"].get(str(rule.pk)) if document else None
        silence = next((s for s in running if _covers(s, rule)), None)
        is_open = counts.get("open", 0)
        rows.append(
            RuleRow(
                rule=rule,
                state=_state(rule, standing, silence, is_open),
                standing=standing,
                silence=silence,
                open=is_open,
                fired=counts.get("week", 0),
                last=counts.get("last"),
                may_change=may_rule(user, rule.cluster, rule.kind, rule.groups),
            )
        )
    order = list(RULE_STATES)
    return sorted(rows, key=lambda row: (order.index(row.state), row.rule.name))


def _owners_seen(finding: FindingState | None) -> list[tuple[str, str]]:
    if finding is None:
        return []
    pairs = zip(finding["evidence"], say_finding(finding).evidence, strict=True)
    return [said for (key, _value), said in pairs if key in _OWNERS]


def _state(
    rule: AlertRule, standing: RuleState | None, silence: Silence | None, is_open: int
) -> State:
    if not rule.on:
        return "off"
    if is_open:
        return "firing"
    if silence is not None:
        return "silenced"
    return "unknown" if standing is None or standing["unknown"] else "quiet"


def _covers(silence: Silence, rule: AlertRule) -> bool:
    """Tell whether a silence covers all that a rule can be about."""
    if silence.rule_id not in {None, rule.pk}:
        return False
    return not silence.groups or silence.groups == rule.groups


def _silence_of(
    alert: Alert, subjects: Sequence[AlertSubject], silences: Sequence[Silence]
) -> Silence | None:
    """Return a silence that covers all open subjects of an alert."""
    names = [each.name for each in subjects if each.closed_at is None]
    if alert.closed_at is not None or not names:
        return None
    return silence_of(silences, alert, names)


def _summary(
    cluster: str, alerts: _Open, rules: Sequence[RuleRow], running: Sequence[Silence]
) -> Summary:
    now = timezone.now()
    unknown = [row for row in rules if row.state == "unknown"]
    named = [row.standing["unknown_names"] for row in unknown if row.standing]
    told = AlertMessage.objects.filter(
        alert__cluster=cluster, made_at__gte=now - WEEK
    ).aggregate(
        sent=Count("pk", filter=Q(state=AlertMessage.State.SENT)),
        failed=Count("pk", filter=Q(state=AlertMessage.State.GIVEN_UP)),
    )
    return Summary(
        open=alerts["number"],
        since=alerts["since"],
        silences=len(running),
        silenced_until=min((each.ends_at for each in running), default=None),
        unknown=len(unknown),
        unknown_name=next((names[0] for names in named if names), ""),
        rules=len(rules),
        on=sum(row.rule.on for row in rules),
        fired=Alert.objects.filter(cluster=cluster, opened_at__gte=now - WEEK).count(),
        most_fired=max((row.fired for row in rules), default=0),
        sent=told["sent"],
        failed=told["failed"],
    )
