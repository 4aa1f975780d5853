"""The pages of topics: the list, one topic, and what its brokers say on request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires
from dashboard.brokers.reach import reach_of
from dashboard.frame.clusters import find_cluster
from dashboard.frame.fragments import render_live
from dashboard.frame.tables import TableQuery, csv_response, page_of
from dashboard.gateway.asking import settings_of
from dashboard.gateway.topic_questions import ask_topic
from dashboard.live.reading import read_overview, read_topics
from dashboard.live.state import live_state
from dashboard.live.topic_documents import TopicRow
from dashboard.models import Role
from rmqcore.errors import RmqError

from .configuration import compared, route_lines
from .reads import (
    COLUMNS,
    GroupLine,
    QueueSeen,
    line_of,
    losses,
    queues_of,
    type_label,
    type_of,
)
from .table import topics_table

LINES: Final = 12
"""Groups that are drawn with the owner of each queue, the worst first."""
FRESH_MS: Final = 30_000
"""The age, against the document of topics, up to which a group's document is drawn."""


@require_safe
@requires(Role.VIEWER)
def topics(request: HttpRequest, cluster: str) -> HttpResponseBase:
    context = _context(cluster)
    if document := context["topics"]:
        table = topics_table(context["cluster"].name)
        query = TableQuery.from_params(request.GET.dict(), table)
        context["page"] = page_of(table, document["topics"], query)
        if request.GET.get("format") == "csv":
            return csv_response(context["page"], "topics")
    return render_live(request, "topics/topics", context)


@require_safe
@requires(Role.VIEWER)
def topic(request: HttpRequest, cluster: str, topic: str) -> HttpResponse:
    context = _topic_context(cluster, topic, "allocation")
    if row := context["row"]:
        queues = queues_of(row)
        context |= {
            "queues": queues,
            "fits": len(queues) <= COLUMNS,
            "lines": _lines(
                context["cluster"].name, row, queues, context["topics"]["taken_at"]
            ),
            "losses": losses(row),
        }
    return render_live(request, "topics/topic", context)


@require_safe
@requires(Role.VIEWER)
def configuration(request: HttpRequest, cluster: str, topic: str) -> HttpResponse:
    """Ask the cluster itself: nothing of this is collected."""
    context = _topic_context(cluster, topic, "configuration") | {"live": False}
    try:
        answers = ask_topic(settings_of(context["cluster"].name), topic)
    except RmqError as error:
        context["failed"] = str(error)
    else:
        context |= {
            "answers": answers,
            "settings": compared(answers),
            "route": route_lines(answers),
        }
    return render(request, "topics/configuration.html", context)


def _lines(
    cluster: str, row: TopicRow, queues: Sequence[QueueSeen], taken_at: int
) -> list[GroupLine]:
    """Draw the worst groups. A group that is not collected now has an old document."""
    state, lines = live_state(), []
    for each in row["groups"][:LINES]:
        document = state.group(cluster, each["group"])
        if document is not None and document["taken_at"] < taken_at - FRESH_MS:
            document = None
        lines.append(line_of(each, document, queues, row["topic"]))
    return lines


def _topic_context(cluster: str, topic: str, tab: str) -> dict[str, Any]:
    context = _context(cluster)
    rows = context["topics"]["topics"] if context["topics"] else []
    row = next((each for each in rows if each["topic"] == topic), None)
    label = type_label(type_of(row)) if row else ""
    return context | {"topic": topic, "tab": tab, "row": row, "type": label}


def _context(cluster: str) -> dict[str, Any]:
    found = find_cluster(cluster)
    reading, overview = read_topics(found.name), read_overview(found.name)
    return {
        "cluster": found,
        "problem": reading.problem,
        "topics": reading.document,
        "overview": overview.document,
        "reach": reach_of(overview.document) if overview.document else None,
        "live": True,
    }
