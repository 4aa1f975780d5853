"""REST routes of alerts and silences."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Status

from dashboard.accounts.permissions import user_of
from dashboard.models import Alert, AlertRule
from dashboard.rest.asking import cluster_named, the_first
from dashboard.rest.paging import paged
from dashboard.rest.schemas import Problem

from .api_schemas import AlertOut, AlertsQuery, SilenceIn, SilenceOut
from .history import alerts_of
from .reads import rules_of, shown, silences_of
from .writes import SilenceFields, acknowledge, add_silence, end_silence

REFUSED: Final[dict[int, Any]] = {422: Problem}

router = Router()


@router.get("/clusters/{cluster}/alerts", response={200: list[AlertOut]})
def alerts(request: HttpRequest, cluster: str, query: Query[AlertsQuery]) -> Any:
    """List the alerts of a cluster, open and past, newest first."""
    name = cluster_named(cluster).name
    found = alerts_of(
        name,
        group=query.group,
        rule=query.rule,
        severity=query.severity,
        state="" if query.open is None else "open" if query.open else "closed",
        since=query.since,
        until=query.until,
    )
    return _told(request, name, query.of(found))


@router.get("/clusters/{cluster}/alerts/{pk}", response={200: AlertOut})
def alert(request: HttpRequest, cluster: str, pk: int) -> Any:
    """Return one alert with its groups and what was told to whom."""
    row = _alert(cluster, pk)
    return _told(request, row.cluster, [row])[0]


@router.post(
    "/clusters/{cluster}/alerts/{pk}/acknowledge", response={200: AlertOut, **REFUSED}
)
def acknowledge_alert(request: HttpRequest, cluster: str, pk: int) -> Any:
    """Note that the caller looks at an open alert: it is not escalated."""
    row = acknowledge(_alert(cluster, pk), by=user_of(request))
    return _told(request, row.cluster, [row])[0]


@router.get("/clusters/{cluster}/silences", response={200: list[SilenceOut]})
@paged
def silences(request: HttpRequest, cluster: str) -> Any:
    """List the silences of a cluster: those that end last first."""
    return silences_of(cluster_named(cluster).name)


@router.post("/clusters/{cluster}/silences", response={201: SilenceOut, **REFUSED})
def silence(request: HttpRequest, cluster: str, body: SilenceIn) -> Any:
    """Begin a silence, or plan a maintenance window."""
    name = cluster_named(cluster).name
    wish = SilenceFields(
        cluster=name,
        groups=body.groups,
        rule=None if body.rule is None else _rule(name, body.rule),
        starts_at=body.starts_at,
        ends_at=body.ends_at,
        reason=body.reason,
    )
    return Status(201, add_silence(wish, by=user_of(request)))


@router.delete("/clusters/{cluster}/silences/{pk}", response={204: None})
def silence_end(request: HttpRequest, cluster: str, pk: int) -> Any:
    """End a silence now; it stays in the list."""
    found = silences_of(cluster_named(cluster).name).filter(pk=pk)
    end_silence(the_first(found, f"no silence {pk}"), by=user_of(request))
    return Status(204, None)


def _told(request: HttpRequest, cluster: str, rows: Any) -> list[AlertOut]:
    now = timezone.now()
    silences = list(silences_of(cluster).filter(starts_at__lte=now, ends_at__gt=now))
    return [AlertOut.of(each) for each in shown(rows, user_of(request), silences, now)]


def _alert(cluster: str, pk: int) -> Alert:
    found = Alert.objects.filter(cluster=cluster_named(cluster).name, pk=pk)
    return the_first(found, f"no alert {pk} in cluster {cluster!r}")


def _rule(cluster: str, pk: int) -> AlertRule:
    return the_first(rules_of(cluster).filter(pk=pk), f"no rule {pk}")
