"""Acknowledge alerts, silence them, and end silences; all of these are audited."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.frame.reasons import checked_reason
from dashboard.models import Alert, AlertRule, Role, Silence, User
from dashboard.models.audit import record
from dashboard.models.counting import count_alone

from .refusals import AlertRefusedError
from .rights import may, may_act, must

LONGEST: Final = timedelta(days=30)
AHEAD: Final = timedelta(days=365)
MOST_SILENCES: Final = 500
"""That have not ended; each is looked at with every alert that opens."""


@dataclass(frozen=True, slots=True)
class SilenceFields:
    """Which alerts are not told, from when until when, and why.

    An empty cluster stands for every cluster, an empty pattern for every group; without
    a rule, all rules are meant. It starts now if `starts_at` is None or past.
    """

    cluster: str
    ends_at: datetime
    reason: str
    groups: str = ""
    rule: AlertRule | None = None
    starts_at: datetime | None = None


@transaction.atomic
def acknowledge(alert: Alert, *, by: User) -> Alert:
    """Note that somebody looks at an open alert: nobody else is called for it.

    The first who says so stays named. Raises AlertRefusedError if it has closed.
    """
    row = Alert.objects.select_for_update().get(pk=alert.pk)
    names = row.subjects.filter(closed_at=None).values_list("name", flat=True)
    must(may_act(by, row, names), by)
    if row.closed_at is not None:
        raise AlertRefusedError(_("The alert has closed: nobody needs to look at it."))
    if row.acknowledged_at is None:
        row.acknowledged_at = timezone.now()
        row.acknowledged_by_name = by.get_username()
        row.save(update_fields=["acknowledged_at", "acknowledged_by_name"])
        record(
            by,
            "alert.acknowledge",
            cluster=row.cluster,
            target=row.rule_name,
            details={"alert": row.pk},
        )
    return row


@transaction.atomic
def add_silence(wish: SilenceFields, *, by: User) -> Silence:
    """Begin a silence, or plan one.

    Raises AlertRefusedError for an end that is missing, past or too far away, and
    without a reason; PermissionDenied unless an operator of all groups concerned asks.
    """
    must(may(by, Role.OPERATOR, wish.cluster, wish.groups.strip()), by)
    now = timezone.now()
    starts_at = max(wish.starts_at or now, now)
    _check_times(starts_at, wish.ends_at, now)
    reason = checked_reason(wish.reason, lambda text: AlertRefusedError(text, "reason"))
    if wish.rule is not None and wish.rule.cluster not in {"", wish.cluster}:
        raise AlertRefusedError(
            _("The rule “%(name)s” is not about this cluster.")
            % {"name": wish.rule.name},
            "rule",
        )
    count_alone("silences")
    if Silence.objects.filter(ends_at__gt=now).count() >= MOST_SILENCES:
        raise AlertRefusedError(
            _("There are already %(limit)s silences, which is the limit.")
            % {"limit": MOST_SILENCES}
        )
    silence = Silence.objects.create(
        cluster=wish.cluster,
        groups=wish.groups.strip(),
        rule=wish.rule,
        starts_at=starts_at,
        ends_at=wish.ends_at,
        reason=reason,
        by_name=by.get_username(),
    )
    _record(by, "silence.add", silence, reason)
    return silence


@transaction.atomic
def end_silence(silence: Silence, *, by: User) -> None:
    """End a silence now; one that has not begun is taken back."""
    row = Silence.objects.select_for_update().get(pk=silence.pk)
    must(may(by, Role.OPERATOR, row.cluster, row.groups), by)
    now = timezone.now()
    if row.ends_at <= now:
        return
    row.ends_at = now
    row.starts_at = min(row.starts_at, now)
    row.save(update_fields=["starts_at", "ends_at"])
    _record(by, "silence.end", row)


def end_of(starts_at: datetime, span: timedelta) -> datetime:
    """Return when a silence of a span ends; AlertRefusedError if time has no such."""
    try:
        return starts_at + span
    except OverflowError:
        raise _begins_late() from None


def _begins_late() -> AlertRefusedError:
    text = _("A silence begins within %(days)s days.") % {"days": AHEAD.days}
    return AlertRefusedError(text, "starts_at")


def _check_times(starts_at: datetime, ends_at: datetime, now: datetime) -> None:
    if ends_at <= starts_at:
        raise AlertRefusedError(
            _("It ends before it begins, or has ended already."), "ends_at"
        )
    if ends_at - starts_at > LONGEST:
        raise AlertRefusedError(
            _("A silence lasts %(days)s days at most.") % {"days": LONGEST.days},
            "ends_at",
        )
    if starts_at - now > AHEAD:
        raise _begins_late()


def _record(by: User, action: str, silence: Silence, reason: str = "") -> None:
    record(
        by,
        action,
        cluster=silence.cluster,
        target=silence.groups or "*",
        reason=reason,
        details={
            "silence": silence.pk,
            "rule": silence.rule.name if silence.rule else "",
            "since": silence.starts_at.isoformat(),
            "until": silence.ends_at.isoformat(),
        },
    )
