"""The alerts about a group that were open within the span of its timeline."""

from __future__ import annotations

from typing import Final

from django.db.models import Q

from dashboard.clock.moments import moment_of
from dashboard.models import AlertRule, AlertSubject

from .lanes import Window

MOST_ALERTS: Final = 100


def alerts_within(cluster: str, group: str, window: Window) -> list[AlertSubject]:
    """Return them with their alerts, newest first; the newest of very many."""
    still_open = Q(closed_at=None) | Q(closed_at__gte=moment_of(window.since))
    found = AlertSubject.objects.filter(
        still_open,
        alert__cluster=cluster,
        name=group,
        opened_at__lt=moment_of(window.until),
    ).exclude(alert__kind=AlertRule.Kind.BROKER)
    newest = found.select_related("alert").order_by("-opened_at", "-pk")
    return list(newest[:MOST_ALERTS])
