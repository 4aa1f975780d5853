"""The pages of a cluster's alerts: what is open, the rules, the history, one alert.

The first is also served as a fragment (header `X-Fragment`), which its script fetches
every few seconds; the script also shows how old the last look at the rules is.
"""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dashboard.accounts.permissions import allows, requires, user_of
from dashboard.frame.clusters import find_cluster
from dashboard.frame.fragments import render_live
from dashboard.models import Alert, AlertRule, Role

from .history import csv_pieces, read_filters
from .reads import read_board, shown, silences_of
from .refusals import AlertRefusedError
from .rights import may_rule_somewhere
from .rule_filters import RuleFilters
from .words import RULE_STATES
from .writes import acknowledge

ROWS: Final = 50


@require_safe
@requires(Role.VIEWER)
def alerts(request: HttpRequest, cluster: str) -> HttpResponse:
    """Show what is open and how the rules stand."""
    found, user = find_cluster(cluster), user_of(request)
    board = read_board(user, found.name)
    taken_at = board.document["taken_at"] if board.document else 0
    filters = RuleFilters.of(request.GET.dict())
    context: dict[str, Any] = {
        "cluster": found,
        "board": board,
        "rule_filters": filters,
        "rule_rows": filters.chosen(board.rules),
        "rule_states": RULE_STATES,
        "severities": AlertRule.Severity.choices,
        "taken_at": taken_at,
        "live": True,
        "may_rule": may_rule_somewhere(user),
        "may_channel": allows(user.at(None), Role.ADMIN),
    }
    return render_live(request, "alerts/alerts", context)


@require_safe
@requires(Role.VIEWER)
def history(request: HttpRequest, cluster: str) -> HttpResponse:
    """List the alerts that match the filters, open and past."""
    found = find_cluster(cluster)
    filters = read_filters(request.GET.dict())
    page = Paginator(filters.chosen(found.name), ROWS).get_page(request.GET.get("page"))
    names = Alert.objects.filter(cluster=found.name).order_by("rule_name")
    context = {
        "cluster": found,
        "filters": filters,
        "page": page,
        "rows": shown(page.object_list, user_of(request)),
        "rules": names.values_list("rule_name", flat=True).distinct(),
        "severities": AlertRule.Severity.choices,
    }
    return render(request, "alerts/history.html", context)


@never_cache
@require_safe
@requires(Role.VIEWER)
def export(request: HttpRequest, cluster: str) -> StreamingHttpResponse:
    """Stream all alerts that match the filters of the list."""
    found = find_cluster(cluster)
    chosen = read_filters(request.GET.dict()).chosen(found.name)
    return StreamingHttpResponse(
        csv_pieces(chosen),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="alerts.csv"'},
    )


@require_safe
@requires(Role.VIEWER)
def alert(request: HttpRequest, cluster: str, pk: int) -> HttpResponse:
    """Show one alert, open or past."""
    found, user = find_cluster(cluster), user_of(request)
    row = get_object_or_404(Alert, pk=pk, cluster=found.name)
    now = timezone.now()
    silences = list(silences_of(found.name).filter(starts_at__lte=now, ends_at__gt=now))
    context = {"cluster": found, "card": shown([row], user, silences, now)[0]}
    return render(request, "alerts/alert.html", context)


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def acknowledge_one(request: HttpRequest, cluster: str, pk: int) -> HttpResponse:
    """Note that the reader looks at an alert, and go back."""
    found = find_cluster(cluster)
    row = get_object_or_404(Alert, pk=pk, cluster=found.name)
    try:
        acknowledge(row, by=user_of(request))
    except AlertRefusedError as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("It is noted that you are on it."))
    if request.POST.get("from") == "alert":
        return redirect("alert", found.name, pk)
    return redirect("alerts", found.name)
