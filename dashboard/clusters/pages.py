"""The first page over all clusters; attaching one, testing addresses, removing one.

The list is also served as a fragment (header `X-Fragment`), which its script fetches
when a digest of any of the clusters arrives over the socket.
"""

from __future__ import annotations

import logging
import time
from typing import Any, Final

import redis
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from dashboard.accounts.permissions import allows, requires, user_of
from dashboard.accounts.redirects import back_to_next
from dashboard.frame.clusters import find_cluster, shown_clusters
from dashboard.frame.first_steps import MOST_GROUPS, FirstSteps, first_steps
from dashboard.frame.fragments import render_live
from dashboard.frame.reasons import MAX_REASON
from dashboard.frame.tables import TableQuery, csv_response, page_of
from dashboard.gateway.embedded import embedded_state
from dashboard.gateway.settings import EMBEDDED, setting_prefix
from dashboard.live.reading import read_overview
from dashboard.models import Role, User

from .reads import AllClusters, all_clusters, without_state
from .said import say_probe
from .table import CSV_NAME, table_of
from .writes import (
    MOST_NAME_SERVERS,
    BusyTestingError,
    ClusterError,
    ClusterWish,
    attach,
    remove,
    servers_in,
    start_embedded,
    try_cluster,
    why_not_removed,
)

logger = logging.getLogger(__name__)

TRIAL_NAME: Final = "test"
"""Stands for the name while only an address is tested."""


@require_safe
@requires(Role.VIEWER)
def home(request: HttpRequest) -> HttpResponse:
    """Go to the only cluster; to the page of all where there is none or several.

    With one cluster the page of all would be one row to click on, before each visit.
    """
    clusters = shown_clusters(request.user)
    if len(clusters) == 1:
        return redirect("cluster", clusters[0].name)
    return redirect("clusters")


@require_safe
@requires(Role.VIEWER)
def clusters(request: HttpRequest) -> HttpResponseBase:
    """List all clusters, worst first; without one, say how to get one."""
    now_ms = int(time.time() * 1000)
    may_administer = allows(request.user, Role.ADMIN)
    problem = ""
    try:
        found = all_clusters(user_of(request), now_ms)
    except redis.RedisError as error:
        logger.warning("the cache did not answer: %s", error)
        found, problem = without_state(user_of(request)), "no_cache"
    table = table_of(now_ms, may_administer=may_administer)
    query = TableQuery.from_params(request.GET.dict(), table)
    page = page_of(table, found.rows, query)
    if request.GET.get("format") == "csv":
        return csv_response(page, CSV_NAME)
    context: dict[str, Any] = {
        "all": found,
        "page": page,
        "problem": problem,
        "names": " ".join(row.name for row in found.rows),
        "may_administer": may_administer,
        "may_operate": user_of(request).at(EMBEDDED).allows(Role.OPERATOR),
        "embedded": embedded_state(),
        "steps": _steps(user_of(request), found),
        "every_cluster": True,
        "live": True,
    }
    return render_live(request, "clusters/list", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
def attach_one(request: HttpRequest) -> HttpResponse:
    """Show the form; test the addresses in it, or attach the cluster."""
    wish = _wish(request)
    refusal, probes, status = "", [], 200
    if request.method == "POST":
        try:
            if "test" in request.POST:
                probes = list(try_cluster(user_of(request), _for_trial(wish)))
            else:
                row = attach(user_of(request), wish)
                said = _("“%(name)s” is attached; its first numbers come in seconds.")
                messages.success(request, said % {"name": row.name})
                return redirect("clusters")
        except ClusterError as error:
            refusal = str(error)
            status = 429 if isinstance(error, BusyTestingError) else 422
    context = {
        "wish": wish,
        "servers": request.POST.get("name_servers", ""),
        "refusal": refusal,
        "probes": [(each, say_probe(each, _tls_key(wish))) for each in probes],
        "all_good": bool(probes) and all(each.good for each in probes),
        "prefix": setting_prefix(wish.name or "NAME"),
        "longest_reason": MAX_REASON,
        "most_servers": MOST_NAME_SERVERS,
        "every_cluster": True,
    }
    return render(request, "clusters/attach.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
def remove_one(request: HttpRequest, cluster: str) -> HttpResponse:
    """Ask why an attached cluster is removed, and remove it."""
    found = find_cluster(cluster)
    reason, refusal = request.POST.get("reason", ""), ""
    if request.method == "POST":
        confirm = request.POST.get("confirm", "")
        try:
            remove(user_of(request), cluster, confirm=confirm, reason=reason)
        except ClusterError as error:
            refusal = str(error)
        else:
            said = _("“%(name)s” is removed.")
            messages.success(request, said % {"name": cluster})
            return redirect("clusters")
    context = {
        "cluster": found,
        "why_not": why_not_removed(found),
        "refusal": refusal,
        "reason": reason,
        "longest_reason": MAX_REASON,
    }
    status = 409 if refusal else 200
    return render(request, "clusters/remove.html", context, status=status)


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def embedded(request: HttpRequest) -> HttpResponse:
    """Ask for the embedded cluster, and go back to where one came from."""
    try:
        start_embedded(user_of(request))
    except ClusterError as error:
        messages.error(request, str(error))
    return back_to_next(request, "clusters")


def _steps(user: User, found: AllClusters) -> FirstSteps | None:
    """Return a newcomer's first steps, unless other clusters need the room."""
    shown = (row for row in found.rows if row.cluster.embedded and row.fresh)
    embedded = next(shown, None)
    if embedded is None or found.partial or (found.groups.value or 0) > MOST_GROUPS:
        return None
    overview = read_overview(embedded.name).document
    return first_steps(user, embedded.name, overview["groups"]) if overview else None


def _wish(request: HttpRequest) -> ClusterWish:
    given = request.POST
    return ClusterWish(
        name=given.get("name", "").strip(),
        name_servers=servers_in(given.get("name_servers", "")),
        writes=given.get("writes") == "on",
        reason=given.get("reason", ""),
    )


def _for_trial(wish: ClusterWish) -> ClusterWish:
    """Return a wish that can be tested: the name may come later."""
    return ClusterWish(wish.name or TRIAL_NAME, wish.name_servers)


def _tls_key(wish: ClusterWish) -> str:
    return f"{setting_prefix(wish.name or 'NAME')}_TLS"
