"""Reports: asking for one, following it, reading and downloading it.

Everybody who is signed in may read; running or cancelling a report requires the role of
an operator, since it takes the machine's time. Downloads are streamed, and files are
made by a process of their own (`making`).
"""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
)
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from analytics import contracts as c
from dashboard.accounts.permissions import requires, user_of
from dashboard.frame.clusters import find_cluster, shown_clusters
from dashboard.models import Alert, JobRun, ReportDefinition, Role
from dashboard.reports.data.alerts import alerts_of
from dashboard.reports.data.facts import facts_of, worst_groups
from dashboard.reports.data.headline import headline
from dashboard.reports.data.results import NoResultError, has_table
from dashboard.reports.data.series import (
    member_strategies,
    member_strategy,
    shown_grouping,
)
from dashboard.reports.data.stats import holes_text, stats_of
from dashboard.reports.data.strategies import strategy_rows
from dashboard.reports.data.tables import TABLES
from dashboard.reports.data.twins import twin_of
from dashboard.reports.data.verdict import verdict_of
from dashboard.reports.data.view import (
    ViewError,
    names_in,
    report_for,
    view_query,
)
from dashboard.reports.figures.captions import heat_part, members_part, worst_part
from dashboard.reports.figures.gallery import figure_names
from dashboard.reports.figures.window import (
    WindowError,
    read_window,
    shown_figure,
)
from dashboard.reports.request.periods import (
    CUSTOM,
    DEFAULT,
    read_period,
    span_of,
)
from dashboard.reports.request.refusals import ReportRefusedError
from dashboard.reports.writers.formats import FORMATS
from dashboard.wording.zones import zone_label

from .downloads import download_of, kept_download
from .forms import RunForm
from .making import NotMadeError
from .report import Report
from .suggestions import suggestions_for
from .words import (
    GROUPINGS,
    PAPERS,
    over_time_word,
    phase_word,
    state_word,
    step_word,
    title_of,
)
from .writes import (
    Content,
    cancel_report,
    delete_report,
    may_report,
    start_ahead,
    start_report,
)

PAGE_ROWS: Final = 50
MINUTE: Final = "%Y-%m-%dT%H:%M"
"""A local time as a field of the browser takes it."""

_BESIDE: Final = 5


@require_safe
@requires(Role.VIEWER)
def reports(request: HttpRequest) -> HttpResponse:
    """List the runs, newest first, under the form that asks for a new one."""
    asked = request.GET
    begun = {name: asked[name] for name in asked.keys() & {"cluster", "group"}}
    begun |= {name: asked[name][:16] for name in asked.keys() & {"since", "until"}}
    begun["period"] = CUSTOM if "since" in asked else DEFAULT
    local = timezone.localtime()
    begun.setdefault("since", f"{local - span_of(DEFAULT):{MINUTE}}")
    begun.setdefault("until", f"{local:{MINUTE}}")
    return _listed(request, RunForm(initial=begun, clusters=_names(request)))


def _listed(request: HttpRequest, form: RunForm) -> HttpResponse:
    names = _names(request)
    wanted = form["cluster"].value()
    chosen = wanted if wanted in names else next(iter(names), "")
    user = user_of(request)
    runs = JobRun.objects.reports().seen_by(user).prefetch_related("files")
    page = Paginator(runs, PAGE_ROWS).get_page(request.GET.get("page"))
    return render(
        request,
        "reports/list.html",
        {
            "page": page,
            "form": form,
            "known": suggestions_for(chosen),
            "now": f"{timezone.localtime():{MINUTE}}",
            "definitions": ReportDefinition.objects.seen_by(user),
            "formats": FORMATS.values(),
            "may_run": user.allows_somewhere(Role.OPERATOR),
        },
        status=422 if form.errors else 200,
    )


def _names(request: HttpRequest) -> list[str]:
    return [cluster.name for cluster in shown_clusters(request.user)]


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def start(request: HttpRequest) -> HttpResponse:
    """Queue a report and go to its page; errors are shown on the list."""
    cluster = find_cluster(request.POST.get("cluster", ""))
    form = RunForm(request.POST, clusters=_names(request))
    if not form.is_valid():
        return _listed(request, form)
    zone = timezone.get_current_timezone()
    try:
        period = read_period(request.POST.dict(), timezone.now(), zone)
        run = start_report(
            cluster=cluster.name,
            group=form.instance.group,
            since=period.since,
            until=period.until,
            by=user_of(request),
            content=Content.of(form.instance),
        )
    except ReportRefusedError as refusal:
        form.refuse(refusal)
        return _listed(request, form)
    return redirect("report", run.pk)


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def warm(_request: HttpRequest) -> HttpResponse:
    """Start Spark while somebody fills in the form; the answer has no content."""
    start_ahead()
    return HttpResponse(status=204)


