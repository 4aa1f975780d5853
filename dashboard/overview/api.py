"""REST routes of the overview of a cluster."""

from __future__ import annotations

from typing import Annotated

import orjson
from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import Field

from dashboard.accounts.owners import Owners, owners, teams_of
from dashboard.accounts.permissions import user_of
from dashboard.live.documents import Overview
from dashboard.rest.asking import JSON, cluster_named, current_state, refuse
from dashboard.rest.owners import team_mark

router = Router()


@router.get("/clusters/{cluster}/overview", response={200: Overview})
def overview(
    request: HttpRequest,
    cluster: str,
    team: Annotated[
        str, Field(max_length=60, description="only groups of the team of that name")
    ] = "",
    *,
    mine: Annotated[
        bool, Field(description="only groups of teams that the caller is in")
    ] = False,
) -> HttpResponse:
    """Return a cluster's brokers, sums and groups, worst first.

    Sums are those of all groups, whichever are asked for.
    """
    name = cluster_named(cluster).name
    text = current_state().overview_text(name)
    if text is None:
        refuse(503, f"cluster {cluster!r} has not been collected yet")
    found = owners(name)
    if team or mine or not found.is_empty:
        keys = teams_of(user_of(request)) if mine else None
        text = _with_owners(text, found, team, keys)
    return HttpResponse(text, content_type=JSON)


def _with_owners(
    text: bytes, found: Owners, team: str, keys: frozenset[int] | None
) -> bytes:
    """Return the document with the team of each group, and only the groups asked for.

    Without keys, those of all teams.
    """
    document: Overview = orjson.loads(text)
    rows = document["groups"]
    document["groups"] = []
    for row in rows:
        owner = found.of(row["group"])
        if team and (owner is None or owner.team != team):
            continue
        if keys is not None and (owner is None or owner.key not in keys):
            continue
        row["team"] = team_mark(owner)
        document["groups"].append(row)
    return orjson.dumps(document)
