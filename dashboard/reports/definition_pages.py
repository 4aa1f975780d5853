"""Pages of reports by name: the form that makes and changes them, run now, delete."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.accounts.permissions import requires, user_of
from dashboard.frame.clusters import configured_clusters
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
@requires(Role.OPERATOR)
def new(request: HttpRequest) -> HttpResponse:
    """Show an empty form, or one filled from the report in `from`; save it."""
    if request.method == "POST":
        return _form(request, DefinitionForm(request.POST))
    return _form(request, DefinitionForm(instance=_begun(request.GET)))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR)
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a definition's form, or save it."""
    definition = get_object_or_404(ReportDefinition, pk=pk)
    sent = request.POST if request.method == "POST" else None
    return _form(request, DefinitionForm(sent, instance=definition))


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


def _form(request: HttpRequest, form: DefinitionForm) -> HttpResponse:
    """Save the submitted form, or show it with the errors beside its fields."""
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
    names = [cluster.name for cluster in configured_clusters()]
    wanted = form["cluster"].value()
    chosen = wanted if wanted in names else next(iter(names), "")
    context = {"form": form, "known": suggestions_for(chosen)}
    return render(request, "reports/definition.html", context, status=status)


def _begun(asked: QueryDict) -> ReportDefinition:
    """Return a new form's initial values: those of a run, or a cluster and group."""
    begun = ReportDefinition(period="24h")
    pk = asked.get("from", "")
    run = JobRun.objects.filter(pk=pk).first() if pk.isdecimal() else None
    for name in ("cluster", "group", *CONTENT_FIELDS) if run else ():
        setattr(begun, name, getattr(run, name))
    for name in asked.keys() & {"cluster", "group"}:
        setattr(begun, name, asked[name])
    return begun
