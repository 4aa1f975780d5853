"""Pages of reports by name: the form that makes and changes them, run now, delete."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.accounts.permissions import requires, user_of
from dashboard.frame.clusters import shown_clusters
from dashboard.models import JobRun, ReportDefinition, Role
from dashboard.reports.request.refusals import ReportRefusedError

from .definitions import (
    DefinitionFields,
    delete_definition,
    run_definition,
    save_definition,
)
from .forms import DefinitionForm
from .suggestions import suggestions_for
from .writes import CONTENT_FIELDS


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR, anywhere=True)
def new(request: HttpRequest) -> HttpResponse:
    """Show an empty form, or one filled from the report in `from`; save it."""
    if request.method == "POST":
        return _form(request, request.POST)
    return _form(request, None, _begun(request))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR, anywhere=True)
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a definition's form, or save it."""
    definition = _definition(request, pk)
    sent = request.POST if request.method == "POST" else None
    return _form(request, sent, definition)


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def run_now(request: HttpRequest, pk: int) -> HttpResponse:
    """Queue a report of a definition and go to its page."""
    definition = _definition(request, pk)
    try:
        run = run_definition(definition, by=user_of(request))
    except ReportRefusedError as refusal:
        messages.error(request, str(refusal))
        return redirect("reports")
    return redirect("report", run.pk)


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a definition; its reports stay."""
    definition = _definition(request, pk)
    delete_definition(definition, by=user_of(request))
    messages.success(
        request,
        _("“%(name)s” is deleted; its past reports stay.") % {"name": definition.name},
    )
    return redirect("reports")


def _form(
    request: HttpRequest,
    sent: QueryDict | None,
    definition: ReportDefinition | None = None,
) -> HttpResponse:
    """Save the submitted form, or show it with the errors beside its fields."""
    names = [cluster.name for cluster in shown_clusters(request.user)]
    form = DefinitionForm(sent, instance=definition, clusters=names)
    if form.is_valid():
        wish = DefinitionFields.of(form.instance)
        present = form.instance if form.instance.pk else None
        try:
            saved = save_definition(wish, by=user_of(request), definition=present)
        except ReportRefusedError as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, _("“%(name)s” is saved.") % {"name": saved.name})
            return redirect("reports")
    status = 422 if form.errors else 200
    wanted = form["cluster"].value()
    chosen = wanted if wanted in names else next(iter(names), "")
    context = {"form": form, "known": suggestions_for(chosen)}
    return render(request, "reports/definition.html", context, status=status)


def _definition(request: HttpRequest, pk: int) -> ReportDefinition:
    seen = ReportDefinition.objects.seen_by(user_of(request))
    return get_object_or_404(seen, pk=pk)


def _begun(request: HttpRequest) -> ReportDefinition:
    """Return a new form's initial values: those of a run, or a cluster and group."""
    asked, runs = request.GET, JobRun.objects.reports().seen_by(user_of(request))
    begun = ReportDefinition(period="24h")
    pk = asked.get("from", "")
    run = runs.filter(pk=pk).first() if pk.isdecimal() else None
    for name in ("cluster", "group", *CONTENT_FIELDS) if run else ():
        setattr(begun, name, getattr(run, name))
    for name in asked.keys() & {"cluster", "group"}:
        setattr(begun, name, asked[name])
    return begun
