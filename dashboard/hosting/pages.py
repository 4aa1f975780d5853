"""Pages that list, add, change and remove hosted groups."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from dashboard.accounts.permissions import allows, requires, user_of
from dashboard.fleet.listeners import BUILT_IN_OPTIONS
from dashboard.frame.clusters import find_cluster
from dashboard.live.overview_rows import topics_of
from dashboard.live.reading import read_overview
from dashboard.models import (
    FleetWorker,
    ManagedGroup,
    Role,
    User,
)

from .forms import WishForm
from .option_fields import NUMBERS, takers_of, users_of
from .writes import ConfirmationNeededError, FleetError, remove_group, save_group


@require_safe
@requires(Role.VIEWER)
def groups(request: HttpRequest, cluster: str) -> HttpResponse:
    """List the hosted groups of a cluster."""
    found = find_cluster(cluster)
    wanted = Count("members", filter=Q(members__wanted=True))
    running = Count(
        "members", filter=Q(members__wanted=True) & ~Q(members__client_id="")
    )
    listed: QuerySet[ManagedGroup] = ManagedGroup.objects.filter(cluster=found)
    context: dict[str, Any] = {
        "cluster": found,
        "groups": listed.annotate(wanted=wanted, running=running),
        "workers": FleetWorker.objects.count(),
        "may_change": allows(request.user, Role.OPERATOR),
    }
    return render(request, "hosting/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR, anywhere=True)
def add(request: HttpRequest, cluster: str) -> HttpResponse:
    """Host a new group."""
    found = find_cluster(cluster)
    form = WishForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["name"].strip()
        known = ManagedGroup.objects.filter(cluster=found, name=name).exists()
        if known:
            form.add_error(
                "name", _("“%(name)s” is already hosted here.") % {"name": name}
            )
        elif _saved(user_of(request), form, found.name):
            messages.success(request, _("“%(name)s” is hosted now.") % {"name": name})
            return redirect("group_hosted", found.name)
    return _page(request, form, {"cluster": found})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR)
def change(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Change the definition of a hosted group."""
    found = find_cluster(cluster)
    known = _hosted(found.name, group)
    form = WishForm(request.POST or None, known=known)
    if (
        request.method == "POST"
        and form.is_valid()
        and _saved(user_of(request), form, found.name, group)
    ):
        messages.success(request, _("“%(name)s” is saved.") % {"name": group})
        return redirect("group_hosted", found.name)
    return _page(request, form, {"cluster": found, "known": known})


@require_POST
@requires(Role.OPERATOR)
def remove(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Stop hosting a group."""
    try:
        remove_group(user_of(request), cluster, group, request.POST.get("reason", ""))
    except FleetError as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request, _("The members of “%(name)s” are leaving.") % {"name": group}
        )
    return redirect("group_hosted", find_cluster(cluster).name)


def _saved(user: User, form: WishForm, cluster: str, group: str = "") -> bool:
    data = form.cleaned_data
    try:
        save_group(
            user,
            form.wish(cluster, group),
            members=data.get("members", 0),
            reason=data["reason"],
            confirm=data["confirm"],
        )
    except FleetError as error:
        must_confirm = isinstance(error, ConfirmationNeededError)
        form.add_error("confirm" if must_confirm else None, str(error))
        if must_confirm:
            # It stands at the end of a long form: the page opens there.
            form.fields["confirm"].widget.attrs["autofocus"] = True
        return False
    return True


def _page(
    request: HttpRequest, form: WishForm, context: dict[str, Any]
) -> HttpResponse:
    status = 422 if form.is_bound else 200
    overview = read_overview(context["cluster"].name).document
    rows = overview["groups"] if overview else ()
    context |= {
        "form": form,
        "topics": topics_of(rows),
        "users_of": {name: users_of(name) for name in form.fields},
        "built_in": " ".join(BUILT_IN_OPTIONS),
        "takers_of": {name: takers_of(name) for name in NUMBERS},
    }
    return render(request, "hosting/form.html", context, status=status)


def _hosted(cluster: str, group: str) -> ManagedGroup:
    found = ManagedGroup.objects.filter(
        cluster__name=cluster, name=group, leaving=False
    ).first()
    if found is None:
        raise Http404(_("No group “%(name)s” is hosted here.") % {"name": group})
    return found
