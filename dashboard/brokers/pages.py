"""The page on which a person says that a missing broker is gone for good."""

from __future__ import annotations

import time
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from dashboard.accounts.permissions import requires, user_of
from dashboard.frame.clusters import find_cluster
from dashboard.live.reading import read_overview
from dashboard.models import Role

from .reach import reach_of
from .said import say_broker
from .writes import MAX_REASON, BrokerError, say_gone


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR)
def broker_gone(request: HttpRequest, cluster: str, broker: str) -> HttpResponse:
    """Ask why a missing broker is gone for good, and record the statement."""
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
