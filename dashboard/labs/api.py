"""REST routes that list labs, play one, follow its steps and cancel it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.accounts.permissions import user_of
from dashboard.clock.moments import as_ms
from dashboard.models import LabRun
from dashboard.rest.asking import cluster_named, the_first
from dashboard.rest.paging import PageQuery, newest, paged
from dashboard.rest.schemas import Problem

from .catalogue import entries, text_of
from .writes import cancel_lab, start_lab

router = Router()


class LabRunsQuery(PageQuery):
    """Which runs to return; the newest come first."""

    limit: int = newest(50)


class LabOut(Schema):
    """One lab: what it shows, and the numbers it takes with their defaults."""

    name: str
    title: str
    rules: list[str]
    parameters: dict[str, int]


class LabIn(Schema):
    """How to play a lab; parameters that are left out have the lab's defaults."""

    parameters: dict[str, int] = Field(default_factory=dict)
    linger_s: float = Field(
        0.0, description="seconds to stay at each division, to be seen; 0 to 30"
    )


class LabStep(Schema):
    """One step; `text` is English, `at_ms` ms since the epoch by the lab's clock."""

    key: str
    text: str
    params: dict[str, Any]
    at_ms: int


class LabClaim(Schema):
    """One sentence that the lab is about, and whether this run bore it out."""

    key: str
    text: str
    params: dict[str, Any]
    seen: bool


class LabRunOut(Schema):
    """One run as far as it has come; times in ms since the epoch."""

    id: int
    cluster: str
    lab: str
    state: str
    asked_by: str
    asked_at: int
    started_at: int | None
    finished_at: int | None
    parameters: dict[str, int]
    linger_s: float
    steps: list[LabStep]
    claims: list[LabClaim]
    finding: str | None
    error: str | None


@router.get("/labs", response={200: list[LabOut]})
@paged
def labs(request: HttpRequest) -> list[dict[str, Any]]:
    """List the labs in the order in which to watch them."""
    return [
        {
            "name": entry.name,
            "title": entry.title,
            "rules": list(entry.rules),
            "parameters": dict(entry.parameters),
        }
        for entry in entries()
    ]


@router.post(
    "/clusters/{cluster}/labs/{lab}/runs",
    response={201: LabRunOut, 409: Problem},
)
def play(
    request: HttpRequest, cluster: str, lab: str, body: LabIn
) -> Status[dict[str, Any]]:
    """Play a lab on the embedded cluster; 409 while the same lab is being played."""
    run = start_lab(
        user_of(request),
        cluster_named(cluster),
        lab,
        parameters=body.parameters,
        linger_s=body.linger_s,
    )
    return Status(201, _document(run))


@router.get("/clusters/{cluster}/labs/runs", response={200: list[LabRunOut]})
def runs(
    request: HttpRequest, cluster: str, query: Query[LabRunsQuery]
) -> list[dict[str, Any]]:
    """List the runs of a cluster, the newest first."""
    rows = LabRun.objects.filter(cluster__name=cluster).select_related("cluster")
    return [_document(run) for run in query.of(rows)]


@router.get("/labs/runs/{pk}", response={200: LabRunOut})
def run(request: HttpRequest, pk: int) -> dict[str, Any]:
    """Return one run with its steps so far."""
    return _document(_known(request, pk))


@router.post("/labs/runs/{pk}/cancel", response={200: LabRunOut})
def cancel(request: HttpRequest, pk: int) -> dict[str, Any]:
    """Ask a run to end; one that has ended stays as it is."""
    found = _known(request, pk)
    cancel_lab(user_of(request), found)
    found.refresh_from_db()
    return _document(found)


def _known(request: HttpRequest, pk: int) -> LabRun:
    runs = LabRun.objects.seen_by(user_of(request)).select_related("cluster")
    return the_first(runs.filter(pk=pk), f"there is no run {pk} of a lab")


def _document(run: LabRun) -> dict[str, Any]:
    return {
        "id": run.pk,
        "cluster": run.cluster.name,
        "lab": run.lab,
        "state": run.state,
        "asked_by": run.asked_by_name,
        "asked_at": as_ms(run.asked_at),
        "started_at": run.started_at and as_ms(run.started_at),
        "finished_at": run.finished_at and as_ms(run.finished_at),
        "parameters": run.parameters,
        "linger_s": run.linger_s,
        "steps": [_told(run.lab, step) for step in run.steps],
        "claims": [_told(run.lab, claim) for claim in run.claims],
        "finding": run.finding or None,
        "error": run.error or None,
    }


def _told(lab: str, said: dict[str, Any]) -> dict[str, Any]:
    return {**said, "text": text_of(lab, said["key"]).format_map(said["params"])}
