"""The alerts of a report's period, written beside its numbers when these are ready.

They are read from the database, which forgets and changes them: what is acknowledged,
closed or owned by another team later does not change a report. A row is one group (or
broker) of an alert.
"""

from __future__ import annotations

import io
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from analytics import contracts as c
from analytics.lake.storage import open_storage
from dashboard.accounts.owners import Owners, owners
from dashboard.models import AlertRule, AlertSubject, JobRun

from .data.alerts import ALERTS_ALL, ALERTS_DELETED_BEFORE, MOST_ROWS
from .data.output import output_of
from .data.tables import ALERTS
from .writers.parquet_file import arrow_types

FILE: Final = f"{ALERTS.key}/part-0.parquet"


def keep_alerts(run: JobRun) -> dict[str, Any]:
    """Write the alerts of a run's period, and return what its summary says of them.

    Of more than `MOST_ROWS`, the newest are kept. Raises OSError.
    """
    import pyarrow as pa
    from pyarrow import parquet

    found = subjects_of(run)
    newest = found.select_related("alert").defer("facts").order_by("-opened_at", "-pk")
    teams = owners(run.cluster)
    rows = [_row(each, teams) for each in newest[:MOST_ROWS]]
    types = arrow_types("UTC")
    schema = pa.schema([(column.key, types[column.kind]) for column in ALERTS.columns])
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), sink)
    storage = open_storage(output_of(run))
    storage.delete_tree(ALERTS.key)
    storage.write_new(FILE, sink.getvalue())
    return {
        "rows": {ALERTS.key: len(rows)},
        ALERTS_ALL: len(rows) if len(rows) < MOST_ROWS else found.count(),
        ALERTS_DELETED_BEFORE: _deleted_before(run.since),
    }


def subjects_of(run: JobRun) -> QuerySet[AlertSubject]:
    """Return what was open within a run's period: of its group, or of its cluster."""
    found = AlertSubject.objects.filter(
        Q(closed_at=None) | Q(closed_at__gte=run.since),
        alert__cluster=run.cluster,
        opened_at__lt=run.until,
    )
    if not run.group:
        return found
    return found.filter(name=run.group).exclude(alert__kind=AlertRule.Kind.BROKER)


def _deleted_before(since: datetime) -> str | None:
    """Return up to when alerts that closed are deleted, if the period reaches there."""
    kept = timezone.now() - timedelta(days=settings.ROCKETSCOPE_ALERT_DAYS)
    return kept.isoformat() if since < kept else None


def _row(subject: AlertSubject, teams: Owners) -> dict[str, Any]:
    alert = subject.alert
    is_broker = alert.kind == AlertRule.Kind.BROKER
    team = None if is_broker else teams.of(subject.name)
    return {
        c.CLUSTER: alert.cluster,
        "alert": alert.pk,
        c.GROUP: None if is_broker else subject.name,
        c.BROKER: subject.name if is_broker else None,
        "opened_at": subject.opened_at,
        "closed_at": subject.closed_at,
        "severity": alert.severity,
        "rule": alert.rule_name,
        "kind": alert.kind,
        "finding": alert.cause or None,
        "team": None if team is None else team.team,
        "how_it_ended": alert.end or None,
        "acknowledged_at": alert.acknowledged_at,
        "acknowledged_by": alert.acknowledged_by_name or None,
    }
