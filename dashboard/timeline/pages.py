"""The rebalance timeline of a group: lanes, epochs, and the same as tables.

It is also served as a fragment (header `X-Fragment`): to the page itself every few
seconds and, with `panel`, as the smaller picture on the allocation page.
"""

from __future__ import annotations

import time

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires
from dashboard.frame.fragments import render_live
from dashboard.groups.pages import group_context
from dashboard.models import Role

from .alerts import alerts_within
from .choice import MINUTES, Choice
from .notes import PAGE_ROOM, PANEL_ROOM
from .reads import read_choice


@require_safe
@requires(Role.VIEWER)
def timeline(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Show who held which queue when."""
    context = group_context(request, cluster, group, "timeline")
    choice = Choice.from_params(request.GET.dict())
    panel = "panel" in request.GET
    now = int(time.time() * 1000)
    room = PANEL_ROOM if panel else PAGE_ROOM
    found = read_choice(
        context["cluster"],
        group,
        context["state"],
        choice,
        now=now,
        room=room,
    )
    newer = found.window.until + choice.minutes * 60_000
    in_past = choice.until is not None
    context |= {
        "timeline": found,
        "choice": choice,
        "minutes": None if choice.since is not None else choice.minutes,
        "choices": MINUTES,
        "older": found.window.since,
        "newer": newer if in_past and newer < now else None,
        "panel": panel,
        "alerted": alerts_within(cluster, group, found.window, room),
    }
    return render_live(request, "timeline/page", context)
