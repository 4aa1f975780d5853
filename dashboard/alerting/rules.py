"""The rules of alerts as values, and which of them are about a group."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from django.db.models import Q

from analytics.holding import Threshold
from dashboard.models import AlertRule
from dashboard.wording.patterns import matches

from .kinds import ABOUT, Kind


@dataclass(frozen=True)
class Rule:
    """One rule that is on; see `AlertRule` for the fields."""

    pk: int
    name: str
    kind: str
    severity: str = "warn"
    limit: float | None = None
    clear_limit: float | None = None
    finding: str = ""
    within_ms: int = 600_000
    hold_ms: int = 0
    clear_ms: int = 0
    groups: str = ""
    team: str = ""
    channels: tuple[int, ...] = field(default=(), compare=False)
    escalation: tuple[int, ...] = field(default=(), compare=False)
    escalate_after_ms: int | None = field(default=None, compare=False)

    @cached_property
    def threshold(self) -> Threshold | None:
        """Its limits; None for a kind that has none."""
        if self.limit is None:
            return None
        return Threshold(self.limit, self.clear_limit, ABOUT[self.kind].below)

    def covers(self, group: str, team: str | None) -> bool:
        """Tell whether it is about a group, which is owned by a team or by none."""
        if self.kind == Kind.BROKER or (self.team and self.team != team):
            return False
        return matches(self.groups, group)


def active_rules(cluster: str) -> list[Rule]:
    """Return the rules that are on for a cluster, in three queries."""
    rows = AlertRule.objects.filter(Q(cluster="") | Q(cluster=cluster), on=True)
    return [_value(row) for row in rows.prefetch_related("channels", "escalation")]


def _value(row: AlertRule) -> Rule:
    return Rule(
        pk=row.pk,
        name=row.name,
        kind=row.kind,
        severity=row.severity,
        limit=row.limit,
        clear_limit=row.clear_limit,
        finding=row.finding,
        within_ms=row.within_s * 1000,
        hold_ms=row.hold_s * 1000,
        clear_ms=row.clear_s * 1000,
        groups=row.groups,
        team=row.team,
        channels=tuple(each.pk for each in row.channels.all() if each.on),
        escalation=tuple(each.pk for each in row.escalation.all() if each.on),
        escalate_after_ms=None
        if row.escalate_after_s is None
        else row.escalate_after_s * 1000,
    )
