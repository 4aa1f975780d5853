"""The pages of silences and maintenance windows: their list, the form, ending one."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from dashboard.accounts.permissions import requires, user_of
from dashboard.frame.clusters import find_cluster
from dashboard.models import Alert, Role, Silence, User

from .pages import ROWS
from .place_forms import SilenceForm
from .reads import rules_of, shown, silences_of
from .refusals import AlertRefusedError
from .rights import cluster_choices, may, may_rule_somewhere
from .writes import add_silence, end_silence

MOST_DIGITS: Final = 19


@require_safe
@requires(Role.VIEWER)
def silences(request: HttpRequest, cluster: str) -> HttpResponse:
    """List the silences of a cluster: those of now and later first."""
    found, user = find_cluster(cluster), user_of(request)
    page = Paginator(silences_of(found.name), ROWS).get_page(request.GET.get("page"))
    now = timezone.now()
    context = {
        "cluster": found,
        "page": page,
        "rows": [(each, _state(each, now), _may_end(user, each)) for each in page],
        "may_silence": may_rule_somewhere(user),
    }
    return render(request, "alerts/silences.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR, anywhere=True)
def new(request: HttpRequest, cluster: str) -> HttpResponse:
    """Show a form, filled from the alert in `alert`; save it."""
    found, user = find_cluster(cluster), user_of(request)
    sent = request.POST if request.method == "POST" else None
    form = SilenceForm(
        sent,
        initial=_begun(request, user, found.name),
        clusters=cluster_choices(user, found.name),
        rules=rules_of(found.name),
    )
    if form.is_valid():
        try:
            add_silence(form.wish, by=user)
        except AlertRefusedError as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, _("The silence is kept."))
            return redirect("alert_silences", found.name)
    context = {"cluster": found, "form": form}
    status = 422 if form.errors else 200
    return render(request, "alerts/silence.html", context, status=status)


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def end(request: HttpRequest, cluster: str, pk: int) -> HttpResponse:
    """End a silence now."""
    found = find_cluster(cluster)
    row = get_object_or_404(silences_of(found.name), pk=pk)
    end_silence(row, by=user_of(request))
    messages.success(request, _("The silence has ended."))
    return redirect("alert_silences", found.name)


def _begun(request: HttpRequest, user: User, cluster: str) -> dict[str, Any]:
    begun: dict[str, Any] = {"cluster": cluster, "span": "1h"}
    pk = request.GET.get("alert", "")
    number = int(pk) if pk.isdecimal() and len(pk) < MOST_DIGITS else 0
    found = Alert.objects.filter(pk=number, cluster=cluster)
    if (row := found.first()) is not None:
        begun |= {"groups": shown([row], user)[0].groups, "rule": row.rule_id}
    return begun


def _state(silence: Silence, now: Any) -> str:
    if silence.ends_at <= now:
        return "ended"
    return "planned" if silence.starts_at > now else "running"


def _may_end(user: User, silence: Silence) -> bool:
    over = silence.ends_at <= timezone.now()
    return not over and may(user, Role.OPERATOR, silence.cluster, silence.groups)
