"""The pages of trials: a form that asks for one, and what came of it.

What came of it is also served as a fragment (header `X-Fragment`), which other pages
include and their script fetches again until the trial has ended.
"""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from dashboard.accounts.permissions import requires, user_of
from dashboard.frame.clusters import find_cluster
from dashboard.frame.fragments import render_live
from dashboard.models import Role
from dashboard.reports.request.refusals import ReportRefusedError
from dashboard.reports.words import phase_word

from .condition import CLOSING
from .refusals import AlertRefusedError
from .trial_form import TrialForm
from .trials import read_trial, start_trial, trials_seen_by

_FIELDS: Final = {
    "pattern": "groups",
    "since": "span",
    "until": "span",
    "hold_ms": "hold",
    "clear_ms": "clear",
}
"""The fields of the form behind those of a trial."""


@require_safe
@requires(Role.VIEWER)
def new_trial(request: HttpRequest, cluster: str) -> HttpResponse:
    """Show the form."""
    begun = {"limit": "100,000", "hold": "1 min", "clear": "1 min"}
    return _form(request, cluster, TrialForm(initial=begun))


@require_POST
@requires(Role.VIEWER)
def try_rule(request: HttpRequest, cluster: str) -> HttpResponse:
    """Queue a trial and go to its page; refusals are shown beside the form."""
    name = find_cluster(cluster).name
    form = TrialForm(request.POST)
    if not form.is_valid():
        return _form(request, cluster, form)
    try:
        run = start_trial(user_of(request), form.wish(name))
    except (AlertRefusedError, ReportRefusedError) as refusal:
        field = _FIELDS.get(refusal.field, refusal.field)
        form.add_error(field if field in form.fields else None, str(refusal))
        return _form(request, cluster, form)
    return redirect("alert_trial", name, run.pk)


@require_safe
@requires(Role.VIEWER)
def trial(request: HttpRequest, cluster: str, trial_id: int) -> HttpResponse:
    """Show the progress of a trial, or what it found."""
    found = find_cluster(cluster)
    run = get_object_or_404(trials_seen_by(user_of(request), found.name), pk=trial_id)
    context: dict[str, Any] = {
        "cluster": found,
        "run": run,
        "trial": read_trial(run),
        "phase": phase_word(run),
    }
    return render_live(request, "alerts/trial", context)


def _form(request: HttpRequest, cluster: str, form: TrialForm) -> HttpResponse:
    return render(
        request,
        "alerts/new_trial.html",
        {
            "cluster": find_cluster(cluster),
            "form": form,
            "closing": CLOSING,
        },
        status=422 if form.errors else 200,
    )
