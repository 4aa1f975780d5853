"""Clusters over REST: which there are; attaching, testing and removing them."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from dashboard.accounts.permissions import user_of
from dashboard.frame.clusters import shown_clusters
from dashboard.frame.reasons import MAX_REASON
from dashboard.gateway.clusters import encryption_of
from dashboard.gateway.probing import Verdict
from dashboard.gateway.settings import Encryption
from dashboard.live.documents import Overview
from dashboard.models import Cluster
from dashboard.rest.asking import current_state
from dashboard.rest.paging import paged

from .writes import (
    MOST_NAME_SERVERS,
    ClusterWish,
    attach,
    remove,
    try_cluster,
)

router = Router()


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


class ClusterIn(Schema):
    """A cluster to attach. Keys and TLS come from the settings of its name."""

    name: str = Field(max_length=63)
    name_servers: list[str] = Field(
        max_length=MOST_NAME_SERVERS, description="host:port each"
    )
    writes: bool = Field(
        False, description="whether RocketScope may write to it; needs a reason"
    )
    reason: str = Field("", max_length=MAX_REASON)


class AttachedOut(Schema):
    """An attached cluster."""

    name: str
    name_servers: list[str]
    read_only: bool


class RemovalIn(Schema):
    """Why a cluster is removed; `confirm` is its name once more."""

    confirm: str
    reason: str = Field(max_length=MAX_REASON)


class ProbeOut(Schema):
    """What became of one address; `brokers` are those that a name server knows."""

    address: str
    verdict: Verdict
    brokers: int | None = None


@router.get("/clusters", response={200: list[ClusterOut]})
@paged
def clusters(request: HttpRequest) -> list[dict[str, Any]]:
    """List the configured clusters."""
    state = current_state()
    rows = shown_clusters(request.user)
    return [_cluster_row(row, state.overview(row.name)) for row in rows]


@router.post("/clusters", response={201: AttachedOut})
def attach_cluster(request: HttpRequest, body: ClusterIn) -> Status[Any]:
    """Attach a cluster; it is collected within seconds."""
    row = attach(user_of(request), _wish(body))
    made = {
        "name": row.name,
        "name_servers": row.name_servers,
        "read_only": bool(row.why_read_only),
    }
    return Status(201, made)


@router.post("/name-servers/test", response={200: list[ProbeOut]})
def test_addresses(request: HttpRequest, body: ClusterIn) -> list[dict[str, Any]]:
    """Say of each address what is wrong with it; at most ten times a minute."""
    return [
        {
            "address": each.address,
            "verdict": each.verdict,
            "brokers": each.brokers,
        }
        for each in try_cluster(user_of(request), _wish(body))
    ]


@router.delete("/clusters/{cluster}", response={204: None})
def remove_cluster(request: HttpRequest, cluster: str, body: RemovalIn) -> Status[Any]:
    """Remove a cluster that was attached on a page or here."""
    remove(user_of(request), cluster, confirm=body.confirm, reason=body.reason)
    return Status(204, None)


def _wish(body: ClusterIn) -> ClusterWish:
    servers = tuple(dict.fromkeys(each.strip() for each in body.name_servers))
    return ClusterWish(body.name, servers, body.writes, body.reason)


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
