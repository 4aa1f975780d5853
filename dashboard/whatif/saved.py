"""Saves, shares and deletes scenarios; to open one is to follow its link."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dashboard.accounts.permissions import requires, user_of
from dashboard.frame.clusters import find_cluster
from dashboard.models import Role, SavedScenario

from .reads import SHOW
from .writes import (
    ScenarioError,
    delete_scenario,
    save_scenario,
    share_scenario,
)


@require_POST
@requires(Role.OPERATOR)
def save(request: HttpRequest, cluster: str) -> HttpResponse:
    """Save the scenario that the page shows, and show it again."""
    found = find_cluster(cluster)
    group = request.POST.get("group", "")[:255]
    query = request.POST.get("query", "")
    try:
        saved = save_scenario(
            user_of(request),
            cluster=found,
            group=group,
            name=request.POST.get("name", ""),
            query=query,
            shared=bool(request.POST.get("shared")),
        )
    except ScenarioError as error:
        messages.error(request, str(error))
        return redirect(f"{page_of(found.name, group)}?{query}")
    messages.success(request, _("“%(name)s” is saved.") % {"name": saved.name})
    return redirect(link_of(saved))


@require_POST
@requires(Role.OPERATOR)
def change(request: HttpRequest, cluster: str, pk: int) -> HttpResponse:
    """Share a scenario, stop sharing it, or delete it."""
    seen = SavedScenario.objects.seen_by(user_of(request))
    saved = get_object_or_404(seen, pk=pk, cluster__name=cluster)
    done = request.POST.get("do", "")
    if done == "delete":
        delete_scenario(user_of(request), saved)
        messages.success(request, _("“%(name)s” is deleted.") % {"name": saved.name})
        return redirect(page_of(cluster, saved.group))
    if done not in {"share", "unshare"}:
        raise Http404(f"a scenario cannot {done!r}: share, unshare or delete")
    share_scenario(user_of(request), saved, shared=done == "share")
    return redirect(link_of(saved))


def page_of(cluster: str, group: str) -> str:
    if group:
        return reverse("group_whatif", args=[cluster, group])
    return reverse("group_sheet", args=[cluster])


def link_of(saved: SavedScenario) -> str:
    show = f"&{SHOW}={saved.show}" if saved.show else ""
    page = page_of(saved.cluster.name, saved.group)
    return f"{page}?{saved.query}{show}&saved={saved.pk}"
