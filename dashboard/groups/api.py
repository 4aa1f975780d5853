"""The document of a group for programs."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from dashboard.live.documents import GroupState
from dashboard.rest.asking import JSON, group_document

router = Router()


@router.get("/clusters/{cluster}/groups/{group:group}", response={200: GroupState})
def group(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Return a group's members, queues and owners."""
    return HttpResponse(group_document(cluster, group), content_type=JSON)
