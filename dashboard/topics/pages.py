"""The pages of topics: the list, one topic, and what its brokers say on request."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires
from dashboard.brokers.reach import reach_of
from dashboard.frame.clusters import find_cluster
from dashboard.frame.fragments import render_live
from dashboard.frame.not_there import NotThereError
from dashboard.frame.tables import TableQuery, csv_response, page_of
from dashboard.gateway.asking import settings_of
from dashboard.gateway.topic_questions import ask_topic
from dashboard.live.reading import (
    read_brokers,
    read_groups,
    read_overview,
    read_topics,
)
from dashboard.live.topic_documents import TopicRow
from dashboard.models import Role
from rmqcore.errors import RmqError

from .configuration import compared, logical_lines, route_lines
from .export import traffic_csv
from .history import SPANS, NoHistoryError, read_history, span_named
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
from .retention import Keeping, keepings, retention_of
from .table import topics_table
from .totals import totals_of

LINES: Final = 12
"""Groups that are drawn with the owner of each queue, the worst first."""
FRESH_MS: Final = 30_000
"""The age, against the document of topics, up to which a group's document is drawn."""


@require_safe
@requires(Role.VIEWER)
def topics(request: HttpRequest, cluster: str) -> HttpResponseBase:
    context = _context(cluster)
    if document := context["topics"]:
        kept, now_ms = _kept(context["cluster"].name), int(time.time() * 1000)
        table = topics_table(context["cluster"].name, kept, now_ms)
        query = TableQuery.from_params(request.GET.dict(), table)
        context["page"] = page_of(table, document["topics"], query)
        whole = context["reach"] is None or context["reach"].whole
        context["totals"] = totals_of(document["topics"], kept, now_ms, whole=whole)
        if request.GET.get("format") == "csv":
            return csv_response(context["page"], "topics")
    return render_live(request, "topics/topics", context)


@require_safe
@requires(Role.VIEWER)
def topic(request: HttpRequest, cluster: str, topic: str) -> HttpResponse:
    context = _topic_context(cluster, topic, "allocation")
    if context["topics"] and not context["row"]:
        raise NotThereError(
            context["cluster"],
            "topic",
            topic,
            (
                (context["reach"].unsure if context["reach"] else "")
                or _("No broker of this cluster lists it. Names are case-sensitive.")
            )
            + " "
            + _("A topic that was just created is listed within seconds."),
        )
    if row := context["row"]:
        queues = queues_of(row)
        context |= {
            "queues": queues,
            "fits": len(queues) <= COLUMNS,
            "lines": _lines(
                context["cluster"].name, row, queues, context["topics"]["taken_at"]
            ),
            "losses": losses(row),
            "left": retention_of(row, _kept(context["cluster"].name)),
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
            "logical": logical_lines(answers),
        }
    return render(request, "topics/configuration.html", context)


@require_safe
@requires(Role.VIEWER)
def traffic(request: HttpRequest, cluster: str, topic: str) -> HttpResponseBase:
    """Read the lake for one page; it is not read again while the page is open."""
    context = _topic_context(cluster, topic, "traffic") | {"live": False}
    span = span_named(request.GET.get("span"))
    context |= {"spans": SPANS, "span": span}
    name, now_ms = context["cluster"].name, int(time.time() * 1000)
    try:
        context["history"] = read_history(name, topic, span, now_ms)
    except NoHistoryError as error:
        context["failed"] = str(error)
    else:
        if request.GET.get("format") == "csv":
            return traffic_csv(context["history"])
    return render(request, "topics/traffic.html", context)


def _lines(
    cluster: str, row: TopicRow, queues: Sequence[QueueSeen], taken_at: int
) -> list[GroupLine]:
    """Draw the worst groups. A group that is not collected now has an old document."""
    groups = row["groups"][:LINES]
    documents = read_groups(cluster, [each["group"] for each in groups])
    fresh = [
        each if each and each["taken_at"] >= taken_at - FRESH_MS else None
        for each in documents
    ]
    return [
        line_of(each, document, queues, row["topic"])
        for each, document in zip(groups, fresh, strict=True)
    ]


def _topic_context(cluster: str, topic: str, tab: str) -> dict[str, Any]:
    context = _context(cluster)
    rows = context["topics"]["topics"] if context["topics"] else []
    row = next((each for each in rows if each["topic"] == topic), None)
    label = type_label(type_of(row)) if row else ""
    return context | {"topic": topic, "tab": tab, "row": row, "type": label}


def _kept(cluster: str) -> dict[str, Keeping]:
    return keepings(read_brokers(cluster).document)


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
