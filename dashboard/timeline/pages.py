"""The rebalance timeline of a group: lanes, epochs, and the same as tables.

It is also served as a fragment (header `X-Fragment`): to the page itself every few
seconds and, with `panel`, as the smaller picture on the allocation page.
"""

from __future__ import annotations

import time
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires
from dashboard.frame.fragments import render_live
from dashboard.groups.pages import group_context
from dashboard.models import Role

from .reads import DEFAULT_MINUTES, MINUTES, read_timeline

LANES: Final = ("queues", "members")


@require_safe
@requires(Role.VIEWER)
def timeline(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Show who held which queue when."""
    context = group_context(request, cluster, group, "timeline")
    minutes, until, by = read_choice(request.GET.dict())
    now = int(time.time() * 1000)
    found = read_timeline(
        context["cluster"],
        group,
        context["state"],
        now=now,
        minutes=minutes,
        until=until,
        by=by,
    )
    span = minutes * 60_000
    newer = found.window.until + span
    context |= {
        "timeline": found,
        "minutes": minutes,
        "choices": MINUTES,
        "chosen_by": by,
        "until": until,
        "older": found.window.since,
        "newer": newer if until is not None and newer < now else None,
        "panel": "panel" in request.GET,
    }
    return render_live(request, "timeline/page", context)


def read_choice(params: dict[str, Any]) -> tuple[int, int | None, str]:
    """Return minutes, end (ms, None for now) and lanes; invalid values get defaults."""
    minutes, until, by = (params.get(k, "") for k in ("minutes", "until", "by"))
    return (
        int(minutes)
        if minutes.isdecimal() and int(minutes) in MINUTES
        else DEFAULT_MINUTES,
        int(until) if until.isdecimal() and len(until) <= 14 else None,
        by if by in LANES else "",
    )
