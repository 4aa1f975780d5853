"""Reports by name: the form that makes and changes them, run now, delete."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.accounts.permissions import requires, user_of
from dashboard.models import (
    Grouping,
    JobRun,
    Paper,
    ReportDefinition,
    Role,
)
from dashboard.reports.request.comparisons import (
    MOST_ADDED,
    MOST_COMPARED,
    MOST_VIRTUAL_NODES,
)
from dashboard.reports.request.periods import LAST
from dashboard.reports.writers.formats import FORMATS

from .definitions import delete_definition, run_definition, save_definition
from .forms import (
    added_words,
    clock_of,
    nodes_word,
    read_definition,
    rooms_words,
)
from .writes import ReportRefusedError


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR)
def new(request: HttpRequest) -> HttpResponse:
    """Show an empty form, or one filled from the report in `from`; save it."""
    if request.method == "POST":
        return _saved(request, None)
    return _form(request, None, _values(_source(request), request.GET))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR)
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a definition's form, or save it."""
    definition = get_object_or_404(ReportDefinition, pk=pk)
    if request.method == "POST":
        return _saved(request, definition)
    return _form(request, definition, _values(definition, QueryDict()))


@require_POST
@requires(Role.OPERATOR)
def run_now(request: HttpRequest, pk: int) -> HttpResponse:
    """Queue a report of a definition and go to its page."""
    definition = get_object_or_404(ReportDefinition, pk=pk)
    try:
        run = run_definition(definition, by=user_of(request))
    except ReportRefusedError as refusal:
        messages.error(request, str(refusal))
        return redirect("reports")
    return redirect("report", run.pk)


@require_POST
@requires(Role.OPERATOR)
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a definition; its reports stay."""
    definition = get_object_or_404(ReportDefinition, pk=pk)
    delete_definition(definition, by=user_of(request))
    messages.success(
        request,
        _("“%(name)s” is deleted; its past reports stay.") % {"name": definition.name},
    )
    return redirect("reports")


def _saved(request: HttpRequest, definition: ReportDefinition | None) -> HttpResponse:
    try:
        wish = read_definition(request.POST)
        saved = save_definition(wish, by=user_of(request), definition=definition)
    except ReportRefusedError as refusal:
        values = request.POST.dict() | {"formats": request.POST.getlist("formats")}
        return _form(request, definition, values, error=str(refusal))
    messages.success(request, _("“%(name)s” is saved.") % {"name": saved.name})
    return redirect("reports")


def _form(
    request: HttpRequest,
    definition: ReportDefinition | None,
    values: dict[str, Any],
    error: str = "",
) -> HttpResponse:
    return render(
        request,
        "reports/definition.html",
        {
            "definition": definition,
            "values": values,
            "error": error,
            "periods": {name: label for name, (_span, label) in LAST.items()},
            "groupings": Grouping.choices,
            "papers": Paper.choices,
            "schedules": ReportDefinition.Every.choices,
            "formats": FORMATS.values(),
            "most_compared": MOST_COMPARED,
            "most_added": MOST_ADDED,
            "most_nodes": MOST_VIRTUAL_NODES,
        },
        status=422 if error else 200,
    )


def _source(request: HttpRequest) -> JobRun | None:
    pk = request.GET.get("from", "")
    return JobRun.objects.filter(pk=pk).first() if pk.isdecimal() else None


def _values(
    source: JobRun | ReportDefinition | None, given: QueryDict
) -> dict[str, Any]:
    """Return what the form's fields hold at first."""
    like = source or ReportDefinition()
    values: dict[str, Any] = {
        name: getattr(like, name)
        for name in (
            *("name", "cluster", "group", "topic", "consumer"),
            *("grouping", "formats", "paper"),
        )
    }
    plan = source if isinstance(source, ReportDefinition) else ReportDefinition()
    values |= {
        "added_members": added_words(like.added_members),
        "rooms": rooms_words(like.options),
        "virtual_nodes": nodes_word(like.options),
        "period": plan.period or "24h",
        "every": plan.every,
        "at": clock_of(plan.at_minute),
        "on_day": plan.on_day,
        "keep_days": plan.keep_days,
        "paused": "on" if plan.paused else "",
    }
    return values | {
        name: given[name] for name in ("cluster", "group") if name in given
    }
