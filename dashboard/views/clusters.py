"""The pages of a cluster: its overview and its list of groups.

Both are also given as a fragment (header `X-Fragment`), which their script fetches
after a digest came over the socket: the server stays the only one that filters, sorts
and writes rows.
"""

from __future__ import annotations

import time
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires
from dashboard.models import Cluster, Role
from dashboard.selectors.documents import read_lake_gap, read_overview
from dashboard.selectors.overview import ListQuery, list_groups, reach_of

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
            "list": list_groups(
                reading.document, ListQuery.from_params(request.GET.dict())
            ),
        }
    part = "_live" if request.headers.get("X-Fragment") else ""
    response = render(request, f"{template}{part}.html", context)
    response["Vary"] = "X-Fragment, Cookie"
    return response
