"""Pages that preview a move of a group's offsets, make it, and show its effect.

The address of the preview describes the whole move, so that it can be sent to a
colleague. Opening it asks the cluster and changes nothing.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dashboard.accounts.permissions import allows, requires, user_of
from dashboard.frame.clusters import find_cluster
from dashboard.frame.reasons import MAX_REASON
from dashboard.groups.pages import group_context
from dashboard.live.reading import read_group
from dashboard.models import Cluster, Role
from rmqcore.errors import RmqError

from .asked import pinned, preset_of
from .commands import mqadmin_lines
from .drawing import legend_of, rows_of
from .export import csv_of
from .reads import Preview, change_of, changes_of, preview_of, topics_of
from .said import headline, sums
from .standing import counted, outcomes_of
from .wanted import Wanted
from .writes import OffsetsError, move, read_back

FOLLOWED = timedelta(minutes=10)
"""So long a page shows what becomes of a move; members react within seconds."""
ROWS_SHOWN = 400
LINES_SHOWN = 20


@require_safe
@requires(Role.VIEWER)
def offsets(
    request: HttpRequest, cluster: str, group: str
) -> HttpResponse | StreamingHttpResponse:
    """Ask where to move offsets; if the address says so, show what it would do."""
    query = request.META.get("QUERY_STRING", "")
    if (canonical := pinned(query)) != query:
        return redirect(f"{request.path}?{canonical}")
    if request.GET.get("format") == "csv" and request.GET.get("to"):
        found = find_cluster(cluster)
        state = read_group(found.name, group).document
        try:
            preview = preview_of(found.name, group, Wanted.from_query(query), state)
        except RmqError as error:
            return HttpResponse(str(error), status=409, content_type="text/plain")
        return csv_of(preview.plan, group)
    return _page(request, cluster, group, query)


@require_POST
@requires(Role.OPERATOR)
def apply(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Make the move that was previewed; a refusal is shown on the same page."""
    found = find_cluster(cluster)
    fields = request.POST
    query, reason = fields.get("query", ""), fields.get("reason", "")
    try:
        change = move(
            user_of(request),
            found,
            group,
            Wanted.from_query(query),
            token=fields.get("token", ""),
            reason=reason,
            confirm=fields.get("confirm", ""),
            state=read_group(found.name, group).document,
        )
    except (OffsetsError, RmqError) as error:
        extra = {"refusal": str(error), "reason": reason}
        return _page(request, cluster, group, query, status=409, **extra)
    return redirect("group_offsets_change", found.name, group, change.pk)


@require_safe
@requires(Role.VIEWER)
def change(request: HttpRequest, cluster: str, group: str, pk: int) -> HttpResponse:
    """Show a move that was made, and the offsets now, queue by queue."""
    context = _context(request, cluster, group)
    found = change_of(cluster, group, pk)
    if found is None:
        raise Http404(
            _("There is no move %(pk)s of this group; moves are kept for 30 days.")
            % {"pk": pk}
        )
    outcomes = outcomes_of(found.rows, read_back(found))
    undo = Wanted("undo", found.topic, undo_of=found.pk)
    context |= {
        "change": found,
        "outcomes": outcomes[:ROWS_SHOWN],
        "hidden": max(0, len(outcomes) - ROWS_SHOWN),
        "counted": counted(outcomes),
        "where": headline(Wanted.from_query(found.query)),
        "undo_query": undo.query,
        "followed": timezone.now() - found.at < FOLLOWED,
    }
    fragment = bool(request.headers.get("X-Fragment"))
    name = "offsets/outcome.html" if fragment else "offsets/change.html"
    response = render(request, name, context)
    response["Vary"] = "X-Fragment, Cookie"
    return response


def _page(
    request: HttpRequest,
    cluster: str,
    group: str,
    query: str,
    *,
    status: int = 200,
    **extra: Any,
) -> HttpResponse:
    context = _context(request, cluster, group, must_be_listed=not query)
    state = context["state"]
    asked = dict(parse_qsl(query))
    topics = topics_of(state)
    if (topic := asked.get("topic", "")) and topic not in topics:
        topics.append(topic)
    moves, all_moves = changes_of(cluster, group)
    context |= {
        "asked": asked,
        "topics": topics,
        "topic": topic or (topics[0] if topics else ""),
        "presets": preset_of(topic or (topics[0] if topics else "")),
        "changes": moves,
        "all_changes": all_moves,
        "query": query,
        "longest_reason": MAX_REASON,
        **extra,
    }
    if asked.get("to"):
        try:
            wanted = Wanted.from_query(query)
            preview = preview_of(cluster, group, wanted, state)
            context |= _previewed(context["cluster"], group, preview, state)
        except RmqError as error:
            context["problem_said"] = str(error)
    return render(request, "offsets/offsets.html", context, status=status)


def _previewed(
    cluster: Cluster, group: str, preview: Preview, state: Any
) -> dict[str, Any]:
    plan = preview.plan
    lines = mqadmin_lines(plan, preview.standing, group, cluster.name_servers)
    chosen = plan.wanted.queues
    return {
        "preview": preview,
        "plan": plan,
        "wanted": plan.wanted,
        "sums": sums(preview, state),
        "where": headline(plan.wanted),
        "rows": rows_of(plan, ROWS_SHOWN),
        "hidden": max(0, len(plan.rows) - ROWS_SHOWN),
        "legend": legend_of(plan),
        "lines": lines[:LINES_SHOWN],
        "lines_hidden": max(0, len(lines) - LINES_SHOWN),
        "queues": [
            (place.key, not chosen or place.key in chosen)
            for place in preview.standing.places
        ],
        "all_queues": not chosen,
        "csv": urlencode([*parse_qsl(plan.wanted.query), ("format", "csv")]),
    }


def _context(
    request: HttpRequest, cluster: str, group: str, *, must_be_listed: bool = False
) -> dict[str, Any]:
    context = group_context(
        request, cluster, group, "offsets", must_be_listed=must_be_listed
    )
    context["may_move"] = allows(request.user, Role.OPERATOR)
    return context
