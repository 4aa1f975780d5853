"""Pages on which topics, groups, brokers, users and rules are created and changed.

A page shows how a thing is configured on every broker, and what the filled-in form
would do. The form is part of the address, so a preview can be shown to somebody else;
applying it is a form of its own, with the preview's token.
"""

from __future__ import annotations

from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.accounts.permissions import requires, user_of
from dashboard.frame.clusters import find_cluster
from dashboard.frame.reasons import MAX_REASON
from dashboard.gateway.configured import Kind
from dashboard.models import Cluster, Role

from .everybody import everybody_of
from .forms import ACTIONS, form_fields, wish_of
from .mqadmin import lines_of
from .plans import Action, Wish, scopes_of
from .reads import Look, change_made, drift_of, effects_of, look, undo_of
from .refusals import (
    AdministrationError,
    ConfirmationError,
    SilentClusterError,
    UnknownThingError,
)
from .words import OUTCOMES, STATES, TITLES
from .writes import MAX_SECRET, ROLES, allow, apply, may_change

RESULTS: Final = {
    "topic": "topic_changed",
    "group": "group_configured",
    "broker": "broker_configured",
    "writing": "broker_configured",
    "user": "broker_access_changed",
    "rule": "broker_access_changed",
}
_METHODS: Final = ["GET", "HEAD", "POST"]


@require_http_methods(_METHODS)
@requires(Role.VIEWER)
def new_topic(request: HttpRequest, cluster: str) -> HttpResponse:
    """Create a topic on the brokers of a cluster."""
    return _page(request, cluster, "topic", _name_in(request), "create")


@require_http_methods(_METHODS)
@requires(Role.VIEWER)
def change_topic(request: HttpRequest, cluster: str, topic: str) -> HttpResponse:
    """Change a topic, or make its brokers agree."""
    return _page(request, cluster, "topic", topic, "change")


@require_http_methods(_METHODS)
@requires(Role.VIEWER)
def delete_topic(request: HttpRequest, cluster: str, topic: str) -> HttpResponse:
    """Delete a topic, after saying what is lost."""
    return _page(request, cluster, "topic", topic, "delete")


@require_http_methods(_METHODS)
@requires(Role.VIEWER)
def new_group(request: HttpRequest, cluster: str) -> HttpResponse:
    """Create a consumer group on the brokers of a cluster."""
    return _page(request, cluster, "group", _name_in(request), "create")


