"""Reports: asking for one, following it, reading and downloading it.

Everybody who is signed in may read; to run or cancel a report takes an operator, since
it takes the machine's time. Downloads are streamed, and files are made in a thread.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Generator
from pathlib import Path
from typing import Any, BinaryIO, Final

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dashboard.accounts.permissions import allows, requires
from dashboard.models import JobRun, Role, User
from dashboard.reports.csv_file import csv_pieces
from dashboard.reports.facts import facts_of, strategy_rows, worst_groups
from dashboard.reports.figures import FIGURES, figure_of
from dashboard.reports.periods import DEFAULT, LAST, PeriodError, read_period
from dashboard.reports.results import NoResultError
from dashboard.reports.tables import BY_CONSUMER, BY_GROUP, BY_QUEUE, TABLES
from dashboard.reports.words import phase_word
from dashboard.reports.xlsx_file import write_xlsx
from dashboard.selectors.documents import read_overview
from dashboard.services.reports import (
    ReportRefusedError,
    cancel_report,
    give_up_lost_runs,
    start_report,
)

from .clusters import find_cluster
from .layout import configured_clusters, zone_label

PAGE_ROWS: Final = 50
_BESIDE: Final = 5
_PIECE_BYTES: Final = 256 * 1024
_XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@require_safe
@requires(Role.VIEWER)
def reports(request: HttpRequest) -> HttpResponse:
    """List the runs, newest first, under the form that asks for a new one."""
    give_up_lost_runs()
    clusters = configured_clusters()
    names = {cluster.name for cluster in clusters}
    wanted = request.GET.get("cluster", "")
    chosen = wanted if wanted in names else next(iter(names), "")
    page = Paginator(JobRun.objects.all(), PAGE_ROWS).get_page(request.GET.get("page"))
    return render(
        request,
        "reports/list.html",
        {
            "page": page,
            "periods": {name: label for name, (_span, label) in LAST.items()},
            "period": DEFAULT,
            "chosen": chosen,
            "group": request.GET.get("group", "")[:255],
            "groups": _known_groups(chosen),
            "may_run": allows(request.user, Role.OPERATOR),
        },
    )


@require_POST
@requires(Role.OPERATOR)
def start(request: HttpRequest) -> HttpResponse:
    """Queue a report and go to its page; what is wrong is said on the list."""
    assert isinstance(request.user, User)  # noqa: S101  `requires` saw to it
    fields = request.POST.dict()
    cluster = find_cluster(str(fields.get("cluster", "")))
    try:
        period = read_period(fields, timezone.now(), timezone.get_current_timezone())
        run = start_report(
            cluster=cluster.name,
            group=str(fields.get("group", "")).strip()[:255],
            since=period.since,
            until=period.until,
            by=request.user,
        )
    except (PeriodError, ReportRefusedError) as refusal:
        messages.error(request, str(refusal))
        return redirect("reports")
    return redirect("report", run.pk)


@require_safe
@requires(Role.VIEWER)
def report(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a finished run, or how far it is."""
    give_up_lost_runs()
    run = get_object_or_404(JobRun, pk=pk)
    context: dict[str, Any] = {
        "run": run,
        "phase": phase_word(run),
        "cluster": next(
            (c for c in configured_clusters() if c.name == run.cluster), None
        ),
        "past": JobRun.objects.filter(cluster=run.cluster, group=run.group).exclude(
            pk=run.pk
        )[:_BESIDE],
        "may_run": allows(request.user, Role.OPERATOR),
    }
    if run.is_ready:
        context |= {
            "facts": facts_of(run, timezone.get_current_timezone()),
            "strategies": strategy_rows(run),
            "worst": worst_groups(run),
            "tables": [BY_QUEUE, BY_CONSUMER, BY_GROUP],
        }
    return render(request, "reports/report.html", context)