@require_safe
@requires(Role.VIEWER)
def report(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a finished run, or the progress of an active one."""
    run = _run(request, pk)
    context: dict[str, Any] = {
        "run": run,
        "report": Report(run),
        "phase": phase_word(run),
        "title": title_of(run),
        "cluster": next(
            (c for c in shown_clusters(request.user) if c.name == run.cluster), None
        ),
        "past": JobRun.objects.reports()
        .filter(cluster=run.cluster, group=run.group)
        .exclude(pk=run.pk)[:_BESIDE],
        "may_run": may_report(user_of(request), run.cluster, run.group),
    }
    if run.is_ready:
        context |= _finished(_report(request, run))
    return render(request, "reports/report.html", context)


def _finished(report: Report) -> dict[str, Any]:
    """Return what the page of a finished run shows, as its reader sees it."""
    facts = facts_of(report)
    view = view_query(report)
    as_asked = Report(report.run)
    alerts = alerts_of(report)
    present = Alert.objects.filter(
        cluster=report.cluster, pk__in={each.alert for each in alerts.lines}
    )
    return {
        "report": report,
        "facts": facts,
        "headline": headline(report),
        "stats": stats_of(report),
        "holes": holes_text(facts),
        "step": step_word(report.step_seconds),
        "lines": over_time_word(shown_grouping(report)),
        "shown": shown_grouping(report),
        "formats": FORMATS.values(),
        "papers": PAPERS.items(),
        "strategies": strategy_rows(report),
        "verdict": verdict_of(report),
        "member_strategies": member_strategies(report),
        "members_under": member_strategy(report),
        "members_part": members_part(report) if member_strategies(report) else "",
        "heat_part": heat_part(report),
        "worst": worst_groups(report),
        "worst_part": worst_part(report),
        "alerts": alerts,
        "present_alerts": set(present.values_list("pk", flat=True)),
        "tables": [table for table in TABLES.values() if has_table(report, table.key)],
        "view": f"?{view}" if view else "",
        "topics": names_in(as_asked, c.LAG_BY_QUEUE, c.TOPIC),
        "consumers": names_in(as_asked, c.LAG_BY_CONSUMER, c.CLIENT_ID),
        "groupings": GROUPINGS.items(),
    }


@require_safe
@requires(Role.VIEWER)
def status(request: HttpRequest, pk: int) -> JsonResponse:
    """Report a run's progress to a waiting page."""
    run = _run(request, pk)
    answer = JsonResponse(
        {
            "state": run.state,
            "word": state_word(run),
            "active": run.is_active,
            "percent": run.percent,
            "phase": phase_word(run),
        }
    )
    answer["Cache-Control"] = "no-store"
    return answer


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask a run to stop."""
    cancel_report(_run(request, pk), by=user_of(request))
    return redirect("report", pk)


@require_POST
@requires(Role.OPERATOR, anywhere=True)
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a run with its numbers and files."""
    try:
        delete_report(_run(request, pk), by=user_of(request))
    except ReportRefusedError as refusal:
        messages.error(request, str(refusal))
        return redirect("report", pk)
    messages.success(request, _("The report is deleted."))
    return redirect("reports")


@require_safe
@requires(Role.VIEWER)
def kept_file(request: HttpRequest, pk: int, form: str) -> HttpResponseBase:
    """Stream a file exactly as it was made with the report."""
    return kept_download(_ready_run(request, pk), form)


@require_safe
@requires(Role.VIEWER)
def figure(request: HttpRequest, pk: int, name: str) -> JsonResponse:
    """Return one figure as a Plotly document; `from` and `to` cut out a part of it."""
    report = _report(request, _ready_run(request, pk))
    if name not in figure_names(report):
        raise Http404(_("There is no figure “%(name)s”.") % {"name": name})
    try:
        window = read_window(report, request.GET.dict())
        return JsonResponse(shown_figure(report, name, window))
    except (NoResultError, FileNotFoundError, WindowError) as error:
        raise Http404(str(error)) from error


@require_safe
@requires(Role.VIEWER)
def table_of_figure(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Return one figure as a table: a part of the page, or its own page if asked."""
    report = _report(request, _ready_run(request, pk))
    if name not in figure_names(report):
        raise Http404(_("There is no figure “%(name)s”.") % {"name": name})
    twin = twin_of(report, name)
    is_part = request.headers.get("X-Fragment")
    return render(
        request,
        "reports/twin.html" if is_part else "reports/twin_page.html",
        {
            "run": report.run,
            "name": name,
            "twin": twin,
            "title": title_of(report),
        },
    )


@require_safe
@requires(Role.VIEWER)
def download(request: HttpRequest, pk: int, form: str) -> HttpResponseBase:
    """Make a file of a run, in the reader's zone and language, and stream it.

    `table` names the table of a file that holds one, `paper` the sheet of a PDF.
    """
    try:
        return download_of(request, _report(request, _ready_run(request, pk)), form)
    except NotMadeError as error:
        messages.error(
            request, _("The file could not be made: %(reason)s") % {"reason": error}
        )
        return redirect("report", pk)


def _run(request: HttpRequest, pk: int) -> JobRun:
    return get_object_or_404(JobRun.objects.reports().seen_by(user_of(request)), pk=pk)


def _ready_run(request: HttpRequest, pk: int) -> JobRun:
    run = _run(request, pk)
    if not run.is_ready:
        raise Http404(_("This report is not ready."))
    return run


def _report(request: HttpRequest, run: JobRun) -> Report:
    zone = timezone.get_current_timezone()
    try:
        return report_for(run, request.GET.dict(), zone, zone_label())
    except ViewError as error:
        raise Http404(str(error)) from error
