"""The page of a search; its fragment is what the field offers while one types."""

from __future__ import annotations

from typing import Any

import redis
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires, user_of
from dashboard.frame.clusters import shown_clusters
from dashboard.frame.fragments import render_live
from dashboard.frame.outages import outage_of
from dashboard.models import Role

from .reads import LISTED, LONGEST, SUGGESTED, search


@require_safe
@requires(Role.VIEWER)
def search_page(request: HttpRequest) -> HttpResponse:
    """Search groups, topics, clients and brokers of all clusters for `q`."""
    typed = request.GET.get("q", "").strip()[:LONGEST]
    here = request.GET.get("in", "")
    offered = bool(request.headers.get("X-Fragment"))
    clusters = [each for each in shown_clusters(request.user) if each.name == here]
    context: dict[str, Any] = {"typed": typed, "here": here}
    if clusters:
        context["cluster"] = clusters[0]
    try:
        context["found"] = search(
            user_of(request), typed, here, SUGGESTED if offered else LISTED
        )
    except redis.RedisError as error:
        context["refusal"] = outage_of(error)
    return render_live(request, "search/search", context)
