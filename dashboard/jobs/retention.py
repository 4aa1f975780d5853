"""Which rows of the database grow old, and how long they are kept.

`RULES` are carried out every hour. `BOUNDED` names what keeps each other table small. A
test fails for a table that is in neither, and compares both with docs/operations.md.

Rows are deleted in small batches, each in a transaction of its own, because SQLite has
one writer at a time and everybody else waits for it. A table that has grown too large
for one hour's work, as after the first upgrade, is shrunk over several hours.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from django.conf import settings
from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet

from dashboard.models import (
    Alert,
    AlertMessage,
    AlertSubject,
    AuditEntry,
    Epoch,
    GroupChange,
    OffsetChange,
    OwnershipEvent,
    ResendRun,
    ResentLetter,
    Session,
    Silence,
)

logger = logging.getLogger(__name__)

BATCH: Final = 500
"""Rows of one transaction: epochs of large groups have some 100 KB each."""
MOST_AT_ONCE: Final = 500_000
"""Rows of one table that are deleted in one go."""
MOST_OF_A_GROUP: Final = 10_000
"""Epochs, and ownership events, of one group; pages read fewer of its newest."""
OFFSET_CHANGE_DAYS: Final = 30
"""How long a move of offsets can be undone; pages name the same number."""

SILENCE_DAYS: Final = 90
"""How long a silence is listed after its end."""

RESEND_DAYS: Final = 30
"""How long it is known which dead letters were resent; pages name the same figure."""

Over = Callable[[datetime], Iterator[QuerySet[Any]]]
"""Returns the rows to delete, for a moment before which nothing need be kept."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Rows are deleted `days` after they were last of use, or as `setting` says."""

    model: type[Model]
    over: Over
    setting: str = ""
    days: int = 0

    def horizon(self, now: datetime) -> datetime:
        """Return the moment before which nothing need be kept."""
        days = getattr(settings, self.setting) if self.setting else self.days
        return now - timedelta(days=days)


def _older(model: type[Model], field: str) -> Over:
    def over(horizon: datetime) -> Iterator[QuerySet[Any]]:
        yield model._default_manager.filter(**{f"{field}__lt": horizon})

    return over


def _old_epochs(horizon: datetime) -> Iterator[QuerySet[Any]]:
    """The epoch that covers the horizon is kept, and so is each running one.

    An epoch that a killed collector left open was over when the next one began.
    """
    yield Epoch.objects.filter(ended_by__lt=horizon)
    followed = Epoch.objects.filter(
        cluster=OuterRef("cluster"),
        group=OuterRef("group"),
        number__gt=OuterRef("number"),
        began_by__lt=horizon,
    )
    yield Epoch.objects.filter(Exists(followed), ended_by=None)
    yield from _beyond(Epoch.objects.exclude(ended_by=None), "number")


def _old_events(horizon: datetime) -> Iterator[QuerySet[Any]]:
    """Events are kept as long as the epoch in which they happened.

    Without them the timeline would show that nothing changed hands in that epoch.
    """
    kept = Epoch.objects.filter(
        cluster=OuterRef("cluster"),
        group=OuterRef("group"),
        began_by__lte=OuterRef("at_by"),
    )
    yield OwnershipEvent.objects.filter(~Exists(kept), at_by__lt=horizon)
    yield from _beyond(OwnershipEvent.objects.all(), "at_by")


def _old_messages(horizon: datetime) -> Iterator[QuerySet[Any]]:
    """Those of alerts that are over, and tests, which are about no alert."""
    yield AlertMessage.objects.filter(alert__closed_at__lt=horizon)
    yield AlertMessage.objects.filter(alert=None, made_at__lt=horizon)


def _ended_sessions(now: datetime) -> Iterator[QuerySet[Any]]:
    yield Session.objects.over(now)


def _beyond(rows: QuerySet[Any], newest: str) -> Iterator[QuerySet[Any]]:
    """Return the rows of each group beyond its newest ones, in the order of a field."""
    counted = rows.order_by().values("cluster", "group").annotate(rows=Count("pk"))
    for each in counted.filter(rows__gt=MOST_OF_A_GROUP):
        of_group = rows.filter(cluster=each["cluster"], group=each["group"])
        last = of_group.order_by(f"-{newest}").values_list(newest, flat=True)
        yield of_group.filter(Q(**{f"{newest}__lt": last[MOST_OF_A_GROUP - 1]}))


