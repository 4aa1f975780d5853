"""The page of one's saved views, and what their forms send."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dashboard.accounts.permissions import allows, requires, user_of
from dashboard.models import Role, SavedView

from .reads import table_at
from .writes import (
    MAX_NAME,
    MAX_VIEWS,
    SavedViewError,
    delete_view,
    rename_view,
    save_view,
    share_view,
)


@require_safe
@requires(Role.VIEWER)
def saved_views(request: HttpRequest) -> HttpResponse:
    """List one's own views and those that others share."""
    user = user_of(request)
    views = SavedView.objects.seen_by(user).select_related("owner")
    context = {
        "mine": [each for each in views if each.owner_id == user.pk],
        "others": [each for each in views if each.owner_id != user.pk],
        "may_share": allows(user, Role.OPERATOR),
        "may_administer": allows(user, Role.ADMIN),
        "longest_name": MAX_NAME,
        "most_views": MAX_VIEWS,
    }
    return render(request, "saved_views/views.html", context)


@require_POST
@requires(Role.VIEWER)
def save(request: HttpRequest) -> HttpResponse:
    """Keep the view of the page that the form was sent from, and go back to it."""
    path, query = request.POST.get("path", ""), request.POST.get("query", "")
    try:
        view = save_view(
            user_of(request),
            path=path,
            query=query,
            name=request.POST.get("name", ""),
            shared=request.POST.get("shared") == "on",
        )
    except SavedViewError as error:
        messages.error(request, str(error))
        return redirect(f"{path}?{query}" if table_at(path) else "saved_views")
    messages.success(request, _("View “%(name)s” is saved.") % {"name": view.name})
    return redirect(f"{path}?{view.query}")


@require_POST
@requires(Role.VIEWER)
def rename(request: HttpRequest, pk: int) -> HttpResponse:
    name = request.POST.get("name", "")
    return _change(request, pk, lambda view: rename_view(user_of(request), view, name))


@require_POST
@requires(Role.OPERATOR)
def share(request: HttpRequest, pk: int) -> HttpResponse:
    shared = request.POST.get("shared") == "on"
    return _change(
        request, pk, lambda view: share_view(user_of(request), view, shared=shared)
    )


@require_POST
@requires(Role.VIEWER)
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    return _change(request, pk, lambda view: delete_view(user_of(request), view))


def _change(
    request: HttpRequest, pk: int, change: Callable[[SavedView], None]
) -> HttpResponse:
    """Change a view that the user may see; others are not there for them."""
    view = get_object_or_404(SavedView.objects.seen_by(user_of(request)), pk=pk)
    try:
        change(view)
    except SavedViewError as error:
        messages.error(request, str(error))
    return redirect("saved_views")
