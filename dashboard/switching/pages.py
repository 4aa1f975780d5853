"""Pages that preview a switch of a group, apply it with a reason, follow and undo it.

For a group that is not hosted here, the preview says what has to be changed in it.
"""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dashboard.accounts.permissions import allows, requires, user_of
from dashboard.frame.clusters import find_cluster
from dashboard.frame.reasons import MAX_REASON
from dashboard.groups.pages import group_context
from dashboard.hosting.writes import ConfirmationNeededError, FleetError
from dashboard.live.documents import GroupState
from dashboard.live.reading import read_group, read_overview
from dashboard.models import (
    Cluster,
    GroupChange,
    ManagedGroup,
    Role,
    SavedScenario,
    User,
)
from dashboard.whatif.forms import new_labels
from rmqcore.errors import ArgumentError

from .guide import guide_of
from .reads import Preview, preview_of, progress_of
from .writes import (
    OverwriteError,
    apply_change,
    undo_change,
)

CHANGES_SHOWN: Final = 50
TRANSFERS_SHOWN: Final = 40


@require_safe
@requires(Role.VIEWER)
def preview(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Show what a scenario's chosen row would do, before anything is done."""
    return _preview_page(request, cluster, group, request.META.get("QUERY_STRING", ""))


@require_POST
@requires(Role.OPERATOR)
def apply(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Apply what was previewed; a refusal is shown on the same page."""
    found = find_cluster(cluster)
    fields = request.POST
    query = fields.get("query", "")
    state = read_group(found.name, group).document
    if state is None:
        problem = _("The group has not been collected yet.")
        return _preview_page(
            request, cluster, group, query, problem=problem, status=503
        )
    try:
        change = apply_change(
            user_of(request),
            state,
            query,
            show=fields.get("show", ""),
            token=fields.get("token", ""),
            reason=fields.get("reason", ""),
            scenario=_saved(user_of(request), fields.get("saved", "")),
            confirm=fields.get("confirm", ""),
        )
    except FleetError as error:
        return _preview_page(
            request,
            cluster,
            group,
            query,
            problem=str(error),
            reason=fields.get("reason", ""),
            must_name=isinstance(error, ConfirmationNeededError),
            status=409,
        )
    return redirect("group_change", found.name, group, change.pk)


@require_safe
@requires(Role.VIEWER)
def changes(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """List the changes of a group, newest first."""
    context = group_context(request, cluster, group, "changes")
    found = GroupChange.objects.filter(group__cluster__name=cluster, group__name=group)
    context |= {"changes": found[:CHANGES_SHOWN], "all_changes": found.count()}
    return render(request, "switching/changes.html", context)


@require_safe
@requires(Role.VIEWER)
def change(request: HttpRequest, cluster: str, group: str, pk: int) -> HttpResponse:
    """Show a change and its progress, as members report it."""
    return _change_page(request, cluster, group, pk)


@require_POST
@requires(Role.OPERATOR)
def undo(request: HttpRequest, cluster: str, group: str, pk: int) -> HttpResponse:
    """Undo a change: restore the desired state from before it."""
    found = _change(cluster, group, pk)
    fields = request.POST
    try:
        made = undo_change(
            user_of(request),
            found,
            reason=fields.get("reason", ""),
            confirmed=fields.get("confirmed") == "yes",
            confirm=fields.get("confirm", ""),
        )
    except FleetError as error:
        extra = {
            "problem": str(error),
            "reason": fields.get("reason", ""),
            "must_confirm": isinstance(error, OverwriteError),
            "must_name": isinstance(error, ConfirmationNeededError),
        }
        return _change_page(request, cluster, group, pk, status=409, **extra)
    messages.success(request, _("The change is being undone."))
    return redirect("group_change", cluster, group, made.pk)


def _preview_page(
    request: HttpRequest,
    cluster: str,
    group: str,
    query: str,
    *,
    status: int = 200,
    problem: str = "",
    reason: str = "",
    must_name: bool = False,
) -> HttpResponse:
    context = group_context(request, cluster, group, "whatif")
    state: GroupState | None = context["state"]
    hosted = ManagedGroup.objects.filter(
        cluster__name=cluster, name=group, leaving=False
    ).first()
    context |= {
        "hosted": hosted,
        "problem_said": problem,
        "reason": reason,
        "must_name": must_name,
        "may_apply": allows(request.user, Role.OPERATOR),
        "longest_reason": MAX_REASON,
        "query": query,
        "saved": request.GET.get("saved", ""),
    }
    if state is not None:
        try:
            context |= _previewed(context["cluster"], state, hosted, query)
        except ArgumentError as error:
            context["refused"] = str(error)
    return render(request, "switching/preview.html", context, status=status)


def _previewed(
    cluster: Cluster, state: GroupState, hosted: ManagedGroup | None, query: str
) -> dict[str, Any]:
    preview: Preview = preview_of(state, hosted, query)
    labels = {m["client_id"]: m["label"] for m in state["members"]}
    labels |= new_labels(preview.comparison.after.members, labels)
    return {
        "preview": preview,
        "transfers": preview.transfers[:TRANSFERS_SHOWN],
        "transfers_hidden": max(0, len(preview.transfers) - TRANSFERS_SHOWN),
        "labels": labels,
        "guide": None
        if hosted
        else guide_of(preview, cluster.name_servers, _clusters_of(cluster, state)),
    }


def _clusters_of(cluster: Cluster, state: GroupState) -> list[str]:
    """Return RocketMQ's names of the clusters that have the group's queues."""
    overview = read_overview(cluster.name).document
    held = {queue["broker"] for queue in state["queues"]}
    brokers = overview["brokers"] if overview else []
    return sorted({b["cluster"] for b in brokers if b["name"] in held and b["cluster"]})


def _change_page(
    request: HttpRequest,
    cluster: str,
    group: str,
    pk: int,
    *,
    status: int = 200,
    **extra: Any,
) -> HttpResponse:
    found = _change(cluster, group, pk)
    context = group_context(request, cluster, group, "changes")
    context |= {
        "change": found,
        "progress": progress_of(found, context["state"]),
        "labels": {
            m["client_id"]: m["label"]
            for m in (context["state"] or {"members": []})["members"]
        },
        "may_undo": allows(request.user, Role.OPERATOR),
        "longest_reason": MAX_REASON,
        **extra,
    }
    fragment = bool(request.headers.get("X-Fragment"))
    template = "switching/progress.html" if fragment else "switching/change.html"
    response = render(request, template, context, status=status)
    response["Vary"] = "X-Fragment, Cookie"
    return response


def _change(cluster: str, group: str, pk: int) -> GroupChange:
    found = GroupChange.objects.select_related("group__cluster", "undo_of")
    try:
        return get_object_or_404(
            found, pk=pk, group__cluster__name=cluster, group__name=group
        )
    except Http404:
        raise Http404(
            _("There is no change %(pk)s of this group.") % {"pk": pk}
        ) from None


def _saved(user: User, key: str) -> SavedScenario | None:
    if not (key.isascii() and key.isdigit() and len(key) < 16):
        return None
    return SavedScenario.objects.seen_by(user).filter(pk=int(key)).first()
