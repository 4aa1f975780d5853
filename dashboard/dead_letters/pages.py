"""A group's dead letters and retries: looking at them changes nothing.

What is looked at is in the address. Bodies leave only in answer to a form, and each
time is in the audit.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dashboard.accounts.permissions import allows, requires, user_of
from dashboard.frame.clusters import find_cluster
from dashboard.frame.fragments import render_live
from dashboard.frame.messages.rights import allow_bodies, masks
from dashboard.frame.tables import TablePage, TableQuery, csv_response, page_of
from dashboard.gateway.asking import settings_of
from dashboard.gateway.dead_letters import DeadLetter, DeadLetters
from dashboard.gateway.resending import Letter, read_bodies
from dashboard.groups.pages import group_context
from dashboard.live.reading import read_overview
from dashboard.models import Cluster, Role
from rmqcore.errors import RmqError
from rmqcore.model.topic import dead_letter_topic

from .export import NAME, json_lines
from .forms import LASTS, Asked
from .levels import rows_of
from .reads import (
    all_runs_of,
    causes_of,
    letters_of,
    levels_of,
    marks_of,
    runs_of,
    traffic_of,
)
from .table import CHOICE_FORM, letter_table
from .writes import note_export

MOST_BODIES = 500
"""Dead letters whose bodies are exported at once, the first of the table."""


@require_safe
@requires(Role.VIEWER)
def dead_letters(request: HttpRequest, cluster: str, group: str) -> HttpResponseBase:
    """List the dead letters of a span, newest first."""
    context = _context(request, cluster, group, "letters")
    now_ms = now()
    asked = Asked.of(request.GET, now_ms)
    context |= {"asked": asked, "lasts": list(LASTS), "choice_form": CHOICE_FORM}
    try:
        found = letters_of(cluster, group, asked.span, now_ms)
    except RmqError as error:
        context["failed"] = str(error)
        return render_live(request, "dead_letters/letters", context)
    here, params = context["cluster"], request.GET.dict()
    choose = context["may_resend"] and not here.why_read_only
    page = page_of_letters(here, group, found, params, asked, choose=choose)
    if request.GET.get("format") == "csv":
        return csv_response(page, NAME)
    if request.GET.get("format") == "jsonl":
        marks = marks_of(cluster, page.chosen)
        return json_lines(page.chosen, masks(), marks)
    hidden = masks()
    context |= {
        "found": found,
        "page_list": page,
        "newest_ago": None if found.newest_ms is None else now_ms - found.newest_ms,
        "openings": openings_of(here, group, found),
        "causes": causes_of(found.letters, hidden),
        "pinned": asked.pinned(now_ms),
        "chosen_pairs": page.query.pairs(sort="", columns=(), kept=()),
        "most_bodies": MOST_BODIES,
        "may_see": user_of(request).may_see_bodies,
    }
    return render_live(request, "dead_letters/letters", context)


@never_cache
@require_POST
@requires(Role.VIEWER)
def bodies(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Export what the table shows with bodies; each time is recorded."""
    actor = user_of(request)
    allow_bodies(actor)
    found = find_cluster(cluster)
    asked = Asked.of(request.POST, now())
    if asked.problem:
        return HttpResponse(asked.problem, status=409, content_type="text/plain")
    try:
        letters = letters_of(found.name, group, asked.span, now())
        page = page_of_letters(found, group, letters, request.POST.dict(), asked)
        chosen = page.chosen[:MOST_BODIES]
        # The entry comes first: nothing is shown that is not recorded.
        note_export(actor, found.name, group, chosen)
        places = [_place(each) for each in chosen]
        read = read_bodies(settings_of(found.name), group, places)
    except RmqError as error:
        return HttpResponse(str(error), status=409, content_type="text/plain")
    return json_lines(chosen, masks(), marks_of(found.name, chosen), read)


@require_safe
@requires(Role.VIEWER)
def retries(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Show what waits to be tried again; the levels are read once for each page."""
    context = _context(request, cluster, group, "retries")
    if not request.headers.get("X-Fragment"):
        now_ms = now()
        context["read_at"] = now_ms
        try:
            levels = levels_of(cluster, group, now_ms)
        except RmqError as error:
            context["failed"] = str(error)
        else:
            context |= {"levels": levels, "rows": rows_of(levels, now_ms)}
    return render_live(request, "dead_letters/retries", context)


def page_of_letters(
    cluster: Cluster,
    group: str,
    found: DeadLetters,
    params: dict[str, Any],
    asked: Asked,
    *,
    choose: bool = False,
) -> TablePage[DeadLetter]:
    """Return the page of the table that an address asks for."""
    marks = marks_of(cluster.name, found.letters)
    table = letter_table(cluster, group, masks(), marks, choose=choose)
    query = TableQuery.from_params(params, table, asked.kept)
    return page_of(table, found.letters, query)


def openings_of(
    cluster: Cluster, group: str, found: DeadLetters
) -> Sequence[tuple[str, str]]:
    """Return brokers whose letters may only be written, and what opens them."""
    ends = ["-t", dead_letter_topic(group), "-p", "6"]
    ends += ["-n", ";".join(cluster.name_servers)]
    return [
        (broker, shlex.join(["mqadmin", "updateTopicPerm", "-b", address, *ends]))
        for broker, address in sorted(found.write_only.items())
    ]


def now() -> int:
    """Return the time in ms since the epoch."""
    return round(time.time() * 1000)


def _place(letter: DeadLetter) -> Letter:
    at = letter.message
    return Letter(at.broker_name, at.queue_id, at.queue_offset, letter.id)


def _context(
    request: HttpRequest, cluster: str, group: str, view: str
) -> dict[str, Any]:
    context = group_context(request, cluster, group, "dead_letters")
    name = context["cluster"].name
    return context | {
        "view": view,
        "live_list": True,
        "overview": read_overview(name).document,
        "traffic": traffic_of(name, group),
        "runs": runs_of(name, group),
        "all_runs": all_runs_of(name, group).count(),
        "may_resend": allows(request.user, Role.OPERATOR),
    }
