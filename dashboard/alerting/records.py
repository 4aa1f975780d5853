"""Writes what has begun and ended to the database, and the messages about it.

Each call is one transaction: an alert is open, and its messages wait, or neither.
Groups for which a rule fires for the same reason are one alert, and so are those for
which no reason is known if they came together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Count, Q

from dashboard.clock.moments import as_ms, moment_of
from dashboard.models import (
    Alert,
    AlertMessage,
    AlertSubject,
    Channel,
    Silence,
)
from dashboard.models.fields import storable_name
from dashboard.wording.patterns import matches

from .engine import Closing, Explained, News, Opening, OpenSubject
from .rules import Rule

WAIT: Final = timedelta(seconds=2)
"""How long a first message waits for further groups of the same alert."""
TOGETHER: Final = timedelta(seconds=15)
"""Groups without a known reason that open within this time are one alert."""
MORE_AFTER: Final = timedelta(minutes=5)
"""How long after a message further groups of its alert are told, in one message."""

What = AlertMessage.What


def load_open(cluster: str) -> list[OpenSubject]:
    """Return what is open in a cluster."""
    rows = AlertSubject.objects.filter(
        alert__cluster=cluster, alert__closed_at=None, closed_at=None
    ).select_related("alert")
    return [
        OpenSubject(
            rule=row.alert.rule_id,
            subject=row.name,
            began_ms=as_ms(row.began_at),
            opened_ms=as_ms(row.opened_at),
            explained=bool(row.alert.cause) or row.facts.get("finding") is not None,
        )
        for row in rows
        if row.alert.rule_id is not None
    ]


@transaction.atomic
def write_news(cluster: str, news: Sequence[News], now: datetime) -> None:
    """Open and close alerts, in the order of the news, with their messages."""
    silences = active_silences(cluster, now)
    touched: dict[int, Alert] = {}
    rules: dict[int, Rule] = {}
    for each in news:
        if isinstance(each, Opening):
            alert = _open(cluster, each, now)
            touched[alert.pk] = alert
            rules[alert.pk] = each.rule
        elif isinstance(each, Closing):
            for alert in _close(cluster, each):
                touched.setdefault(alert.pk, alert)
        else:
            _explain(cluster, each)
    for pk, alert in touched.items():
        if pk in rules and alert.told_at is None:
            _tell_opening(alert, rules[pk], silences, now)
        elif pk in rules:
            _count_told(alert)
        _end(alert, now)


def keep_up(cluster: str, rules: Iterable[Rule], now: datetime) -> bool:
    """Do what is due by time, and tell whether messages wait to be sent now.

    Alerts of rules that are gone end; those whose silence is over are told; further
    groups are told; alerts that nobody acknowledges are escalated.
    """
    by_number = {rule.pk: rule for rule in rules}
    found = Alert.objects.open().filter(cluster=cluster)
    if found.exists():
        with transaction.atomic():
            silences = active_silences(cluster, now)
            for alert in found.select_for_update():
                rule = by_number.get(alert.rule_id or 0)
                if rule is None:
                    _end_for(Alert.End.RULE, alert, now)
                else:
                    _follow(alert, rule, silences, now)
    return AlertMessage.objects.filter(
        state=AlertMessage.State.WAITING, due_at__lte=now + WAIT
    ).exists()


@transaction.atomic
def end_all_but(clusters: Collection[str], now: datetime) -> bool:
    """End the alerts of clusters that are no longer there; tell whether there were any.

    Those who had been told of them are told that the cluster was removed.
    """
    left = list(Alert.objects.open().exclude(cluster__in=clusters).select_for_update())
    for alert in left:
        _end_for(Alert.End.CLUSTER, alert, now)
    return bool(left)


def active_silences(cluster: str, now: datetime) -> list[Silence]:
    """Return the silences of a cluster that are in force."""
    return list(
        Silence.objects.filter(
            Q(cluster="") | Q(cluster=cluster), starts_at__lte=now, ends_at__gt=now
        )
    )


def silence_of(
    silences: Iterable[Silence], alert: Alert, names: Iterable[str]
) -> Silence | None:
    """Return a silence that covers all open subjects of an alert; None if none does."""
    names = list(names)
    covering = [s for s in silences if s.rule_id in {None, alert.rule_id}]
    last = None
    for name in names:
        last = next((s for s in covering if matches(s.groups, name)), None)
        if last is None:
            return None
    return last


def _open(cluster: str, news: Opening, now: datetime) -> Alert:
    alert = _alert_for(cluster, news, now)
    AlertSubject.objects.get_or_create(
        alert=alert,
        name=news.subject,
        closed_at=None,
        defaults={
            "began_at": moment_of(news.began_ms),
            "opened_at": moment_of(news.at_ms),
            "facts": news.facts,
        },
    )
    return alert


def _alert_for(cluster: str, news: Opening, now: datetime) -> Alert:
    """Return the alert that a group belongs to, made if there is none."""
    rule = news.rule
    of_rule = Alert.objects.open().filter(rule_id=rule.pk, cluster=cluster)
    if news.cause:
        key = news.cause
        found = of_rule.filter(key=key).first()
    else:
        key = f"@{news.at_ms}"
        found = of_rule.filter(cause="", opened_at__gte=now - TOGETHER).first()
    if found is not None:
        return found
    return Alert.objects.get_or_create(
        rule_id=rule.pk,
        cluster=cluster,
        key=key,
        closed_at=None,
        defaults={
            "rule_name": rule.name,
            "kind": rule.kind,
            "severity": rule.severity,
            "cause": news.cause,
            "opened_at": moment_of(news.at_ms),
        },
    )[0]


def _close(cluster: str, news: Closing) -> list[Alert]:
    rows = AlertSubject.objects.filter(
        alert__rule_id=news.rule,
        alert__cluster=cluster,
        alert__closed_at=None,
        name=storable_name(news.subject, 255),
        closed_at=None,
    ).select_related("alert")
    alerts = []
    for row in rows:
        row.closed_at = moment_of(news.at_ms)
        row.save(update_fields=["closed_at"])
        row.alert.end = news.end
        alerts.append(row.alert)
    return alerts


def _explain(cluster: str, news: Explained) -> None:
    rows = AlertSubject.objects.filter(
        alert__rule_id=news.rule,
        alert__cluster=cluster,
        name=storable_name(news.subject, 255),
        closed_at=None,
    )
    for row in rows:
        row.facts = {**row.facts, "finding": news.finding}
        row.save(update_fields=["facts"])


def _tell_opening(
    alert: Alert, rule: Rule, silences: Sequence[Silence], now: datetime
) -> None:
    names = list(alert.subjects.filter(closed_at=None).values_list("name", flat=True))
    if not names or silence_of(silences, alert, names) is not None:
        return
    alert.told_at, alert.told_subjects = now, alert.subjects.count()
    alert.save(update_fields=["told_at", "told_subjects"])
    _tell(alert, What.OPENED, rule.channels, now, after=WAIT)


def _count_told(alert: Alert) -> None:
    """Let the first message name further groups too, while it waits."""
    begun = alert.messages.filter(what=What.OPENED).exclude(attempts=0, claim="")
    if alert.told_subjects and not begun.exists():
        alert.told_subjects = alert.subjects.count()
        alert.save(update_fields=["told_subjects"])


def _end(alert: Alert, now: datetime) -> None:
    """Close an alert without open subjects, and tell those who know of it."""
    if alert.subjects.filter(closed_at=None).exists():
        return
    last = alert.subjects.order_by("-closed_at").first()
    closed_at = last.closed_at if last is not None else now
    ended = Alert.objects.open().filter(pk=alert.pk)
    if not ended.update(closed_at=closed_at, end=alert.end or Alert.End.CLEARED):
        return
    unsent = alert.messages.filter(
        what=What.OPENED, state=AlertMessage.State.WAITING, attempts=0, claim=""
    )
    unsent.delete()  # what is over before it was told is not told
    told = alert.messages.filter(what__in=[What.OPENED, What.ESCALATED])
    channels = dict.fromkeys(told.values_list("channel_id", flat=True))
    _tell(alert, What.CLOSED, [pk for pk in channels if pk is not None], now)


def _end_for(reason: Alert.End, alert: Alert, now: datetime) -> None:
    """Close an alert whose condition nobody judges any more."""
    alert.subjects.filter(closed_at=None).update(closed_at=now)
    alert.end = reason
    _end(alert, now)


def _follow(
    alert: Alert, rule: Rule, silences: Sequence[Silence], now: datetime
) -> None:
    if alert.told_at is None:
        _tell_opening(alert, rule, silences, now)
        return
    counts = alert.subjects.aggregate(
        all=Count("pk"), open=Count("pk", filter=Q(closed_at=None))
    )
    last = alert.messages.order_by("-made_at").values_list("made_at", flat=True).first()
    quiet_for = now - (last or alert.told_at)
    if (
        counts["all"] > alert.told_subjects
        and quiet_for >= MORE_AFTER
        and (counts["open"])
    ):
        before, alert.told_subjects = alert.told_subjects, counts["all"]
        alert.save(update_fields=["told_subjects"])
        _tell(
            alert,
            What.MORE,
            rule.channels,
            now,
            number=counts["all"],
            content={"after": before},
        )
    _escalate(alert, rule, silences, now)


def _escalate(
    alert: Alert, rule: Rule, silences: Sequence[Silence], now: datetime
) -> None:
    after_ms = rule.escalate_after_ms
    if after_ms is None or alert.acknowledged_at or alert.escalated_at:
        return
    if now - alert.opened_at < timedelta(milliseconds=after_ms):
        return
    names = alert.subjects.filter(closed_at=None).values_list("name", flat=True)
    if silence_of(silences, alert, names) is not None:
        return
    alert.escalated_at = now
    alert.save(update_fields=["escalated_at"])
    _tell(alert, What.ESCALATED, rule.escalation, now)


def _tell(
    alert: Alert,
    what: AlertMessage.What,
    channels: Iterable[int],
    now: datetime,
    *,
    after: timedelta = timedelta(),
    number: int = 0,
    content: dict[str, int] | None = None,
) -> None:
    names = dict(Channel.objects.filter(pk__in=channels).values_list("pk", "name"))
    AlertMessage.objects.bulk_create(
        [
            AlertMessage(
                alert=alert,
                channel_id=pk,
                channel_name=name,
                what=what,
                number=number,
                content=content or {},
                made_at=now,
                due_at=now + after,
            )
            for pk, name in names.items()
        ],
        ignore_conflicts=True,
    )
