"""REST routes of clusters and their overviews."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from ninja import Router, Schema
from pydantic import Field

from dashboard.gateway.clusters import encryption_of
from dashboard.gateway.settings import Encryption
from dashboard.live.documents import Overview
from dashboard.models import Cluster
from dashboard.rest.asking import JSON, cluster_named, current_state, refuse
from dashboard.rest.schemas import Problem

router = Router()
ERRORS: Final[dict[int, Any]] = dict.fromkeys((401, 404, 503), Problem)


class ClusterOut(Schema):
    """One configured cluster, and how its last sweep went."""

    name: str
    embedded: bool
    read_only: bool = Field(description="true where nothing of ours writes to it")
    name_servers: list[str]
    tls: Encryption = Field(
        description="whether certificates of name servers and brokers are verified"
    )
    taken_at: int | None = Field(
        None, description="ms since the epoch; null before the first sweep"
    )
    groups: int | None = None
    by_level: dict[str, int] | None = None
    brokers: int | None = None
    brokers_answered: int | None = None
    error: str | None = None


@router.get("/clusters", response={200: list[ClusterOut], 401: Problem, 503: Problem})
def clusters(request: HttpRequest) -> list[dict[str, Any]]:
    """List the configured clusters."""
    state = current_state()
    rows = Cluster.objects.filter(configured=True)
    return [_cluster_row(row, state.overview(row.name)) for row in rows]


@router.get("/clusters/{cluster}/overview", response={200: Overview, **ERRORS})
def overview(request: HttpRequest, cluster: str) -> HttpResponse:
    """Return a cluster's brokers, sums and groups, worst first."""
    text = current_state().overview_text(cluster_named(cluster).name)
    if text is None:
        refuse(503, f"cluster {cluster!r} has not been collected yet")
    return HttpResponse(text, content_type=JSON)


def _cluster_row(row: Cluster, overview: Overview | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": row.name,
        "embedded": row.embedded,
        "read_only": bool(row.why_read_only),
        "name_servers": row.name_servers,
        "tls": encryption_of(row.name),
    }
    if overview is None:
        return found
    totals = overview["totals"]
    return {
        **found,
        "taken_at": overview["taken_at"],
        "groups": totals["groups"],
        "by_level": totals["by_level"],
        "brokers": totals["brokers"],
        "brokers_answered": totals["brokers_answered"],
        "error": overview.get("error"),
    }
