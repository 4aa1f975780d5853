"""The pages of one group: allocation, members, and the head of its other pages.

The server sends the frame of a page and the group's document; `static/js/groups` draws
the document, at first and at each update. docs/architecture.md says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import allows, requires
from dashboard.frame.clusters import find_cluster
from dashboard.frame.outages import refusal_behind
from dashboard.live.documents import GroupState, NameServerState
from dashboard.live.reading import read_group, read_overview
from dashboard.models import ManagedGroup, Role

from .mixed import mixed_since_ms, recent_change

_LIVE_PAGES = ("allocation", "members", "timeline")


@require_safe
@requires(Role.VIEWER)
def allocation(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    context = group_context(request, cluster, group, "allocation")
    if state := context["state"]:
        context["mixed_since"] = mixed_since_ms(state)
        context["page"]["change"] = recent_change(state)
        context["page"]["nameservers"] = _name_servers(state)
    return render(request, "groups/allocation.html", context)


@require_safe
@requires(Role.VIEWER)
def members(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    return _page(request, cluster, group, "members")


def _page(request: HttpRequest, cluster: str, group: str, tab: str) -> HttpResponse:
    return render(
        request, f"groups/{tab}.html", group_context(request, cluster, group, tab)
    )


def group_context(
    request: HttpRequest, cluster: str, group: str, tab: str
) -> dict[str, Any]:
    """Return the context for the head and the tabs of a group's pages."""
    found = find_cluster(cluster)
    reading = read_group(found.name, group)
    live = tab in _LIVE_PAGES
    context: dict[str, Any] = {
        "cluster": found,
        "group": group,
        "tab": tab,
        "state": reading.document,
        "problem": reading.problem,
        "live": live,
        "page": {
            "cluster": found.name,
            "group": group,
            "token": get_token(request),
            "operator": allows(request.user, Role.OPERATOR),
        },
    }
    if why := found.why_read_only:
        hosted = ManagedGroup.objects.filter(cluster=found, name=group)
        context["kept_out"] = why if hosted.exists() else ""
    if state := reading.document:
        context["refusal"] = refusal_behind(state["taken_at"])
        context["may_change"] = (
            state["managed"]
            and allows(request.user, Role.OPERATOR)
            and not found.why_read_only
        )
        context["drawn"] = state if live else _head_of(state)
    return context


def _head_of(state: GroupState) -> GroupState:
    """Return the part of a document that a page's head shows: no fresh queues."""
    queues = [
        queue for queue in state["queues"] if queue["max"] is None or queue.get("last")
    ]
    return {**state, "queues": queues}


def _name_servers(state: GroupState) -> Sequence[NameServerState] | None:
    """Return how name servers answered, if that may explain missing data."""
    if state.get("complete", True) or "nameservers" in state:
        return None
    overview = read_overview(state["cluster"]).document
    return overview.get("nameservers") if overview else None
