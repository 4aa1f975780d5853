"""The pages of messages: searching, one message, its body, resending, sending.

What is searched for is in the address. A body is shown in answer to a form, never for
an address alone: opening a link changes no table, and each look is in the audit.
"""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.contrib import messages as notes
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from dashboard.accounts.permissions import allows, requires, user_of
from dashboard.frame.clusters import find_cluster
from dashboard.frame.messages.bodies import view_body
from dashboard.frame.messages.masks import shown_properties
from dashboard.frame.messages.places import Place, place_url
from dashboard.frame.messages.rights import allow_bodies, masks
from dashboard.frame.reasons import MAX_REASON
from dashboard.frame.tables import TableQuery, csv_response, page_of
from dashboard.gateway.message_writes import resent
from dashboard.gateway.messages import ReadMessage
from dashboard.live import overview_rows
from dashboard.live.reading import read_overview
from dashboard.models import Cluster, Role
from rmqcore.errors import RmqError
from rmqcore.model import Message

from .forms import NEEDS, PARAMETERS, PlaceForm, Search, SearchForm, SendForm
from .reads import clients_of, fate_of, read, search
from .rows import message_table
from .traces import line_of
from .writes import (
    MessageGoneError,
    MessageRefusedError,
    consume_again,
    look,
    resend_to_topic,
    send_test,
)

MOST_TOPICS: Final = 2000


@require_safe
@requires(Role.VIEWER)
def messages(request: HttpRequest, cluster: str) -> HttpResponseBase:
    """Search for messages; without a search, show the form."""
    found = find_cluster(cluster)
    asked = request.GET.get("by", "")
    # A tab names a way of searching, and not yet what is searched for.
    is_made = bool(asked) and all(name in request.GET for name in NEEDS.get(asked, ()))
    form = SearchForm(request.GET if is_made else None)
    context: dict[str, Any] = {
        "cluster": found,
        "form": form,
        "by": asked if asked in NEEDS else "key",
        "given": {name: request.GET.get(name, "") for name in PARAMETERS},
        "topics": topics_of(cluster),
        "may_write": allows(request.user, Role.OPERATOR),
    }
    if form.is_valid():
        context |= _results(request, found, Search.of(form.cleaned_data))
        page = context.get("page")
        if page is not None and request.GET.get("format") == "csv":
            return csv_response(page, f"messages-{cluster}")
    return render(request, "messages/search.html", context)


@require_safe
@requires(Role.VIEWER)
def message(request: HttpRequest, cluster: str) -> HttpResponse:
    """Show one message without its body."""
    place = _place(request.GET)
    return _message_page(request, find_cluster(cluster), place)


@never_cache
@require_POST
@requires(Role.VIEWER)
def body(request: HttpRequest, cluster: str) -> HttpResponse:
    """Show one message with its body, and record the look."""
    allow_bodies(user_of(request))
    place = _place(request.POST)
    found = find_cluster(cluster)
    try:
        shown = look(user_of(request), found.name, place)
    except MessageGoneError as error:
        raise Http404(str(error)) from error
    except RmqError as error:
        return _message_page(request, found, place, problem=str(error))
    view = view_body(shown.message, masks())
    return _message_page(request, found, place, shown, body=view)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR)
