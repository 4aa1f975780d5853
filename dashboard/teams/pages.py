"""Teams: the list of them, the page of one, and what its forms and a group's send."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from dashboard.accounts.forms import primary_key
from dashboard.accounts.permissions import allows, requires, user_of
from dashboard.frame.clusters import find_cluster, shown_clusters
from dashboard.models import Role, Team

from .forms import GroupsForm, MemberForm, TeamForm
from .reads import teams_seen
from .writes import (
    Groups,
    TeamError,
    TeamWish,
    add_team,
    change_team,
    delete_team,
    note_group,
    own_group,
)


@require_safe
@requires(Role.VIEWER)
def teams(request: HttpRequest) -> HttpResponse:
    """List the teams that the reader may see."""
    user = user_of(request)
    context = {"teams": teams_seen(user), "may_change": allows(user, Role.ADMIN)}
    return render(request, "teams/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
def new(request: HttpRequest) -> HttpResponse:
    """Make a team, whose page then takes its members and groups."""
    form = TeamForm(request.POST or None)
    made: list[Team] = []
    if request.method == "POST" and _done(
        form,
        lambda: made.append(
            add_team(TeamWish(**form.cleaned_data), by=user_of(request))
        ),
    ):
        return redirect("team", made[0].pk)
    return _form_page(request, form, None)


@require_safe
@requires(Role.VIEWER)
def team(request: HttpRequest, pk: int) -> HttpResponse:
    return _team_page(request, pk)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a team's name, contact and note."""
    found = get_object_or_404(Team, pk=pk)
    now = {"name": found.name, "contact": found.contact, "note": found.note}
    form = TeamForm(request.POST or None, initial=now)
    if request.method == "POST" and _done(
        form,
        lambda: change_team(
            found, lambda wish: replace(wish, **form.cleaned_data), by=user_of(request)
        ),
    ):
        return redirect("team", pk)
    return _form_page(request, form, found)


@require_POST
@requires(Role.ADMIN)
def change_members(request: HttpRequest, pk: int) -> HttpResponse:
    """Add a user to a team, or remove one."""
    found = get_object_or_404(Team, pk=pk)
    gone = request.POST.get("remove", "")
    form = MemberForm({"member": gone} if gone else request.POST)

    def changed(wish: TeamWish) -> TeamWish:
        name = form.cleaned_data["member"]
        kept = tuple(each for each in wish.members if each != name)
        return replace(wish, members=kept if gone else (*kept, name))

    if _done(form, lambda: change_team(found, changed, by=user_of(request))):
        return redirect("team", pk)
    return _team_page(request, pk, members=form)


@require_POST
@requires(Role.ADMIN)
def change_groups(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a team more groups, or take some away."""
    found = get_object_or_404(Team, pk=pk)
    by = user_of(request)
    if request.POST.get("remove"):
        rows = found.ownerships.filter(pk=primary_key(request.POST["remove"]))
        gone = {Groups(each.cluster, each.groups) for each in rows}
        change_team(
            found,
            lambda wish: replace(
                wish, groups=tuple(each for each in wish.groups if each not in gone)
            ),
            by=by,
        )
        return redirect("team", pk)
    form = _groups_form(request, request.POST)
    if _done(
        form,
        lambda: change_team(
            found,
            lambda wish: replace(
                wish, groups=(*wish.groups, Groups(**form.cleaned_data))
            ),
            by=by,
        ),
    ):
        return redirect("team", pk)
    return _team_page(request, pk, groups=form)


@require_POST
@requires(Role.ADMIN)
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Team, pk=pk)
    delete_team(found, by=user_of(request))
    messages.success(request, _("The team “%(name)s” is deleted.") % {"name": found})
    return redirect("teams")


@require_POST
@requires(Role.OPERATOR)
def note(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Keep a note on a group, and go back to its page."""
    found = find_cluster(cluster)
    text = request.POST.get("note", "")
    try:
        note_group(found.name, group, text, by=user_of(request))
    except TeamError as error:
        messages.error(request, str(error))
    return redirect("group", found.name, group)


@require_POST
@requires(Role.ADMIN)
def owner(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Give a group to a team by its exact name, and go back to its page."""
    found = find_cluster(cluster)
    wanted = request.POST.get("team", "")
    chosen = get_object_or_404(Team, pk=primary_key(wanted)) if wanted else None
    try:
        own_group(found.name, group, chosen, by=user_of(request))
    except TeamError as error:
        messages.error(request, str(error))
    return redirect("group", found.name, group)


def _done(form: forms.Form, write: Callable[[], object]) -> bool:
    """Write what a form sent; a refusal is said at the form."""
    if not form.is_valid():
        return False
    try:
        write()
    except TeamError as error:
        form.add_error(None, str(error))
        return False
    return True


def _form_page(
    request: HttpRequest, form: TeamForm, found: Team | None
) -> HttpResponse:
    context = {"form": form, "team": found}
    status = 422 if form.errors else 200
    return render(request, "teams/form.html", context, status=status)


def _team_page(
    request: HttpRequest,
    pk: int,
    *,
    members: MemberForm | None = None,
    groups: GroupsForm | None = None,
) -> HttpResponse:
    user = user_of(request)
    shown = next(iter(teams_seen(user, pk)), None)
    if shown is None:
        raise Http404(_("There is no team of that number."))
    context = {
        "shown": shown,
        "team": shown.team,
        "clusters_seen": shown_clusters(user),
        "may_change": allows(user, Role.ADMIN),
        "members_form": members or MemberForm(),
        "groups_form": groups or _groups_form(request, None),
    }
    status = 422 if members or groups else 200
    return render(request, "teams/team.html", context, status=status)


def _groups_form(request: HttpRequest, sent: object) -> GroupsForm:
    names = [each.name for each in shown_clusters(request.user)]
    return GroupsForm(sent, clusters=names)
