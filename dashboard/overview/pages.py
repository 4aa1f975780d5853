"""The pages of a cluster: its overview and its list of groups.

Both are also served as a fragment (header `X-Fragment`), which their script fetches
when a digest arrives over the socket: only the server filters, sorts and writes rows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from dashboard.accounts.owners import owners, teams_of
from dashboard.accounts.permissions import allows, requires, user_of
from dashboard.brokers.reach import reach_of
from dashboard.brokers.said import BROKERS_NAMED, say_broker
from dashboard.frame.clusters import find_cluster
from dashboard.frame.first_steps import first_steps
from dashboard.frame.fragments import render_live
from dashboard.frame.outages import refusal_behind
from dashboard.frame.tables import Index, TablePage, TableQuery, csv_response, page_of
from dashboard.gateway.clusters import encryption_of
from dashboard.live.documents import Overview, OverviewRow
from dashboard.live.kept_overviews import made_of
from dashboard.live.overview_rows import fields_of
from dashboard.live.reading import read_clients, read_lake_gap, read_overview
from dashboard.models import Role

from .table import groups_table

OVERVIEW: Final = "overview/overview"


@require_safe
@requires(Role.VIEWER)
def cluster(request: HttpRequest, cluster: str) -> HttpResponseBase:
    return _list_page(request, cluster, OVERVIEW)


@require_safe
@requires(Role.VIEWER)
def groups(request: HttpRequest, cluster: str) -> HttpResponseBase:
    return _list_page(request, cluster, "overview/groups")


def _list(
    request: HttpRequest, cluster: str, overview: Overview
) -> TablePage[OverviewRow]:
    owned = owners(cluster)
    table = groups_table(
        cluster, partial(_holders, cluster), owned, teams_of(user_of(request))
    )
    query = TableQuery.from_params(request.GET.dict(), table)
    rows = overview["groups"]
    # Whose groups are "mine" and who holds queues is not kept with the rest.
    zone = timezone.get_current_timezone_name()
    key = ("groups", get_language(), zone, owned)
    index = made_of(overview, key, lambda: Index(table, rows, fields_of(rows)))
    return page_of(table, rows, query, index)


def _holders(cluster: str) -> Mapping[str, Sequence[str]]:
    """Return the client ids that own queues of each group, as far as is known."""
    document = read_clients(cluster).document
    return {
        group["group"]: [
            member["client_id"] for member in group["members"] if member["queues"] != 0
        ]
        for group in (document["groups"] if document else ())
    }


def _list_page(request: HttpRequest, name: str, template: str) -> HttpResponseBase:
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
        reach = reach_of(reading.document)
        troubles = reach.troubles
        context |= {
            "refusal": refusal_behind(reading.document["taken_at"]),
            "reach": reach,
            "troubles": [
                say_broker(each.name, each.state, each.since, now_ms)
                for each in troubles[:BROKERS_NAMED]
            ],
            "more_troubles": max(0, len(troubles) - BROKERS_NAMED),
            "may_operate": allows(request.user, Role.OPERATOR),
            "list": _list(request, found.name, reading.document),
        }
        if request.GET.get("format") == "csv":
            return csv_response(context["list"], "groups")
        if found.embedded and template == OVERVIEW:
            groups = reading.document["groups"]
            context["steps"] = first_steps(user_of(request), found.name, groups)
    return render_live(request, template, context)