def resend(request: HttpRequest, cluster: str) -> HttpResponse:
    """Preview what would be sent or consumed once more; a POST does it."""
    found, given = find_cluster(cluster), request.POST or request.GET
    place = _place(given)
    refusal = ""
    if request.method == "POST":
        try:
            return _resend(request, found, place)
        except MessageRefusedError as error:
            refusal = str(error)
        except RmqError as error:
            refusal = str(error)
    context = {
        "refusal": refusal,
        "to": given.get("to", "group"),
        "topic": given.get("topic_to", place.topic),
        "group": given.get("group", ""),
        "reason": request.POST.get("reason", ""),
        "longest_reason": MAX_REASON,
        **_preview(found, place, given.get("group", "")),
    }
    status = 409 if refusal else 200
    return render(request, "messages/resend.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR)
def send(request: HttpRequest, cluster: str) -> HttpResponse:
    """Send a message for trying a topic."""
    found = find_cluster(cluster)
    form = SendForm(request.POST or None, initial={"topic": request.GET.get("topic")})
    refusal = ""
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            made = Message.of(
                given["topic"],
                given["body"].encode(),
                tags=given["tag"],
                keys=given["keys"].split(),
            )
            sent = send_test(user_of(request), found, made, given["reason"])
        except (MessageRefusedError, RmqError) as error:
            refusal = str(error)
        else:
            notes.success(request, _said_sent(sent.unique_key, sent.read_back))
            return redirect(place_url(found.name, sent.place))
    context = {"cluster": found, "form": form, "refusal": refusal}
    context |= {"topics": topics_of(cluster), "longest_reason": MAX_REASON}
    status = 409 if refusal else 200
    return render(request, "messages/send.html", context, status=status)


def topics_of(cluster: str) -> list[str]:
    """Return topics that groups of a cluster consume, for lists to pick from."""
    overview = read_overview(cluster).document
    if overview is None:
        return []
    return overview_rows.topics_of(overview["groups"])[:MOST_TOPICS]


# Private, in order of first use


def _results(request: HttpRequest, cluster: Cluster, asked: Search) -> dict[str, Any]:
    try:
        found = search(cluster.name, asked)
    except RmqError as error:
        return {"problem": str(error)}
    kept = [(name, request.GET[name]) for name in PARAMETERS if request.GET.get(name)]
    table = message_table(cluster.name, masks())
    query = TableQuery.from_params(request.GET.dict(), table, kept)
    page = page_of(table, found.messages, query)
    return {"found": found, "page": page, "asked": asked}


def _place(given: Any) -> Place:
    form = PlaceForm(given)
    if not form.is_valid():
        raise Http404(_("The address names no message: topic, broker, queue, offset."))
    return form.place


def _message_page(
    request: HttpRequest,
    cluster: Cluster,
    place: Place,
    shown: ReadMessage | None = None,
    *,
    problem: str = "",
    body: Any = None,
) -> HttpResponse:
    try:
        shown = shown or (None if problem else read(cluster.name, place))
    except RmqError as error:
        problem = str(error)
    context: dict[str, Any] = {
        "cluster": cluster,
        "place": place,
        "problem": problem,
        "shown": shown,
        "body": body,
        "may_see": user_of(request).may_see_bodies,
        "may_write": allows(request.user, Role.OPERATOR),
    }
    if shown is not None:
        context |= _details(cluster, shown)
    status = 200 if shown or problem else 404
    return render(request, "messages/message.html", context, status=status)


def _details(cluster: Cluster, shown: ReadMessage) -> dict[str, Any]:
    fate = fate_of(cluster.name, shown.message)
    hidden = masks().properties(shown.message.properties)
    return {
        "message": shown.message,
        "properties": sorted(shown_properties(shown.message, masks()).items()),
        "masked": hidden.rules,
        "fate": fate,
        "line": line_of(fate.steps),
        "trace_topic": settings.ROCKETSCOPE_TRACE_TOPIC,
    }


def _resend(request: HttpRequest, cluster: Cluster, place: Place) -> HttpResponse:
    actor, given = user_of(request), request.POST
    reason = given.get("reason", "")
    if given.get("to") == "topic":
        topic = given.get("topic_to", "").strip()
        sent = resend_to_topic(actor, cluster, place, topic, reason)
        notes.success(request, _said_sent(sent.unique_key, sent.read_back))
        return redirect(place_url(cluster.name, sent.place))
    group, client = given.get("group", "").strip(), given.get("client", "").strip()
    done = consume_again(
        actor, cluster, place, group=group, client=client, reason=reason
    )
    said = _("%(client)s answered %(result)s after %(ms)s ms. %(remark)s")
    values = {"client": client, "result": done.result, "ms": done.spent_ms}
    notes.success(request, (said % {**values, "remark": done.remark}).strip())
    return redirect(place_url(cluster.name, place))


def _said_sent(key: str, read_back: bool) -> str:
    if read_back:
        return _("Sent as %(id)s, and read back from its queue.") % {"id": key}
    return _("Sent as %(id)s; it could not be read back yet.") % {"id": key}


def _preview(cluster: Cluster, place: Place, group: str) -> dict[str, Any]:
    """Return what a resend would do, as far as the cluster tells."""
    context: dict[str, Any] = {"cluster": cluster, "place": place}
    try:
        shown = read(cluster.name, place)
        if shown is None:
            return {**context, "problem": _("The message is not there any more.")}
        fate = fate_of(cluster.name, shown.message)
    except RmqError as error:
        return {**context, "problem": str(error)}
    before = shown.message.properties
    after = resent(shown.message, place.topic).properties
    return {
        **context,
        **_clients(cluster, place, group),
        "message": shown.message,
        "left_out": sorted(set(before) - set(after)),
        "groups": [each.group for each in fate.verdicts],
        "verdicts": fate.verdicts,
    }


def _clients(cluster: Cluster, place: Place, group: str) -> dict[str, Any]:
    if not group:
        return {"clients": []}
    try:
        return {"clients": clients_of(cluster.name, place, group)}
    except RmqError as error:
        return {"clients": [], "problem": str(error)}
