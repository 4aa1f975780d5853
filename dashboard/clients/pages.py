"""The pages of clients: all of them, one, what it reports, its threads; producers."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import redis
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dashboard.accounts.permissions import allows, requires
from dashboard.brokers.reach import reach_of
from dashboard.frame.clusters import find_cluster
from dashboard.frame.fragments import render_live
from dashboard.frame.not_there import NotThereError
from dashboard.frame.outages import outage_of
from dashboard.frame.tables import TableQuery, csv_response, page_of
from dashboard.gateway.asking import settings_of
from dashboard.gateway.client_info import ask_client
from dashboard.gateway.producers import ask_producers
from dashboard.live.reading import read_clients, read_overview
from dashboard.models import Cluster, Role
from rmqcore.errors import RmqError

from .asking import ClientBusyError, NoStacksError, kept_stacks, take_stacks
from .producer_table import producer_table
from .reads import OLDEST, Client, clients_of
from .table import client_table


@require_safe
@requires(Role.VIEWER)
def clients(request: HttpRequest, cluster: str) -> HttpResponseBase:
    """List every client over all groups; `older` names the release that is old."""
    found = find_cluster(cluster)
    table = client_table(found.name)
    query = TableQuery.from_params(request.GET.dict(), table)
    context = _facts(found, query.settings.get("older", OLDEST))
    page = context["page"] = page_of(table, context["clients"], query)
    if request.GET.get("format") == "csv":
        return csv_response(page, f"{found.name}-clients")
    return render_live(request, "clients/clients", context)


@require_safe
@requires(Role.VIEWER)
def client(request: HttpRequest, cluster: str, client_id: str) -> HttpResponse:
    """Show one client: its groups, what it owns in each, what it subscribes to."""
    context = _facts(find_cluster(cluster), OLDEST)
    found = [each for each in context["clients"] if each.client_id == client_id]
    if not found and context["document"] is not None:
        raise NotThereError(
            context["cluster"],
            "client",
            client_id,
            (context["reach"].unsure if context["reach"] else "")
            or _(
                "“%(id)s” is in no group now. Clients are listed while brokers see "
                "them."
            )
            % {"id": client_id},
        )
    context |= {
        "client_id": client_id,
        "client": found[0] if found else None,
        "may_ask": allows(request.user, Role.OPERATOR),
    }
    return render_live(request, "clients/client", context)


@require_safe
@requires(Role.VIEWER)
def client_running(request: HttpRequest, cluster: str, client_id: str) -> HttpResponse:
    """Ask a client what it is doing in a group, without its threads."""
    found = find_cluster(cluster)
    group = request.GET.get("group", "")
    context: dict[str, Any] = {
        "cluster": found,
        "client_id": client_id,
        "group": group,
        "may_ask": allows(request.user, Role.OPERATOR),
    }
    try:
        context["info"] = ask_client(settings_of(found.name), group, client_id)
    except RmqError as error:
        context["error"] = str(error)
    return render(request, "clients/running.html", context)


@require_POST
@requires(Role.OPERATOR)
def client_ask_stacks(
    request: HttpRequest, cluster: str, client_id: str
) -> HttpResponse:
    """Ask a client for its thread stacks and go to where they are shown."""
    found = find_cluster(cluster)
    group = request.POST.get("group", "")
    try:
        token = take_stacks(found.name, group, client_id)
    except redis.RedisError as error:
        refusal = outage_of(error) or str(error)
    except (ClientBusyError, NoStacksError, RmqError) as error:
        refusal = str(error)
    else:
        address = reverse("client_stacks", args=[found.name, client_id])
        return redirect(f"{address}?{urlencode({'token': token})}")
    messages.error(request, refusal)
    return redirect("client", found.name, client_id)


@require_safe
@requires(Role.OPERATOR)
def client_stacks(request: HttpRequest, cluster: str, client_id: str) -> HttpResponse:
    """Show or download the stacks that were taken; asks nobody."""
    found = find_cluster(cluster)
    try:
        stacks = kept_stacks(found.name, client_id, request.GET.get("token", ""))
    except redis.RedisError:
        stacks = None
    if stacks is None:
        raise Http404(_("These thread stacks are no longer kept: ask again."))
    if request.GET.get("format") == "txt":
        return HttpResponse(
            stacks.text,
            content_type="text/plain; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="stacks-{stacks.at}.txt"'
            },
        )
    context = {
        "cluster": found,
        "client_id": client_id,
        "stacks": stacks,
        "token": request.GET["token"],
    }
    return render(request, "clients/stacks.html", context)


@require_safe
@requires(Role.VIEWER)
def client_producers(request: HttpRequest, cluster: str) -> HttpResponseBase:
    """Ask brokers for their producers; `group` limits it to one producer group."""
    found = find_cluster(cluster)
    group = request.GET.get("group", "").strip()[:255]
    context: dict[str, Any] = {"cluster": found, "group": group}
    try:
        producers = ask_producers(settings_of(found.name), group)
    except RmqError as error:
        context["error"] = str(error)
        return render(request, "clients/producers.html", context)
    table = producer_table()
    query = TableQuery.from_params(request.GET.dict(), table, [("group", group)])
    page = page_of(table, producers.rows, query)
    if request.GET.get("format") == "csv":
        return csv_response(page, f"{found.name}-producers")
    context |= {"page": page, "producers": producers}
    return render(request, "clients/producers.html", context)


def _facts(cluster: Cluster, oldest: str) -> dict[str, Any]:
    reading = read_overview(cluster.name)
    document = read_clients(cluster.name).document
    found: list[Client] = clients_of(document, oldest) if document else []
    return {
        "cluster": cluster,
        "overview": reading.document,
        "reach": reach_of(reading.document) if reading.document else None,
        "problem": reading.problem,
        "document": document,
        "clients": found,
        "oldest": oldest,
        "live": True,
    }
