"""REST routes of the overview of a cluster."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from dashboard.live.documents import Overview
from dashboard.rest.asking import JSON, cluster_named, current_state, refuse

router = Router()


@router.get("/clusters/{cluster}/overview", response={200: Overview})
def overview(request: HttpRequest, cluster: str) -> HttpResponse:
    """Return a cluster's brokers, sums and groups, worst first."""
    text = current_state().overview_text(cluster_named(cluster).name)
    if text is None:
        refuse(503, f"cluster {cluster!r} has not been collected yet")
    return HttpResponse(text, content_type=JSON)
