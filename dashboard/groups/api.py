"""The document of a group for programs."""

from __future__ import annotations

import orjson
from django.http import HttpRequest, HttpResponse
from ninja import Router

from dashboard.accounts.owners import note_on, owners
from dashboard.live.documents import GroupState
from dashboard.rest.asking import JSON, group_document
from dashboard.rest.owners import team_mark

router = Router()


@router.get("/clusters/{cluster}/groups/{group:group}", response={200: GroupState})
def group(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Return a group's members, queues and owners, its team, and the note on it."""
    text = group_document(cluster, group)
    kept = {
        "team": team_mark(owners(cluster).of(group)),
        "note": note_on(cluster, group),
    }
    # The document stays as the collector encoded it: reading it would take longer.
    whole = text[:-1] + b"," + orjson.dumps(kept)[1:]
    return HttpResponse(whole, content_type=JSON)