RULES: Final = (
    Rule(AuditEntry, _older(AuditEntry, "at"), "ROCKETSCOPE_AUDIT_DAYS"),
    Rule(GroupChange, _older(GroupChange, "at"), "ROCKETSCOPE_AUDIT_DAYS"),
    Rule(OffsetChange, _older(OffsetChange, "at"), days=OFFSET_CHANGE_DAYS),
    # Letters come first: a run has up to two thousand of them.
    Rule(ResentLetter, _older(ResentLetter, "run__at"), days=RESEND_DAYS),
    Rule(ResendRun, _older(ResendRun, "at"), days=RESEND_DAYS),
    # Messages and groups come first: an alert may be about thousands of groups.
    Rule(AlertMessage, _old_messages, "ROCKETSCOPE_ALERT_DAYS"),
    Rule(
        AlertSubject,
        _older(AlertSubject, "alert__closed_at"),
        "ROCKETSCOPE_ALERT_DAYS",
    ),
    Rule(Alert, _older(Alert, "closed_at"), "ROCKETSCOPE_ALERT_DAYS"),
    Rule(Silence, _older(Silence, "ends_at"), days=SILENCE_DAYS),
    # Epochs come first: events follow them.
    Rule(Epoch, _old_epochs, "ROCKETSCOPE_EPOCH_DAYS"),
    Rule(OwnershipEvent, _old_events, "ROCKETSCOPE_EPOCH_DAYS"),
    Rule(Session, _ended_sessions),
)

BOUNDED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "auth_group": "not used: users have roles",
        "auth_group_permissions": "not used: users have roles",
        "auth_permission": "one row for each right on a table",
        "dashboard_alertrule": "alerts.rule_writes refuses more than its limit",
        "dashboard_alertrule_channels": "alerts.rule_writes: 20 of a rule",
        "dashboard_alertrule_escalation": "alerts.rule_writes: 20 of a rule",
        "dashboard_channel": "alerts.channel_writes refuses more than its limit",
        "dashboard_cluster": "one row for each cluster that settings have named",
        "dashboard_fleetworker": "fleet.claims removes workers not seen for an hour",
        "dashboard_grant": "accounts.grants refuses more than its limit",
        "dashboard_identity": "one for each user whom others sign in",
        "dashboard_jobrun": "reports.retention deletes reports after their days",
        "dashboard_knownbroker": "removed when a broker is gone, at most 24 h later",
        "dashboard_labrun": "labs.writes keeps the newest runs of each lab",
        "dashboard_managedgroup": "made by operators; removed with its last member",
        "dashboard_managedmember": "at most 200 of a group; removed when it has left",
        "dashboard_reportdefinition": "reports.definitions refuses more than its limit",
        "dashboard_reportfile": "at most one of each format; goes with its report",
        "dashboard_savedscenario": "whatif.writes refuses more than its limits",
        "dashboard_savedview": "saved_views.writes refuses more than its limit",
        "dashboard_secondfactor": "at most one of each user",
        "dashboard_signinlink": "made by admins; the next one removes those of before",
        "dashboard_team": "teams.writes refuses more than its limit",
        "dashboard_team_members": "teams.writes refuses more than its limit",
        "dashboard_ownership": "teams.writes refuses more than its limit",
        "dashboard_groupnote": "teams.writes refuses more than its limit",
        "dashboard_token": "accounts.tokens refuses too many, and removes ended ones",
        "dashboard_timerrun": "fleet.runs keeps a day, and a number of rows at most",
        "dashboard_user": "made by admins",
        "dashboard_user_groups": "not used: users have roles",
        "dashboard_user_user_permissions": "not used: users have roles",
        "django_content_type": "one row for each table",
        "django_migrations": "one row for each migration",
    }
)
"""What keeps the other tables small, by their names in the database."""


def expire_rows(now: datetime) -> dict[str, int]:
    """Delete the rows that have exceeded their time; return how many, by table."""
    gone: dict[str, int] = {}
    for rule in RULES:
        table = rule.model._meta.db_table
        gone[table] = _delete(rule, rule.horizon(now))
        if gone[table]:
            logger.info("table=%s rows expired: %d", table, gone[table])
    return gone


def _delete(rule: Rule, horizon: datetime) -> int:
    done = 0
    for rows in rule.over(horizon):
        keys = rows.order_by().values_list("pk", flat=True)
        while done < MOST_AT_ONCE and (batch := list(keys[:BATCH])):
            rule.model._default_manager.filter(pk__in=batch).delete()
            done += len(batch)
    return done
