"""The page of timers: whether the clock is alive, and whether workers are on time.

It is also served as a fragment (header `X-Fragment`), which its script fetches every
two seconds; the script also shows how old the fragment is.
"""

from __future__ import annotations

import time
from typing import Any, Final

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires
from dashboard.frame.fragments import render_live
from dashboard.frame.outages import refusal_behind
from dashboard.models import Role

from .reads import (
    PERIODS,
    SPANS,
    find_runs,
    read_beat,
    read_workers,
)

ROWS: Final = 40
DEFAULT_SPAN: Final = 10


@require_safe
@requires(Role.VIEWER)
def timers(request: HttpRequest) -> HttpResponse:
    """Show beat's pulse, the strips of every worker, and the newest runs."""
    now, taken_ms = timezone.now(), int(time.time() * 1000)
    minutes = _span(request.GET.get("minutes", ""))
    timer = request.GET.get("timer", "")
    worker = request.GET.get("worker", "")[:255]
    trouble = request.GET.get("only") == "trouble"
    found = find_runs(
        worker=worker, timer=timer if timer in PERIODS else "", trouble=trouble
    )
    workers = read_workers(now, minutes)
    beat = read_beat(now)
    # At its memory limit Redis takes no pulse either; then beat only looks dead.
    context: dict[str, Any] = {
        "refusal": refusal_behind(taken_ms - (beat.age_ms or 0)),
        "live": True,
        "taken_ms": taken_ms,
        "beat": beat,
        "workers": workers,
        "minutes": minutes,
        "spans": SPANS,
        "timers": list(PERIODS),
        "chosen": {"timer": timer, "worker": worker, "trouble": trouble},
        "page": Paginator(found, ROWS).get_page(request.GET.get("page")),
    }
    return render_live(request, "timers/page", context)


def _span(text: str) -> int:
    return int(text) if text.isdecimal() and int(text) in SPANS else DEFAULT_SPAN
