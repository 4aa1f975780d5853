"""The pages of one group: allocation, members, and the head of its other pages.

The server sends the frame of a page and the group's document; `static/js/groups` draws
the document, at first and at each update. docs/architecture.md says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dashboard.accounts.owners import note_on, owners
from dashboard.accounts.permissions import allows, requires, user_of
from dashboard.findings.leads import LEADS
from dashboard.frame.clusters import find_cluster
from dashboard.frame.not_there import NotThereError
from dashboard.frame.outages import refusal_behind
from dashboard.live.documents import GroupState, NameServerState, Overview
from dashboard.live.finding_names import is_missing
from dashboard.live.overview_rows import row_of
from dashboard.live.reading import Problem, read_group, read_overview
from dashboard.models import (
    Alert,
    AlertRule,
    AlertSubject,
    Cluster,
    ManagedGroup,
    Ownership,
    Role,
    Team,
)

from .mixed import mixed_since_ms, recent_change

_LIVE_PAGES = ("allocation", "queues", "members", "timeline", "findings")


@require_safe
@requires(Role.VIEWER)
def allocation(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    context = group_context(request, cluster, group, "allocation")
    context |= _who_answers(request, context["cluster"], group)
    if state := context["state"]:
        context["mixed_since"] = mixed_since_ms(state)
        context["page"]["change"] = recent_change(state)
        context["page"] |= _known_beside(state, context["listed"])
    return render(request, "groups/allocation.html", context)


@require_safe
@requires(Role.VIEWER)
def queues(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    return _page(request, cluster, group, "queues")


@require_safe
@requires(Role.VIEWER)
def findings(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    context = group_context(request, cluster, group, "findings")
    if state := context["state"]:
        context["page"] |= _known_beside(state, context["listed"])
    return render(request, "groups/findings.html", context)


@require_safe
@requires(Role.VIEWER)
def members(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    return _page(request, cluster, group, "members")


def _open_alerts(cluster: str, group: str) -> QuerySet[Alert]:
    """Return the open alerts about a group; broker alerts name no groups."""
    about = Alert.objects.open().exclude(kind=AlertRule.Kind.BROKER)
    named = AlertSubject.objects.filter(name=group, closed_at=None)
    return about.filter(cluster=cluster, pk__in=named.values("alert"))


def _who_answers(request: HttpRequest, cluster: Cluster, group: str) -> dict[str, Any]:
    """Return what the panel of a group's team and note shows besides the team."""
    may_own = allows(request.user, Role.ADMIN)
    exact = Ownership.objects.filter(cluster=cluster.name, groups=group)
    return {
        "note": note_on(cluster.name, group),
        "may_note": allows(request.user, Role.OPERATOR),
        "may_own": may_own,
        "teams": Team.objects.seen_by(user_of(request)) if may_own else (),
        "exact_team": exact.values_list("team_id", flat=True).first()
        if may_own
        else None,
    }


def _page(request: HttpRequest, cluster: str, group: str, tab: str) -> HttpResponse:
    return render(
        request, f"groups/{tab}.html", group_context(request, cluster, group, tab)
    )


def group_context(
    request: HttpRequest,
    cluster: str,
    group: str,
    tab: str,
    *,
    must_be_listed: bool = True,
) -> dict[str, Any]:
    """Return the context for the head and the tabs of a group's pages.

    Raise NotThereError for a group that the last sweep did not list, unless the page
    asks the cluster itself: a group may have been made since, or have no offsets yet.
    """
    found = find_cluster(cluster)
    reading = read_group(found.name, group)
    if must_be_listed and reading.problem is Problem.NOT_COLLECTED:
        _check_there(found, group)
    live = tab in _LIVE_PAGES
    context: dict[str, Any] = {
        "cluster": found,
        "group": group,
        "tab": tab,
        "state": reading.document,
        "problem": reading.problem,
        "live": live,
        "owner": owners(found.name).of(group),
        "alerts": _open_alerts(found.name, group),
        "page": {
            "cluster": found.name,
            "group": group,
            "token": get_token(request),
            "operator": allows(request.user, Role.OPERATOR),
            "urls": _urls(found.name, group),
        },
    }
    if why := found.why_read_only:
        hosted = ManagedGroup.objects.filter(cluster=found, name=group)
        context["kept_out"] = why if hosted.exists() else ""
    if state := reading.document:
        context["refusal"] = refusal_behind(state["taken_at"])
        whole = live and not request.headers.get("X-Fragment")
        context["listed"] = _list_beside(state) if whole else None
        context["page"]["oldest"] = _oldest_in_list(state, context["listed"])
        context["may_change"] = (
            state["managed"]
            and allows(request.user, Role.OPERATOR)
            and not found.why_read_only
        )
        context["drawn"] = state if live else _head_of(state)
    return context


def _urls(cluster: str, group: str) -> dict[str, Any]:
    """Return the addresses that scripts link to: those of the group, and of help."""
    own = {
        name: reverse(f"group_{name}", args=[cluster, group])
        for name in ("queues", "timeline", "whatif", "offsets")
    }
    return {
        **own,
        "allocation": reverse("group", args=[cluster, group]),
        "messages": reverse("messages", args=[cluster]),
        "labs": reverse("labs"),
    }


def _known_beside(state: GroupState, listed: Overview | None) -> dict[str, Any]:
    """Return what findings and facts show that is not in the document."""
    return {
        "nameservers": _name_servers(state, listed),
        "leads": {key: asdict(leads) for key, leads in LEADS.items()},
    }


def _check_there(cluster: Cluster, group: str) -> None:
    """Raise where the cluster is known and has no such group; hosted ones may come."""
    hosted = ManagedGroup.objects.filter(cluster=cluster, name=group)
    if is_missing(cluster.name, "group", group) and not hosted.exists():
        raise NotThereError(
            cluster,
            "group",
            group,
            _(
                "No broker of this cluster lists a group of that name with members or "
                "committed offsets. Names are case-sensitive."
            ),
        )


def _head_of(state: GroupState) -> GroupState:
    """Return the part of a document that a page's head shows: no fresh queues."""
    queues = [
        queue for queue in state["queues"] if queue["max"] is None or queue.get("last")
    ]
    return {**state, "queues": queues}


def _list_beside(state: GroupState) -> Overview | None:
    """Return the list of groups if it may tell what a group's document does not."""
    if state["totals"]["oldest_ms"] is not None and state.get("complete", True):
        return None
    return read_overview(state["cluster"]).document


def _oldest_in_list(
    state: GroupState, listed: Overview | None
) -> dict[str, int] | None:
    """Return the oldest age (ms) that the list knows while the document does not."""
    if state["totals"]["oldest_ms"] is not None:
        return None
    row = row_of(listed["groups"], state["group"]) if listed else None
    if listed is None or row is None or row["oldest_ms"] is None:
        return None
    return {"ms": row["oldest_ms"], "at": listed["taken_at"]}


def _name_servers(
    state: GroupState, listed: Overview | None
) -> Sequence[NameServerState] | None:
    """Return how name servers answered, if that may explain missing data."""
    if state.get("complete", True) or "nameservers" in state:
        return None
    return listed.get("nameservers") if listed else None
