"""The what-if page: one group under each strategy, held against now.

The scenario is the address, so that a comparison can be linked; it is laid over the
newest document each time the page is opened, and the page says when that was taken.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires
from dashboard.live.documents import GroupState
from dashboard.models import Role
from dashboard.selectors.whatif import (
    MOVES_SHOWN,
    chosen_row,
    read_scenario,
    shown_moves,
    shown_rows,
    worst_balance,
)
from dashboard.whatif import Scenario, compare, comparison_document, read_situation
from rmqcore.errors import ArgumentError

from .groups import group_context


@require_safe
@requires(Role.VIEWER)
def whatif(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Compare the strategies; what cannot be compared is said in its place."""
    context = group_context(request, cluster, group, "whatif")
    if state := context["state"]:
        context |= _comparison(state, request.META.get("QUERY_STRING", ""))
    return render(request, "groups/whatif.html", context)


def _comparison(state: GroupState, query: str) -> dict[str, Any]:
    scenario, show, refused = Scenario(), "", ""
    try:
        situation = read_situation(state)
    except ArgumentError as error:
        return {"not_divided": str(error)}
    try:
        scenario, show = read_scenario(query)
        comparison = compare(situation, scenario)
    except ArgumentError as error:
        scenario, refused = Scenario(), str(error)
        comparison = compare(situation, scenario)
    chosen = chosen_row(comparison, show)
    rows = shown_rows(comparison, chosen)
    row = next(row for row in rows if row.chosen)
    return {
        "scenario": scenario,
        "refused": refused,
        "comparison": comparison,
        "compared": rows,
        "chosen": row,
        "worst_balance": worst_balance(rows),
        "moves": shown_moves(row),
        "moves_shown": MOVES_SHOWN,
        "labels": {m["client_id"]: m["label"] for m in state["members"]},
        "slots": {m["client_id"]: m["slot"] for m in state["members"]},
        "document": {**comparison_document(comparison), "chosen": chosen},
    }
