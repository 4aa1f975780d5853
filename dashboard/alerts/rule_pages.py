"""The pages of rules: the form that makes and changes them, switch, test, delete."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from dashboard.accounts.permissions import requires, user_of
from dashboard.alerting.kinds import ABOUT, Kind
from dashboard.frame.clusters import find_cluster
from dashboard.live.reading import read_overview
from dashboard.models import AlertRule, Cluster, Role, Team
from dashboard.wording.numbers import count

from .channel_writes import send_rule_test
from .condition import CLOSING
from .matching import groups_of
from .reads import rules_of
from .refusals import AlertRefusedError
from .rights import cluster_choices, may_rule, must
from .rule_forms import (
    LIMITED,
    OF_GROUPS,
    RuleForm,
    begun,
    initial_of,
)
from .rule_writes import delete_rule, save_rule, switch_rule

NAMED: Final = 5


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR, anywhere=True)
def new(request: HttpRequest, cluster: str) -> HttpResponse:
    """Show a form with the usual values of a kind; save it."""
    found = find_cluster(cluster)
    kind = request.GET.get("kind", "")
    initial = begun(kind if kind in ABOUT else Kind.LAG, found.name)
    initial["groups"] = request.GET.get("groups", "")[:255]
    return _form(request, found, None, initial)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR, anywhere=True)
def change(request: HttpRequest, cluster: str, pk: int) -> HttpResponse:
    """Show a rule's form, or save it."""
    found = find_cluster(cluster)
    rule = get_object_or_404(rules_of(found.name), pk=pk)
    if request.method == "POST":
        # Before the form is read: whoever may not change it learns nothing from that.
        user = user_of(request)
        allowed = may_rule(user, rule.cluster, rule.kind, rule.groups)
        must(allowed, user, Role.ADMIN)
    return _form(request, found, rule, initial_of(rule))


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def switch(request: HttpRequest, cluster: str, pk: int) -> HttpResponse:
    """Switch a rule on or off, and go back to the list."""
    found = find_cluster(cluster)
    rule = get_object_or_404(rules_of(found.name), pk=pk)
    switch_rule(rule, request.POST.get("on") == "on", by=user_of(request))
    return redirect("alerts", found.name)


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def send_test(request: HttpRequest, cluster: str, pk: int) -> HttpResponse:
    """Send a test to the channels of a rule, and go back to its form."""
    found = find_cluster(cluster)
    rule = get_object_or_404(rules_of(found.name), pk=pk)
    try:
        tests = send_rule_test(rule, by=user_of(request))
    except AlertRefusedError as refusal:
        messages.error(request, str(refusal))
    else:
        form = ngettext(
            "A test is sent to %(names)s within a sweep.",
            "Tests are sent to %(names)s within a sweep.",
            len(tests),
        )
        names = ", ".join(each.channel_name for each in tests)
        messages.success(request, form % {"names": names})
    return redirect("alert_rule", found.name, pk)


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def delete(request: HttpRequest, cluster: str, pk: int) -> HttpResponse:
    """Delete a rule; its past alerts stay."""
    found = find_cluster(cluster)
    rule = get_object_or_404(rules_of(found.name), pk=pk)
    delete_rule(rule, by=user_of(request))
    said = _("“%(name)s” is deleted; its past alerts stay.")
    messages.success(request, said % {"name": rule.name})
    return redirect("alerts", found.name)


@require_safe
@requires(Role.VIEWER)
def matching(request: HttpRequest, cluster: str) -> HttpResponse:
    """Say which groups of the cluster match a pattern now."""
    found = find_cluster(cluster)
    given = {n: request.GET.get(n, "")[:255].strip() for n in ("groups", "team")}
    text = matching_text(found.name, given["groups"], given["team"])
    return render(request, "alerts/matching.html", {"text": text})


def matching_text(cluster: str, pattern: str, team: str = "") -> str:
    """Return how many groups of a cluster match a pattern now, with the first names."""
    document = read_overview(cluster).document
    if document is None:
        return _("The groups of this cluster are not known now.")
    found = groups_of(document, pattern, team)
    words = {"n": count(len(found)), "all": count(len(document["groups"]))}
    form = ngettext(
        "%(n)s of %(all)s groups matches now",
        "%(n)s of %(all)s groups match now",
        len(found),
    )
    if not found or not (pattern or team):
        return form % words
    more = ", …" if len(found) > NAMED else ""
    return f"{form % words}: {', '.join(found[:NAMED])}{more}"


def _form(
    request: HttpRequest,
    cluster: Cluster,
    rule: AlertRule | None,
    initial: dict[str, Any],
) -> HttpResponse:
    """Save the submitted form, or show it with the errors beside its fields."""
    sent = request.POST if request.method == "POST" else None
    form = RuleForm(
        sent, initial=initial, clusters=cluster_choices(user_of(request), cluster.name)
    )
    if form.is_valid():
        try:
            saved = save_rule(form.wish, by=user_of(request), rule=rule)
        except AlertRefusedError as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, _("“%(name)s” is saved.") % {"name": saved.name})
            return redirect("alerts", cluster.name)
    wanted = [str(form[name].value() or "").strip() for name in ("groups", "team")]
    context = {
        "cluster": cluster,
        "rule": rule,
        "form": form,
        "teams": Team.objects.seen_by(user_of(request)),
        "matching": matching_text(cluster.name, *wanted),
        "shown_for": {
            "limited": LIMITED,
            "groups": OF_GROUPS,
            "closing": CLOSING,
        },
    }
    status = 422 if form.errors else 200
    return render(request, "alerts/rule.html", context, status=status)
