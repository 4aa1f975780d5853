"""The live tail of a topic: a page, and the route that it asks each second.

The server remembers nothing between two questions: the page sends back the offsets up
to which it has seen each queue. Bodies are never sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires
from dashboard.frame.clusters import find_cluster
from dashboard.frame.messages.masks import Masks, shown_properties
from dashboard.frame.messages.moments import exact
from dashboard.frame.messages.places import message_url
from dashboard.frame.messages.rights import masks
from dashboard.gateway.asking import settings_of
from dashboard.gateway.message_tail import MOST_ROWS, TailStep
from dashboard.gateway.message_tail import tail as take_step
from dashboard.models import Role
from dashboard.wording import sizes
from rmqcore.errors import RmqError
from rmqcore.model import MessageExt, MessageQueue

from .forms import LONGEST_NAME, MOST_OFFSET
from .pages import topics_of

MOST_QUEUES: Final = 2000
MOST_LETTERS: Final = 200
"""Of keys and tag, in one row."""


@require_safe
@requires(Role.VIEWER)
def tail(request: HttpRequest, cluster: str) -> HttpResponse:
    """Show the newest messages of a topic as they come."""
    context = {
        "cluster": find_cluster(cluster),
        "topic": request.GET.get("topic", "")[:LONGEST_NAME],
        "tag": request.GET.get("tag", "")[:LONGEST_NAME],
        "text": request.GET.get("text", "")[:LONGEST_NAME],
        "topics": topics_of(cluster),
        "most": MOST_ROWS,
    }
    return render(request, "messages/tail.html", context)


@never_cache
@require_safe
@requires(Role.VIEWER)
def step(request: HttpRequest, cluster: str) -> JsonResponse:
    """Return what has come since the offsets in the address, as JSON."""
    found, given = find_cluster(cluster), request.GET
    topic = given.get("topic", "")[:LONGEST_NAME]
    try:
        offsets = offsets_of(topic, given.get("offsets", ""))
    except ValueError as error:
        return JsonResponse({"detail": str(error)}, status=422)
    if not topic:
        return JsonResponse({"detail": _("A topic is needed.")}, status=422)
    tag = given.get("tag", "")[:LONGEST_NAME]
    try:
        taken = take_step(settings_of(found.name), topic, offsets, tag=tag)
    except RmqError as error:
        return JsonResponse({"detail": str(error)}, status=424)
    return JsonResponse(_answer(found.name, taken, given.get("text", "").casefold()))


def offsets_of(topic: str, text: str) -> dict[MessageQueue, int]:
    """Read offsets from `broker:queue:offset`, separated by commas.

    Raise ValueError, which names the part, for anything else.
    """
    parts = [part for part in text.split(",") if part]
    if len(parts) > MOST_QUEUES:
        raise ValueError(f"{len(parts)} queues, at most {MOST_QUEUES} are followed")
    offsets: dict[MessageQueue, int] = {}
    for part in parts:
        broker, _colon, rest = part.rpartition(":")[0].rpartition(":")
        number = part.rpartition(":")[2]
        if not (broker and rest.isdecimal() and number.isdecimal()):
            raise ValueError(f"{part[:80]!r} is not broker:queue:offset")
        if int(number) > MOST_OFFSET or len(rest) > 6:
            raise ValueError(f"{part[:80]!r} is beyond any queue")
        offsets[MessageQueue(topic, broker, int(rest))] = int(number)
    return offsets


def _answer(cluster: str, taken: TailStep, text: str) -> Mapping[str, Any]:
    hidden = masks()
    rows = [_row(cluster, message, hidden) for message in taken.messages]
    kept = [row for row in rows if text in _words(row)] if text else rows
    return {
        "rows": kept,
        "filtered": len(rows) - len(kept),
        "skipped": taken.skipped,
        "failed": dict(taken.failed),
        "offsets": ",".join(
            f"{queue.broker_name}:{queue.queue_id}:{offset}"
            for queue, offset in taken.offsets.items()
        ),
    }


def _row(cluster: str, message: MessageExt, hidden: Masks) -> dict[str, str]:
    shown = shown_properties(message, hidden)
    return {
        "url": message_url(cluster, message),
        "stored": exact(message.store_timestamp),
        "queue": f"{message.broker_name} / {message.queue_id}",
        "offset": f"{message.queue_offset:,}",
        "keys": _cut(shown.get("KEYS", "")),
        "tag": _cut(shown.get("TAGS", "")),
        "size": sizes.size(len(message.body)),
        "id": message.msg_id,
    }


def _cut(text: str) -> str:
    """Keys may have 32 kB: an answer with many rows must stay small."""
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"


def _words(row: Mapping[str, str]) -> str:
    return " ".join((row["keys"], row["tag"], row["id"])).casefold()
