"""The pages of brokers, including the one that declares a broker gone for good.

The list and the page of one broker are live; settings and what each name server says
are asked for when their page is opened.
"""

from __future__ import annotations

import time
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.accounts.permissions import requires, user_of
from dashboard.frame.clusters import find_cluster
from dashboard.frame.fragments import render_live
from dashboard.frame.not_there import NotThereError
from dashboard.frame.reasons import MAX_REASON
from dashboard.frame.tables import TableQuery, csv_response, page_of
from dashboard.gateway.asking import settings_of
from dashboard.gateway.broker_settings import ask_settings
from dashboard.gateway.name_servers import ask_name_servers
from dashboard.live.reading import read_brokers, read_overview
from dashboard.models import Cluster, Role
from rmqcore.errors import RmqError

from .reach import reach_of
from .reads import broker_rows
from .said import say_broker
from .setting_table import setting_table
from .table import broker_table, role
from .writes import BrokerError, say_gone


@require_safe
@requires(Role.VIEWER)
def brokers(request: HttpRequest, cluster: str) -> HttpResponseBase:
    """List every broker process, worst first."""
    found = find_cluster(cluster)
    context = _facts(found)
    table = broker_table(found.name)
    query = TableQuery.from_params(request.GET.dict(), table)
    page = context["page"] = page_of(table, context["rows"], query)
    if request.GET.get("format") == "csv":
        return csv_response(page, f"{found.name}-brokers")
    return render_live(request, "brokers/brokers", context)


@require_safe
@requires(Role.VIEWER)
def broker(request: HttpRequest, cluster: str, broker: str) -> HttpResponse:
    """Show one broker: each of its processes with all that it reports."""
    context = _facts(find_cluster(cluster))
    rows = [row for row in context["rows"] if row.state["name"] == broker]
    if not rows and context["document"] is not None:
        known = ", ".join(sorted({row.state["name"] for row in context["rows"]}))
        raise NotThereError(
            context["cluster"],
            "broker",
            broker,
            _("“%(name)s” is no broker of this cluster; its brokers are: %(known)s.")
            % {"name": broker, "known": known or "—"},
        )
    context |= {"broker": broker, "processes": [(role(row), row) for row in rows]}
    return render_live(request, "brokers/broker", context)


@require_safe
@requires(Role.VIEWER)
def broker_settings(request: HttpRequest, cluster: str) -> HttpResponseBase:
    """Ask all brokers for their settings, and mark where these differ."""
    found = find_cluster(cluster)
    context: dict[str, Any] = {"cluster": found}
    try:
        settings = ask_settings(settings_of(found.name))
    except RmqError as error:
        context["error"] = str(error)
        return render(request, "brokers/settings.html", context)
    table = setting_table(settings)
    query = TableQuery.from_params(request.GET.dict(), table)
    page = page_of(table, settings.rows, query)
    if request.GET.get("format") == "csv":
        return csv_response(page, f"{found.name}-broker-settings")
    context |= {"page": page, "settings": settings}
    return render(request, "brokers/settings.html", context)


@require_safe
@requires(Role.VIEWER)
def broker_nameservers(request: HttpRequest, cluster: str) -> HttpResponse:
    """Ask each name server what it knows, and show on what they disagree."""
    found = find_cluster(cluster)
    context: dict[str, Any] = {"cluster": found}
    try:
        context["said"] = ask_name_servers(settings_of(found.name))
    except RmqError as error:
        context["error"] = str(error)
    return render(request, "brokers/nameservers.html", context)


def _facts(cluster: Cluster) -> dict[str, Any]:
    reading = read_overview(cluster.name)
    document = read_brokers(cluster.name).document
    overview = reading.document
    return {
        "cluster": cluster,
        "overview": overview,
        "problem": reading.problem,
        "document": document,
        "reach": reach_of(overview) if overview else None,
        "rows": broker_rows(document, overview),
        "live": True,
    }


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR)
def broker_gone(request: HttpRequest, cluster: str, broker: str) -> HttpResponse:
    """Ask why a missing broker is gone for good, and record the declaration."""
    found = find_cluster(cluster)
    group = (request.POST or request.GET).get("group", "")
    back = _back_to(cluster, group)
    refusal = ""
    if request.method == "POST":
        try:
            say_gone(user_of(request), cluster, broker, request.POST.get("reason", ""))
        except BrokerError as error:
            refusal = str(error)
        else:
            said = _("“%(name)s” counts as gone for good from the next sweep on.")
            messages.success(request, said % {"name": broker})
            return redirect(back)
    context = {
        "cluster": found,
        "broker": broker,
        "group": group,
        "back": back,
        "refusal": refusal,
        "reason": request.POST.get("reason", ""),
        "longest_reason": MAX_REASON,
        **_missing(cluster, broker),
    }
    status = 409 if refusal else 200
    return render(request, "brokers/gone.html", context, status=status)


def _back_to(cluster: str, group: str) -> str:
    """Return the address of the group the user came from, else of the cluster."""
    try:
        return reverse("group", args=[cluster, group])
    except NoReverseMatch:
        return reverse("cluster", args=[cluster])


def _missing(cluster: str, broker: str) -> dict[str, Any]:
    """Return how the broker stands, and whether it can be treated as gone."""
    overview = read_overview(cluster).document
    brokers = reach_of(overview).brokers if overview else ()
    for each in brokers:
        if each.name == broker and each.state != "answered":
            now_ms = int(time.time() * 1000)
            what = say_broker(each.name, each.state, each.since, now_ms)
            return {"what": "".join(what), "possible": each.state == "missing"}
    return {"what": "", "possible": False}
