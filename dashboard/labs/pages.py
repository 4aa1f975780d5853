"""The pages of labs: the list of labs, and one run, shown while it is played.

Both are also served as a fragment (header `X-Fragment`), which their script fetches
when the socket reports that a run has progressed. Everybody who is signed in may watch;
only operators may start or cancel a lab.
"""

from __future__ import annotations

import time
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dashboard.accounts.permissions import requires, user_of
from dashboard.frame.fragments import render_live
from dashboard.gateway.embedded import embedded_state
from dashboard.models import LabRun, Role

from .reads import embedded_cluster, lab_rows, shown_run, themes_of
from .writes import LabRefusedError, cancel_lab, start_lab

LONGEST_NUMBER = 9


@require_safe
@requires(Role.VIEWER)
def labs(request: HttpRequest) -> HttpResponse:
    """List every lab with its last run."""
    user, cluster = user_of(request), embedded_cluster()
    if cluster is not None:
        user = user.at(cluster.name)
        cluster = cluster if user.allows(Role.VIEWER) else None
    return _shown(
        request,
        "labs/list",
        {
            "cluster": cluster,
            "themes": themes_of(lab_rows(cluster, timezone.now())),
            "may_run": cluster is not None and user.allows(Role.OPERATOR),
            "may_operate": user.allows(Role.OPERATOR),
            "embedded": embedded_state(),
        },
    )


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def start(request: HttpRequest, lab: str) -> HttpResponse:
    """Start a lab and go to its run; errors are shown on the list."""
    cluster = embedded_cluster()
    if cluster is None:
        raise Http404(_("No embedded cluster is configured, so no lab can be played."))
    try:
        run = start_lab(
            user_of(request),
            cluster,
            lab,
            parameters=_parameters(request),
            linger_s=_linger(request),
        )
    except LabRefusedError as refusal:
        messages.error(request, str(refusal))
        return redirect("labs")
    return redirect("lab_run", run.pk)


@require_safe
@requires(Role.VIEWER)
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one run as far as it has come."""
    found = _known(request, pk)
    return _shown(
        request,
        "labs/run",
        {
            "cluster": found.cluster,
            "shown": shown_run(found, timezone.now()),
            "may_run": user_of(request).at(found.cluster.name).allows(Role.OPERATOR),
        },
    )


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask a run to end."""
    found = _known(request, pk)
    cancel_lab(user_of(request), found)
    return redirect("lab_run", pk)


def _known(request: HttpRequest, pk: int) -> LabRun:
    runs = LabRun.objects.seen_by(user_of(request)).select_related("cluster")
    return get_object_or_404(runs, pk=pk)


def _shown(request: HttpRequest, page: str, context: dict[str, Any]) -> HttpResponse:
    context |= {"live": True, "taken_ms": int(time.time() * 1000)}
    return render_live(request, page, context)


def _parameters(request: HttpRequest) -> dict[str, int]:
    """Read the lab's parameters; an empty field leaves the lab's default."""
    found: dict[str, int] = {}
    for key, value in request.POST.items():
        name, text = key.removeprefix("p-"), str(value).strip()
        if name == key or not text:
            continue
        if not text.isdecimal() or len(text) > LONGEST_NUMBER:
            raise LabRefusedError(
                _("%(name)s is “%(value)s”, expected a whole number.")
                % {"name": name[:40], "value": text[:40]}
            )
        found[name] = int(text)
    return found


def _linger(request: HttpRequest) -> float:
    text = request.POST.get("linger", "").strip() or "0"
    try:
        return float(text)
    except ValueError:
        raise LabRefusedError(
            _("%(name)s is “%(value)s”, expected a number of seconds.")
            % {"name": "linger", "value": text[:40]}
        ) from None
