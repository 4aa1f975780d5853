"""Reports for programs: definitions, runs, figures, files.

The contents of a report's page are available as values: `facts`, the figures (Plotly
documents) and every file, all of the same run.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from ninja import Query, Router, Status

from dashboard.accounts.permissions import user_of
from dashboard.models import (
    JobRun,
    ReportDefinition,
)
from dashboard.reports.data.alerts import alerts_of, deleted_before
from dashboard.reports.data.facts import Facts, facts_of
from dashboard.reports.data.results import NoResultError, read_rows
from dashboard.reports.data.strategies import strategy_rows
from dashboard.reports.data.tables import ALERTS
from dashboard.reports.data.verdict import verdict_of
from dashboard.reports.data.view import report_for
from dashboard.reports.figures.gallery import figure_names
from dashboard.reports.figures.window import (
    read_window,
    shown_figure,
)
from dashboard.rest.asking import cluster_named, refuse, the_first
from dashboard.rest.paging import paged
from dashboard.rest.schemas import Problem
from dashboard.wording.zones import zone_label

from .api_schemas import (
    DefinitionIn,
    DefinitionOut,
    DownloadQuery,
    FactsOut,
    FigureOut,
    FigureQuery,
    ReportAlertsOut,
    RunIn,
    RunOut,
    RunsQuery,
    ViewQuery,
)
from .definitions import delete_definition, run_definition, save_definition
from .downloads import download_of, kept_download
from .report import Report
from .writes import (
    cancel_report,
    delete_report,
    start_report,
)

REFUSED: Final[dict[int, Any]] = {404: Problem, 409: Problem}
STARTED: Final[dict[int, Any]] = {202: RunOut, **REFUSED}

router = Router()


@router.get("/reports/definitions", response={200: list[DefinitionOut]})
@paged
def definitions(request: HttpRequest) -> Any:
    """List the reports by name."""
    return ReportDefinition.objects.seen_by(user_of(request))


@router.post("/reports/definitions", response={201: DefinitionOut, **REFUSED})
def define(request: HttpRequest, body: DefinitionIn) -> Any:
    """Make a report by name."""
    return Status(201, save_definition(body.wish(), by=user_of(request)))


@router.get("/reports/definitions/{pk}", response={200: DefinitionOut})
def definition(request: HttpRequest, pk: int) -> Any:
    """Return one report by name."""
    return _definition(request, pk)


@router.put("/reports/definitions/{pk}", response={200: DefinitionOut, **REFUSED})
def change(request: HttpRequest, pk: int, body: DefinitionIn) -> Any:
    """Change a report by name; its schedule counts from now."""
    present = _definition(request, pk)
    return save_definition(body.wish(), by=user_of(request), definition=present)


@router.delete("/reports/definitions/{pk}", response={204: None})
def forget(request: HttpRequest, pk: int) -> Any:
    """Delete a report by name; the reports made from it stay."""
    delete_definition(_definition(request, pk), by=user_of(request))
    return Status(204, None)


@router.post("/reports/definitions/{pk}/run", response=STARTED)
def run_now(request: HttpRequest, pk: int) -> Any:
    """Queue a report of a definition over its period up to now."""
    return Status(202, run_definition(_definition(request, pk), by=user_of(request)))


@router.get("/reports/runs", response={200: list[RunOut]})
def runs(request: HttpRequest, query: Query[RunsQuery]) -> Any:
    """List the reports that were made or are being made, newest first."""
    found = JobRun.objects.reports().seen_by(user_of(request)).prefetch_related("files")
    if query.cluster:
        found = found.filter(cluster=query.cluster)
    if query.group:
        found = found.filter(group=query.group)
    if query.definition is not None:
        found = found.filter(definition_id=query.definition)
    return query.of(found)


@router.post("/reports/runs", response=STARTED)
def start(request: HttpRequest, body: RunIn) -> Any:
    """Queue a report over a period."""
    run = start_report(
        cluster=cluster_named(body.cluster).name,
        group=body.group,
        since=body.since,
        until=body.until,
        by=user_of(request),
        content=body.content(),
    )
    return Status(202, run)


@router.get("/reports/runs/{pk}", response={200: RunOut})
def one_run(request: HttpRequest, pk: int) -> Any:
    """Return one report, ready or not."""
    return _run(request, pk)


@router.post("/reports/runs/{pk}/cancel", response={200: RunOut})
def cancel(request: HttpRequest, pk: int) -> Any:
    """Ask an active report to stop."""
    cancel_report(_run(request, pk), by=user_of(request))
    return _run(request, pk)


@router.delete("/reports/runs/{pk}", response={204: None, **REFUSED})
def remove(request: HttpRequest, pk: int) -> Any:
    """Delete a report with its numbers and files."""
    delete_report(_run(request, pk), by=user_of(request))
    return Status(204, None)


@router.get("/reports/runs/{pk}/facts", response={200: FactsOut, **REFUSED})
def facts(request: HttpRequest, pk: int, view: Query[ViewQuery]) -> Any:
    """Return the figures at the head of a report, its strategies, and the verdict.

    Spans are in seconds, moments carry their zone; null means not known. All values are
    from steps in which all queues are known (`whole_seconds`), except for a peak that
    “is least”: some of the queues had it, so all of them had at least that.
    """
    report = _seen(request, pk, view)
    values = _facts(facts_of(report))
    verdict = verdict_of(report)
    return values | {
        "strategies": [
            _plain(asdict(row))
            | {"max_to_mean": row.max_to_mean, "is_best": row.is_best}
            for row in strategy_rows(report)
        ],
        "verdict": None if verdict is None else asdict(verdict),
    }


def _facts(found: Facts) -> dict[str, Any]:
    known = found.measured
    plain = {
        "behind": found.behind,
        "aged": found.aged,
        "collected": known.whole + known.partial,
        "whole": known.whole,
        "partial": known.partial,
        "missing": known.missing,
        "idle": known.idle,
        "unknown_within": known.within,
        "step": found.step,
    }
    return {
        "peak": found.peak and found.peak.value,
        "peak_at": found.peak and found.peak.at,
        "peak_is_least": found.peak and found.peak.is_least,
        "oldest_ms": found.oldest and found.oldest.value,
        "oldest_at": found.oldest and found.oldest.at,
        "oldest_is_least": found.oldest and found.oldest.is_least,
        **{f"{name}_seconds": span for name, span in _plain(plain).items()},
        "partial_spans": known.partial_spans,
        "missing_spans": known.missing_spans,
        "epochs": found.epochs,
        "rebalances": found.rebalances,
        "in_rate": found.in_rate,
        "out_rate": found.out_rate,
        "skew": found.skew,
    }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return values for JSON, with spans in seconds."""
    return {
        name: value.total_seconds() if isinstance(value, timedelta) else value
        for name, value in values.items()
    }


