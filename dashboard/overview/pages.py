"""The pages of a cluster: its overview and its list of groups.

Both are also served as a fragment (header `X-Fragment`), which their script fetches
when a digest arrives over the socket: only the server filters, sorts and writes rows.
"""

from __future__ import annotations

import time
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import allows, requires
from dashboard.brokers.reach import reach_of
from dashboard.brokers.said import BROKERS_NAMED, say_broker
from dashboard.frame.clusters import find_cluster
from dashboard.frame.outages import outage_of
from dashboard.gateway.clusters import encryption_of
from dashboard.live.reading import cache_refusal, read_lake_gap, read_overview
from dashboard.models import Role

from .reads import ListQuery, list_groups

STALE_MS: Final = 15_000
"""A list older than this missed a sweep: then it is asked whether Redis took it."""


@require_safe
@requires(Role.VIEWER)
def cluster(request: HttpRequest, cluster: str) -> HttpResponse:
    return _list_page(request, cluster, "overview/overview")


@require_safe
@requires(Role.VIEWER)
def groups(request: HttpRequest, cluster: str) -> HttpResponse:
    return _list_page(request, cluster, "overview/groups")


def _list_page(request: HttpRequest, name: str, template: str) -> HttpResponse:
    found = find_cluster(name)
    reading = read_overview(found.name)
    context: dict[str, Any] = {
        "cluster": found,
        "encryption": encryption_of(found.name),
        "problem": reading.problem,
        "overview": reading.document,
        "lake_gap": read_lake_gap(found.name),
        "live": True,
    }
    if reading.document is not None:
        now_ms = int(time.time() * 1000)
        if now_ms - reading.document["taken_at"] > STALE_MS:
            refusal = cache_refusal()
            context["refusal"] = None if refusal is None else outage_of(refusal)
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
