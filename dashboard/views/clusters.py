"""The pages of a cluster: its overview and its list of groups.

Both are also given as a fragment (header `X-Fragment`), which their script fetches
after a digest came over the socket: the server stays the only one that filters, sorts
and writes rows.
"""

from __future__ import annotations

import time
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.accounts.permissions import allows, requires
from dashboard.models import Cluster, Role, User
from dashboard.selectors.documents import read_lake_gap, read_overview
from dashboard.selectors.overview import ListQuery, list_groups, reach_of
from dashboard.services.brokers import MAX_REASON, BrokerError, say_gone

from .layout import configured_clusters
from .standing import BROKERS_NAMED, say_broker


@require_safe
@requires(Role.VIEWER)
def home(request: HttpRequest) -> HttpResponse:
    """Go to the first cluster; without one, say how to name one."""
    clusters = configured_clusters()
    if clusters:
        return redirect("cluster", clusters[0].name)
    return render(request, "clusters/none.html")


@require_safe
@requires(Role.VIEWER)
def cluster(request: HttpRequest, cluster: str) -> HttpResponse:
    return _list_page(request, cluster, "clusters/overview")


@require_safe
@requires(Role.VIEWER)
def groups(request: HttpRequest, cluster: str) -> HttpResponse:
    return _list_page(request, cluster, "clusters/groups")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR)
def broker_gone(request: HttpRequest, cluster: str, broker: str) -> HttpResponse:
    """Ask for the reason why a missing broker is gone for good, and take the word."""
    assert isinstance(request.user, User)  # noqa: S101  `requires` saw to it
    found = find_cluster(cluster)
    group = (request.POST or request.GET).get("group", "")
    back = _back_to(cluster, group)
    refusal = ""
    if request.method == "POST":
        try:
            say_gone(request.user, cluster, broker, request.POST.get("reason", ""))
        except BrokerError as error:
            refusal = str(error)
        else:
            said = _("“%(name)s” is taken as gone for good from the next sweep on.")
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
    return render(request, "clusters/gone.html", context, status=status)


def _back_to(cluster: str, group: str) -> str:
    """Return the address of the group that one came from, else of the cluster."""
    try:
        return reverse("group", args=[cluster, group])
    except NoReverseMatch:
        return reverse("cluster", args=[cluster])


def _missing(cluster: str, broker: str) -> dict[str, Any]:
    """Say how the broker stands, and whether it can be taken as gone."""
    overview = read_overview(cluster).document
    brokers = reach_of(overview).brokers if overview else ()
    for each in brokers:
        if each.name == broker and each.state != "answered":
            now_ms = int(time.time() * 1000)
            what = say_broker(each.name, each.state, each.since, now_ms)
            return {"what": "".join(what), "possible": each.state == "missing"}
    return {"what": "", "possible": False}


def find_cluster(name: str) -> Cluster:
    """Return a configured cluster; Http404 names the one that is not."""
    try:
        return Cluster.objects.get(name=name, configured=True)
    except Cluster.DoesNotExist:
        raise Http404(
            _("No cluster “%(name)s” is configured.") % {"name": name}
        ) from None


def _list_page(request: HttpRequest, name: str, template: str) -> HttpResponse:
    found = find_cluster(name)
    reading = read_overview(found.name)
    context: dict[str, Any] = {
        "cluster": found,
        "problem": reading.problem,
        "overview": reading.document,
        "lake_gap": read_lake_gap(found.name),
        "live": True,
    }
    if reading.document is not None:
        now_ms = int(time.time() * 1000)
        reach = reach_of(reading.document)
        troubles = reach.troubles
        context |= {
            "reach": reach,
            "troubles": [
                say_broker(each.name, each.state, each.since, now_ms)
                for each in troubles[:BROKERS_NAMED]
            ],
            "more_troubles": max(0, len(troubles) - BROKERS_NAMED),
            "may_operate": allows(request.user, Role.OPERATOR),
            "list": list_groups(
                reading.document, ListQuery.from_params(request.GET.dict())
            ),
        }
    part = "_live" if request.headers.get("X-Fragment") else ""
    response = render(request, f"{template}{part}.html", context)
    response["Vary"] = "X-Fragment, Cookie"
    return response