@router.get("/reports/runs/{pk}/alerts", response={200: ReportAlertsOut, **REFUSED})
def alerts(request: HttpRequest, pk: int) -> Any:
    """Return the alerts of a report's period, as they were when it was made."""
    report = _seen(request, pk, ViewQuery(strategy=""))
    found = alerts_of(report)
    return {
        "kept": found.is_kept,
        "total": found.all,
        "deleted_before": deleted_before(report),
        "alerts": read_rows(report, ALERTS.key, ALERTS.order) if found.is_kept else [],
    }


@router.get("/reports/runs/{pk}/figures/{name}", response={200: FigureOut, **REFUSED})
def figure(request: HttpRequest, pk: int, name: str, query: Query[FigureQuery]) -> Any:
    """Return one figure as a Plotly document; its times are in the reader's zone.

    With `since` and `until` it covers a part of the period, in finer steps while the
    samples are kept; `meta` gives the step.
    """
    report = _seen(request, pk, query)
    names = figure_names(report)
    if name not in names:
        refuse(404, f"no figure {name!r}; there are {', '.join(names)}")
    try:
        window = read_window(report, query.window)
        return shown_figure(report, name, window)
    except (NoResultError, FileNotFoundError) as error:
        refuse(404, str(error))


@router.get(
    "/reports/runs/{pk}/download/{form}",
    response={200: bytes, **REFUSED, 500: Problem},
)
def download(
    request: HttpRequest, pk: int, form: str, query: Query[DownloadQuery]
) -> HttpResponseBase:
    """Stream a file: csv, xlsx, parquet, html or pdf."""
    return download_of(request, _seen(request, pk, query), form)


@router.get("/reports/runs/{pk}/files/{form}", response={200: bytes})
def kept_file(request: HttpRequest, pk: int, form: str) -> HttpResponseBase:
    """Stream a file exactly as it was made with the report."""
    return kept_download(_run(request, pk), form)


def _definition(request: HttpRequest, pk: int) -> ReportDefinition:
    found = ReportDefinition.objects.seen_by(user_of(request)).filter(pk=pk)
    return the_first(found, f"no report definition {pk}")


def _run(request: HttpRequest, pk: int) -> JobRun:
    found = JobRun.objects.reports().seen_by(user_of(request)).filter(pk=pk)
    return the_first(found, f"no report {pk}")


def _seen(request: HttpRequest, pk: int, view: ViewQuery) -> Report:
    run = _run(request, pk)
    if not run.is_ready:
        refuse(404, f"report {pk} is {run.state}, not done")
    zone = timezone.get_current_timezone()
    return report_for(run, view.dict(), zone, zone_label())