@require_http_methods(_METHODS)
@requires(Role.VIEWER)
def change_group(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Change a group's settings, or make its brokers agree."""
    return _page(request, cluster, "group", group, "change")


@require_http_methods(_METHODS)
@requires(Role.VIEWER)
def delete_group(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Delete a group, after saying who uses it and what is lost."""
    return _page(request, cluster, "group", group, "delete")


@require_http_methods(_METHODS)
@requires(Role.VIEWER)
def broker_settings(request: HttpRequest, cluster: str, broker: str) -> HttpResponse:
    """Change settings of a running broker."""
    return _page(request, cluster, "broker", broker, "change")


@require_http_methods(_METHODS)
@requires(Role.VIEWER)
def broker_writing(request: HttpRequest, cluster: str, broker: str) -> HttpResponse:
    """Stop producers from choosing a broker, or let them choose it again."""
    return _page(request, cluster, "writing", broker, "change")


@require_safe
@requires(Role.ADMIN)
def access(request: HttpRequest, cluster: str) -> HttpResponse:
    """List the users and rules of every broker."""
    found = find_cluster(cluster)
    context: dict[str, Any] = {"cluster": found}
    try:
        context["everybody"] = everybody_of(found)
    except AdministrationError as error:
        context["problem_said"] = str(error)
    return render(request, "administration/access.html", context)


@require_http_methods(_METHODS)
@requires(Role.ADMIN)
def access_user(request: HttpRequest, cluster: str, action: Action) -> HttpResponse:
    """Create, change or delete a user of the brokers."""
    return _page(request, cluster, "user", _name_in(request), action)


@require_http_methods(_METHODS)
@requires(Role.ADMIN)
def access_rules(request: HttpRequest, cluster: str) -> HttpResponse:
    """Add, change or remove what a subject may do."""
    return _page(request, cluster, "rule", _name_in(request), "change")


@require_safe
@requires(Role.VIEWER)
def changed(request: HttpRequest, cluster: str, pk: int) -> HttpResponse:
    """Show a change of a topic, group or broker, and its effect on each broker."""
    return _changed_page(request, cluster, pk)


@require_safe
@requires(Role.ADMIN)
def access_changed(request: HttpRequest, cluster: str, pk: int) -> HttpResponse:
    """Show a change of a user or a rule, and its effect on each broker."""
    return _changed_page(request, cluster, pk)


# Private, in order of first use


def _name_in(request: HttpRequest) -> str:
    return (request.GET if request.method != "POST" else _sent(request)).get("name", "")


def _sent(request: HttpRequest) -> QueryDict:
    """Return the fields of the form that a preview was made of."""
    return QueryDict(request.POST.get("query", ""))


def _page(
    request: HttpRequest, cluster: str, kind: Kind, name: str, action: Action
) -> HttpResponse:
    found = find_cluster(cluster)
    if request.method == "POST":
        allow(user_of(request), kind, cluster, name)
    fields = _sent(request) if request.method == "POST" else request.GET
    context = {
        "cluster": found,
        "kind": kind,
        "name": name,
        "action": action,
        "title": TITLES[kind, action],
        "back": _back(found, kind, name, action),
        **_context(request, cluster, kind, name, fields),
    }
    try:
        wish = wish_of(found, kind, name, action, fields)
        if request.method == "POST":
            return _applied(request, found, wish)
    except AdministrationError as error:
        context["problem_said"] = str(error)
        context["must_name"] = isinstance(error, ConfirmationError)
        wish = _wish_again(found, kind, name, action, fields)
    status = 409 if context.get("problem_said") and request.method == "POST" else 200
    if name or action != "create":
        _look(context, found, wish)
    context["fields"] = form_fields(kind, context.get("standings", ()), fields)
    return render(request, "administration/page.html", context, status=status)


def _wish_again(
    cluster: Cluster, kind: Kind, name: str, action: Action, fields: QueryDict
) -> Wish:
    """Return the wish of a refused form once more, or a wish that changes nothing."""
    try:
        return wish_of(cluster, kind, name, action, fields)
    except AdministrationError:
        return Wish(kind, name, action)


def _context(
    request: HttpRequest, cluster: str, kind: Kind, name: str, fields: QueryDict
) -> dict[str, Any]:
    return {
        "query": fields.urlencode(),
        "entered": fields,
        "picked": frozenset(fields.getlist("broker")),
        "picked_actions": frozenset(fields.getlist("actions")),
        "may_apply": may_change(user_of(request), kind, cluster, name),
        "role": ROLES[kind].label,
        "reason": request.POST.get("reason", ""),
        "longest_reason": MAX_REASON,
        "longest_secret": MAX_SECRET,
        "rule_actions": ACTIONS,
    }


def _back(cluster: Cluster, kind: Kind, name: str, action: Action) -> str:
    """Return the address of the page that shows the thing, or else the cluster's."""
    known: dict[Kind, list[tuple[str, ...]]] = {
        "topic": [("topic", name), ("topics",)],
        "group": [("group", name), ("groups",)],
        "broker": [("broker", name), ("brokers",)],
        "writing": [("broker", name), ("brokers",)],
        "user": [("broker_access",)],
        "rule": [("broker_access",)],
    }
    for place, *words in known[kind]:
        if words and (action == "create" or not name):
            continue
        try:
            return reverse(place, args=[cluster.name, *words])
        except NoReverseMatch:
            continue
    return reverse("cluster", args=[cluster.name])


def _applied(request: HttpRequest, cluster: Cluster, wish: Wish) -> HttpResponse:
    fields = request.POST
    entry = apply(
        user_of(request),
        cluster,
        wish,
        token=fields.get("token", ""),
        reason=fields.get("reason", ""),
        confirm=fields.get("confirm", ""),
        secret=fields.get("secret", ""),
    )
    return redirect(RESULTS[wish.kind], cluster.name, entry.pk)


def _look(context: dict[str, Any], cluster: Cluster, wish: Wish) -> None:
    """Add how the thing is configured and what would change, or why that is unknown."""
    try:
        found = look(cluster, wish)
    except AdministrationError as error:
        context.setdefault("problem_said", str(error))
        if isinstance(error, SilentClusterError):
            return
        try:
            found = look(cluster, Wish(wish.kind, wish.name, "change"))
        except AdministrationError:
            return
    context |= _found(found, cluster)


def _found(found: Look, cluster: Cluster) -> dict[str, Any]:
    plan = found.plan
    scope = plan.scope if plan else ""
    scopes = scopes_of(found.standings)
    inside = [e for e in found.standings if not scope or e.place.cluster == scope]
    drift = drift_of(inside)
    return {
        "standings": found.standings,
        "having": found.having,
        "silent": found.silent,
        "scopes": scopes if len(scopes) > 1 else [],
        "inside": inside,
        "drift": drift,
        "drifting": frozenset(each.key for each in drift),
        "lacking": [e for e in inside if e.values is None and not e.problem],
        "plan": plan,
        "lines": lines_of(plan, cluster.name_servers) if plan and plan.acting else (),
    }


def _changed_page(request: HttpRequest, cluster: str, pk: int) -> HttpResponse:
    found = find_cluster(cluster)
    try:
        entry = change_made(found, pk)
    except UnknownThingError as error:
        raise Http404(str(error)) from None
    details = entry.details
    kind: Kind = details["kind"]
    may_apply = may_change(user_of(request), kind, cluster, details["name"])
    if not may_apply and kind in {"user", "rule"}:
        raise Http404(str(pk))
    effects = effects_of(entry)
    context = {
        "cluster": found,
        "entry": entry,
        "kind": kind,
        "name": details["name"],
        "title": TITLES[kind, details["action"]],
        "outcome": OUTCOMES[details["state"]],
        "effects": [(effect, STATES[effect.state]) for effect in effects],
        "told": details.get("told", {}),
        "remains": details.get("remains"),
        "can_undo": undo_of(entry) is not None,
        "undo_at": _undo_at(found, kind, details["name"]),
        "back": _back(found, kind, details["name"], details["action"]),
        "may_apply": may_apply,
    }
    return render(request, "administration/changed.html", context)


def _undo_at(cluster: Cluster, kind: Kind, name: str) -> str:
    if kind in {"user", "rule"}:
        place = "broker_access_change" if kind == "user" else "broker_access_rules"
        return reverse(place, args=[cluster.name])
    place = {
        "topic": "topic_change",
        "group": "group_settings",
        "broker": "broker_settings",
        "writing": "broker_writing",
    }[kind]
    return reverse(place, args=[cluster.name, name])