@require_safe
@requires(Role.VIEWER)
def status(request: HttpRequest, pk: int) -> JsonResponse:
    """Tell a waiting page how far a run is."""
    give_up_lost_runs()
    run = get_object_or_404(JobRun, pk=pk)
    answer = JsonResponse(
        {
            "state": run.state,
            "word": run.get_state_display(),
            "active": run.is_active,
            "percent": run.percent,
            "phase": phase_word(run),
        }
    )
    answer["Cache-Control"] = "no-store"
    return answer


@require_POST
@requires(Role.OPERATOR)
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask a run to stop."""
    assert isinstance(request.user, User)  # noqa: S101  `requires` saw to it
    cancel_report(get_object_or_404(JobRun, pk=pk), by=request.user)
    return redirect("report", pk)


@require_safe
@requires(Role.VIEWER)
def figure(request: HttpRequest, pk: int, name: str) -> JsonResponse:
    """Give one figure as a Plotly document."""
    run = _ready_run(pk)
    if name not in FIGURES:
        raise Http404(_("There is no figure “%(name)s”.") % {"name": name})
    try:
        return JsonResponse(figure_of(run, name, timezone.get_current_timezone()))
    except (NoResultError, FileNotFoundError) as error:
        raise Http404(str(error)) from error


@require_safe
@requires(Role.VIEWER)
def download_csv(request: HttpRequest, pk: int, table: str) -> HttpResponseBase:
    """Stream one table of a run."""
    run = _ready_run(pk)
    if table not in TABLES:
        raise Http404(_("There is no table “%(name)s”.") % {"name": table})
    try:
        pieces = csv_pieces(run, TABLES[table], timezone.get_current_timezone())
    except NoResultError as error:
        raise Http404(str(error)) from error
    return _download(
        pieces, f"{_file_name(run)}-{table}.csv", "text/csv; charset=utf-8"
    )


@require_safe
@requires(Role.VIEWER)
def download_xlsx(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Make the workbook of a run and stream it."""
    run = _ready_run(pk)
    with tempfile.TemporaryDirectory(prefix="rocketscope-") as folder:
        file = Path(folder) / "report.xlsx"
        write_xlsx(run, file, timezone.get_current_timezone(), zone_label())
        # An open file outlives its name, so the folder can go now.
        stream = file.open("rb")
    return _download(_file_pieces(stream), f"{_file_name(run)}.xlsx", _XLSX)


urls = [
    path("", reports, name="reports"),
    path("start/", start, name="start_report"),
    path("<int:pk>/", report, name="report"),
    path("<int:pk>/status/", status, name="report_status"),
    path("<int:pk>/cancel/", cancel, name="cancel_report"),
    path("<int:pk>/figures/<slug:name>/", figure, name="report_figure"),
    path("<int:pk>/<slug:table>.csv", download_csv, name="report_csv"),
    path("<int:pk>/report.xlsx", download_xlsx, name="report_xlsx"),
]
"""Below /reports/."""


def _ready_run(pk: int) -> JobRun:
    run = get_object_or_404(JobRun, pk=pk)
    if not run.is_ready:
        raise Http404(_("This report is not ready."))
    return run


def _download(
    pieces: Generator[bytes, None, None], name: str, kind: str
) -> StreamingHttpResponse:
    response = StreamingHttpResponse(_in_thread(pieces), content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-store"
    return response


def _file_pieces(stream: BinaryIO) -> Generator[bytes, None, None]:
    with stream:
        while piece := stream.read(_PIECE_BYTES):
            yield piece


async def _in_thread(pieces: Generator[bytes, None, None]) -> AsyncIterator[bytes]:
    """Take pieces one by one; a plain iterator would be gathered whole under ASGI.

    Closes the source also when the reader goes away in the middle.
    """
    take = sync_to_async(lambda: next(pieces, None), thread_sensitive=False)
    try:
        while (piece := await take()) is not None:
            yield piece
    finally:
        pieces.close()


def _file_name(run: JobRun) -> str:
    name = slugify(run.group or run.cluster) or "report"
    return f"lag-{name}-{run.pk}"


def _known_groups(cluster: str) -> list[str]:
    document = read_overview(cluster).document if cluster else None
    return sorted(row["group"] for row in document["groups"]) if document else []
