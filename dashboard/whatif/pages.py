"""The what-if page: a group, or an empty sheet, under each strategy, beside now.

The scenario is in the URL, so that a comparison can be linked; it is applied to the
newest document each time the page is opened, and the page says when that was taken. The
results are also served as a fragment (header `X-Fragment`), which the page's script
fetches after each edit.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import allows, requires, user_of
from dashboard.frame.clusters import find_cluster
from dashboard.gateway.assignments import SERVED
from dashboard.groups.pages import group_context
from dashboard.models import (
    ManagedGroup,
    Role,
    SavedScenario,
)
from dashboard.whatif.model.options import PLAIN
from dashboard.wording.words import word
from rmqcore.errors import ArgumentError

from .forms import (
    FormRows,
    first_members,
    form_rows,
    known_scenario,
    new_labels,
    new_members,
)
from .members import heaviest, member_rows, score_rows
from .model import (
    Comparison,
    Scenario,
    Situation,
    Weighing,
    compare,
    comparison_document,
    read_situation,
    to_query,
)
from .reads import (
    BALANCED,
    MOVES_SHOWN,
    ONLY,
    VIEW,
    canonical_query,
    chosen_row,
    read_scenario,
    shown_moves,
    shown_rows,
    worst_balance,
)
from .verification import verify

MEMBERS_SHOWN: Final = 100
LISTED_QUEUES: Final = 500


@require_safe
@requires(Role.VIEWER)
def whatif(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Compare the strategies, or say why they cannot be compared."""
    context = group_context(request, cluster, group, "whatif")
    if state := context["state"]:
        members = state["members"]
        context |= {
            "labels": {m["client_id"]: m["label"] for m in members},
            "slots": {m["client_id"]: m["slot"] for m in members},
            "hosted": ManagedGroup.objects.filter(
                cluster__name=cluster, name=group, leaving=False
            ).first(),
        }
        try:
            situation = read_situation(state)
        except ArgumentError as error:
            context["not_divided"] = str(error)
        else:
            context |= _comparison(request, situation, context["hosted"])
            context["labels"] |= _new_labels(context)
        context |= _saved(request, cluster, group)
    return _answer(request, "whatif/page.html", context)


@require_safe
@requires(Role.VIEWER)
def check(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Compare our division of a group with that of a broker."""
    context = group_context(request, cluster, group, "whatif")
    if state := context["state"]:
        context["verification"] = verify(state, request.GET.get("strategy", "AVG"))
        context["labels"] = {m["client_id"]: m["label"] for m in state["members"]}
    return render(request, "whatif/check.html", context)


@require_safe
@requires(Role.VIEWER)
def sheet(request: HttpRequest, cluster: str) -> HttpResponse:
    """Compare the strategies for a group that does not exist yet."""
    found = find_cluster(cluster)
    situation = Situation(found.name, "", taken_at_ms=int(time.time() * 1000))
    context: dict[str, Any] = {
        "cluster": found,
        "group": "",
        "sheet": True,
        "labels": {},
        "slots": {},
        "page": {"cluster": found.name, "group": "", "token": get_token(request)},
        "state": {"members": []},
    }
    context |= _comparison(request, situation, None)
    context["labels"] = _new_labels(context)
    context |= _saved(request, cluster, "")
    return _answer(request, "whatif/sheet.html", context)


def _answer(
    request: HttpRequest, template: str, context: dict[str, Any]
) -> HttpResponse:
    fragment = bool(request.headers.get("X-Fragment")) and "comparison" in context
    response = render(request, "whatif/results.html" if fragment else template, context)
    response["Vary"] = "X-Fragment, Cookie"
    return response


def _comparison(
    request: HttpRequest, situation: Situation, hosted: ManagedGroup | None
) -> dict[str, Any]:
    scenario, show, refused = Scenario(), "", ""
    added = () if "v" in request.GET else first_members(situation, hosted)
    try:
        scenario, show = read_scenario(request.META.get("QUERY_STRING", ""))
        scenario = replace(scenario, add=(*scenario.add, *added))
        scenario = known_scenario(scenario, hosted, situation)
        comparison = compare(situation, scenario)
    except ArgumentError as error:
        scenario, refused = Scenario(), str(error)
        comparison = compare(situation, scenario)
    chosen = chosen_row(comparison, show)
    rows = shown_rows(comparison, chosen)
    row = next(row for row in rows if row.chosen)
    figured = comparison.row(chosen)
    members = member_rows(comparison, figured)
    form: FormRows = form_rows(comparison)
    return {
        "scenario": scenario,
        "refused": refused,
        "comparison": comparison,
        "compared": rows,
        "chosen": row,
        "query": canonical_query(scenario, chosen if show else ""),
        "chosen_query": canonical_query(scenario, chosen),
        "worst_balance": worst_balance(rows),
        "most_load": max((max(each.loads, default=0.0) for each in rows), default=0.0),
        "capacity": comparison.after.member_rate
        if comparison.columns.weights.is_rate
        else None,
        "moves": shown_moves(row),
        "moves_shown": MOVES_SHOWN,
        "first_members": len(added),
        "view": "moves" if request.GET.get(VIEW) == "moves" else "map",
        "only": "moved" if request.GET.get(ONLY) == "moved" else "all",
        "member_rows": heaviest(members, MEMBERS_SHOWN),
        "members_hidden": max(0, len(members) - MEMBERS_SHOWN),
        "score_rows": score_rows(comparison, figured),
        "form": form,
        "inner_strategies": PLAIN,
        "checked_by_broker": sorted(SERVED),
        "weighings": [(each.value, word("weighing", each.value)) for each in Weighing],
        "balanced_query": _balanced_lists(comparison),
        "adding": new_members(comparison, hosted),
        "document": {**comparison_document(comparison), "chosen": chosen},
    }


def _new_labels(context: dict[str, Any]) -> dict[str, str]:
    """Return labels of members that a scenario adds; whole ids where labels collide."""
    present = context["labels"]
    return new_labels(context["comparison"].after.members, present)


def _balanced_lists(comparison: Comparison) -> str:
    """Return the scenario with the balanced plan as its lists, if a link can hold it.

    Lists cannot name a member whose client id is empty.
    """
    plan = comparison.row(BALANCED).plan
    if plan is None or len(plan.by_queue) > LISTED_QUEUES or not all(plan.by_client):
        return ""
    config = tuple((each, tuple(queues)) for each, queues in plan.by_client.items())
    return to_query(replace(comparison.scenario, strategy="CONFIG", config=config))


def _saved(request: HttpRequest, cluster: str, group: str) -> dict[str, Any]:
    saved = SavedScenario.objects.seen_by(user_of(request)).filter(
        cluster__name=cluster, group=group
    )
    opened = request.GET.get("saved", "")
    known = saved.filter(pk=int(opened)).first() if _is_key(opened) else None
    return {
        "saved_scenarios": [
            (each, each.may_change(user_of(request))) for each in saved
        ],
        "opened": known,
        "may_save": allows(user_of(request), Role.OPERATOR),
    }


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 16
