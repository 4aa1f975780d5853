"""The alerts of a cluster, open and past: filtered for pages, programs and files."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from django.db.models import Count, Q, QuerySet

from dashboard.clock.moments import is_day, midnight
from dashboard.models import Alert, AlertMessage, AlertRule, AlertSubject
from dashboard.wording.cells import csv_lines

LONGEST: Final = 255
CHUNK_ROWS: Final = 500
COLUMNS: Final = (
    "alert",
    "opened_at",
    "closed_at",
    "severity",
    "rule",
    "kind",
    "finding",
    "subjects",
    "how_it_ended",
    "acknowledged_at",
    "acknowledged_by",
    "sent",
    "failed",
)


@dataclass(frozen=True, slots=True)
class Filters:
    """What to keep; empty keeps all. `since` and `until` are days, both included.

    `group` is a part of the name of a group or broker, `rule` a rule's name.
    """

    group: str = ""
    rule: str = ""
    severity: str = ""
    state: str = ""
    since: str = ""
    until: str = ""

    @property
    def query(self) -> str:
        """The part of an address that makes these filters."""
        return urlencode({name: value for name, value in asdict(self).items() if value})

    def chosen(self, cluster: str) -> QuerySet[Alert]:
        """Return the alerts of a cluster that match all filters, newest first."""
        return alerts_of(
            cluster,
            group=self.group,
            rule=self.rule,
            severity=self.severity,
            state=self.state,
            since=midnight(self.since) if self.since else None,
            until=midnight(self.until) + timedelta(days=1) if self.until else None,
        )


def read_filters(given: Mapping[str, str]) -> Filters:
    """Read the filters of an address; a value that cannot be one keeps all."""
    values = {
        each.name: given.get(each.name, "").replace("\0", "").strip()[:LONGEST]
        for each in fields(Filters)
    }
    allowed = {
        "severity": values["severity"] in AlertRule.Severity.values,
        "state": values["state"] in {"open", "closed"},
        "since": is_day(values["since"]),
        "until": is_day(values["until"]),
    }
    return Filters(
        **{n: value if allowed.get(n, True) else "" for n, value in values.items()}
    )


def alerts_of(
    cluster: str,
    *,
    group: str = "",
    rule: str = "",
    severity: str = "",
    state: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
) -> QuerySet[Alert]:
    """Return the alerts of a cluster that were open at some time of [since, until)."""
    found: QuerySet[Alert] = Alert.objects.filter(cluster=cluster)
    if group:
        named = AlertSubject.objects.filter(name__icontains=group)
        found = found.filter(pk__in=named.values("alert"))
    if rule:
        found = found.filter(rule_name=rule)
    if severity:
        found = found.filter(severity=severity)
    if state:
        found = found.filter(closed_at__isnull=state == "open")
    if since is not None:
        found = found.filter(Q(closed_at=None) | Q(closed_at__gte=since))
    if until is not None:
        found = found.filter(opened_at__lt=until)
    return found


async def csv_pieces(alerts: QuerySet[Alert]) -> AsyncIterator[bytes]:
    """Yield a line of column names, then the alerts, safe to open in a spreadsheet."""
    yield csv_lines([COLUMNS], UTC)
    sent = Count("messages", filter=Q(messages__state=AlertMessage.State.SENT))
    failed = Count("messages", filter=Q(messages__state=AlertMessage.State.GIVEN_UP))
    left = alerts.annotate(sent=sent, failed=failed).order_by("-pk")
    left = left.prefetch_related("subjects")
    while chunk := [each async for each in left[:CHUNK_ROWS]]:
        yield csv_lines([_cells(row) for row in chunk], UTC)
        left = left.filter(pk__lt=chunk[-1].pk)


def _cells(alert: Any) -> list[Any]:
    return [
        alert.pk,
        alert.opened_at,
        alert.closed_at,
        alert.severity,
        alert.rule_name,
        alert.kind,
        alert.cause,
        " ".join(dict.fromkeys(each.name for each in alert.subjects.all())),
        alert.end,
        alert.acknowledged_at,
        alert.acknowledged_by_name,
        alert.sent,
        alert.failed,
    ]
