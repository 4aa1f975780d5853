"""The epochs of a report's groups, from the database."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, QuerySet

from analytics.presence import EpochSpan
from dashboard.clock.moments import as_ms
from dashboard.models import Epoch


def epochs_between(
    cluster: str, group: str, since: datetime, until: datetime
) -> QuerySet[Epoch]:
    """Return the epochs that overlap [since, until); of all groups where one is ""."""
    of_group = Q(group=group) if group else Q()
    return Epoch.objects.filter(
        of_group, cluster__name=cluster, began_by__lt=until
    ).exclude(ended_by__lte=since)


def are_kept(since: datetime, now: datetime) -> bool:
    """Tell whether the database still has the epochs of a time."""
    return since >= now - timedelta(days=settings.ROCKETSCOPE_EPOCH_DAYS)


def spans_between(
    cluster: str, group: str, since: datetime, until: datetime
) -> list[EpochSpan]:
    """Return the spans and queues of the epochs that overlap [since, until)."""
    found = epochs_between(cluster, group, since, until)
    rows = found.values_list("group", "number", "began_by", "ended_by", "queues")
    return [
        EpochSpan(
            name,
            number,
            as_ms(began),
            None if ended is None else as_ms(ended),
            [(topic, broker, queue_id) for topic, broker, queue_id in queues],
        )
        for name, number, began, ended, queues in rows.iterator()
    ]
