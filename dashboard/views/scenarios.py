"""Saving, sharing and deleting scenarios; opening one is following its link."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dashboard.accounts.permissions import requires
from dashboard.models import Role, SavedScenario, User
from dashboard.selectors.whatif import SHOW
from dashboard.services.scenarios import (
    ScenarioError,
    delete_scenario,
    save_scenario,
    share_scenario,
)

from .clusters import find_cluster


@require_POST
@requires(Role.OPERATOR)
def save(request: HttpRequest, cluster: str) -> HttpResponse:
    """Keep the scenario that the page shows, and show it again."""
    assert isinstance(request.user, User)  # noqa: S101  `requires` saw to it
    found = find_cluster(cluster)
    group = request.POST.get("group", "")[:255]
    query = request.POST.get("query", "")
    try:
        saved = save_scenario(
            request.user,
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
    assert isinstance(request.user, User)  # noqa: S101  `requires` saw to it
    seen = SavedScenario.objects.seen_by(request.user)
    saved = get_object_or_404(seen, pk=pk, cluster__name=cluster)
    done = request.POST.get("do", "")
    if done == "delete":
        delete_scenario(request.user, saved)
        messages.success(request, _("“%(name)s” is deleted.") % {"name": saved.name})
        return redirect(page_of(cluster, saved.group))
    if done not in {"share", "unshare"}:
        raise Http404(f"a scenario cannot {done!r}: share, unshare or delete")
    share_scenario(request.user, saved, shared=done == "share")
    return redirect(link_of(saved))


def page_of(cluster: str, group: str) -> str:
    if group:
        return reverse("group_whatif", args=[cluster, group])
    return reverse("group_sheet", args=[cluster])


def link_of(saved: SavedScenario) -> str:
    show = f"&{SHOW}={saved.show}" if saved.show else ""
    page = page_of(saved.cluster.name, saved.group)
    return f"{page}?{saved.query}{show}&saved={saved.pk}"
