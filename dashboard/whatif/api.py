"""REST routes of what-if: comparisons of strategies, and saved scenarios."""

from __future__ import annotations

from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse
from ninja import Router, Schema, Status
from pydantic import Field

from dashboard.accounts.permissions import user_of
from dashboard.models import SavedScenario
from dashboard.rest.asking import JSON, cluster_named, group_document, the_first
from dashboard.rest.paging import paged
from dashboard.rest.schemas import Problem

from .api_schemas import WhatIfOut
from .model import compare, comparison_document, from_query, read_situation
from .writes import delete_scenario, save_scenario

router = Router()
ERRORS: Final[dict[int, Any]] = dict.fromkeys((409,), Problem)


class ScenarioIn(Schema):
    """A scenario to save; `query` is that of its link."""

    group: str = Field("", max_length=255)
    name: str = Field(max_length=120)
    query: str = ""
    shared: bool = False


class ScenarioOut(Schema):
    """A saved scenario."""

    id: int
    group: str
    name: str
    query: str
    show: str
    shared: bool
    owner: str
    changed_at: str


@router.get(
    "/clusters/{cluster}/groups/{group:group}/whatif",
    response={200: WhatIfOut},
)
def whatif(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Compare every strategy, under the scenario that the query describes."""
    state = orjson.loads(group_document(cluster, group))
    scenario = from_query(request.META.get("QUERY_STRING", ""))
    document = comparison_document(compare(read_situation(state), scenario))
    return HttpResponse(orjson.dumps(document), content_type=JSON)


@router.get(
    "/clusters/{cluster}/scenarios", response={200: list[ScenarioOut], **ERRORS}
)
@paged
def scenarios(
    request: HttpRequest, cluster: str, group: str = ""
) -> list[dict[str, Any]]:
    """List the scenarios that the user may open: of a group, else of empty sheets."""
    found = SavedScenario.objects.seen_by(user_of(request)).filter(
        cluster=cluster_named(cluster), group=group
    )
    return [_scenario_row(each) for each in found]


@router.post("/clusters/{cluster}/scenarios", response={200: ScenarioOut, **ERRORS})
def put_scenario(
    request: HttpRequest, cluster: str, body: ScenarioIn
) -> dict[str, Any]:
    """Save a scenario; the user's own of the same name and group is replaced."""
    saved = save_scenario(
        user_of(request),
        cluster=cluster_named(cluster),
        group=body.group,
        name=body.name,
        query=body.query,
        shared=body.shared,
    )
    return _scenario_row(saved)


@router.delete("/clusters/{cluster}/scenarios/{pk}", response={204: None, **ERRORS})
def remove_scenario(request: HttpRequest, cluster: str, pk: int) -> Status[None]:
    """Delete a scenario."""
    user = user_of(request)
    found = SavedScenario.objects.seen_by(user).filter(
        pk=pk, cluster=cluster_named(cluster)
    )
    saved = the_first(found, f"no scenario {pk}")
    delete_scenario(user, saved)
    return Status(204, None)


def _scenario_row(saved: SavedScenario) -> dict[str, Any]:
    return {
        "id": saved.pk,
        "group": saved.group,
        "name": saved.name,
        "query": saved.query,
        "show": saved.show,
        "shared": saved.shared,
        "owner": saved.owner_name,
        "changed_at": saved.changed_at.isoformat(),
    }
