"""The pages of one group: allocation, members, what-if."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import allows, requires
from dashboard.frame.clusters import find_cluster
from dashboard.live.documents import GroupState, NameServerState
from dashboard.live.reading import read_group, read_overview
from dashboard.models import Role

from .banners import say_standing, tile_notes
from .mixed import mixed_since_ms, recent_change
from .reads import (
    QueueRow,
    member_rows,
    oldest_queue,
    queue_rows,
    strategy_reporters,
    topics,
)
from .standing import Standing, standing_of

FIRST_ROWS = 100
_LIVE_PAGES = ("allocation", "members", "timeline")


@require_safe
@requires(Role.VIEWER)
def allocation(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    context = group_context(request, cluster, group, "allocation")
    if state := context["state"]:
        context["mixed_since"] = mixed_since_ms(state)
        context["page"]["change"] = recent_change(state)
        context["page"]["nameservers"] = _name_servers(state, context["standing"])
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
    """Return what the head, the tabs and the tables of a group's page need."""
    found = find_cluster(cluster)
    reading = read_group(found.name, group)
    context: dict[str, Any] = {
        "cluster": found,
        "group": group,
        "tab": tab,
        "state": reading.document,
        "problem": reading.problem,
        "live": tab in _LIVE_PAGES,
        "page": {
            "cluster": found.name,
            "group": group,
            "token": get_token(request),
            "operator": allows(request.user, Role.OPERATOR),
        },
    }
    if state := reading.document:
        standing = standing_of(state)
        context |= {
            "rows": _first_rows(state) if tab == "allocation" else [],
            "member_rows": member_rows(state) if tab == "members" else [],
            "hidden_rows": max(0, len(state["queues"]) - FIRST_ROWS),
            "standing": standing,
            "said": say_standing(state, standing, int(time.time() * 1000)),
            "notes": tile_notes(state, standing),
            "oldest": oldest_queue(state),
            "topics": topics(state),
            "reporters": strategy_reporters(state),
            "may_change": state["managed"] and allows(request.user, Role.OPERATOR),
        }
    return context


def _name_servers(
    state: GroupState, standing: Standing
) -> Sequence[NameServerState] | None:
    """Return how name servers answered, where that may explain what is missing."""
    if standing.complete or "nameservers" in state:
        return None
    overview = read_overview(state["cluster"]).document
    return overview.get("nameservers") if overview else None


def _first_rows(state: GroupState) -> list[QueueRow]:
    """Return the first rows of the table of queues, the only page that has it."""
    return queue_rows(state, int(time.time() * 1000))[:FIRST_ROWS]
