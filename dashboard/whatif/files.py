"""A comparison as files: tables, the whole document, the shown row as CONFIG lists."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from datetime import UTC
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires
from dashboard.frame.clusters import find_cluster
from dashboard.live.reading import read_group
from dashboard.models import ManagedGroup, Role
from dashboard.wording.cells import csv_cell
from rmqcore.errors import ArgumentError

from .forms import known_scenario
from .model import (
    MEMBER_COLUMNS,
    STRATEGY_COLUMNS,
    Comparison,
    Row,
    Situation,
    compare,
    comparison_document,
    member_lines,
    read_situation,
    strategy_lines,
    to_entries,
    to_java,
    to_python,
)
from .reads import chosen_row, read_scenario

Writer = Callable[[Comparison, Row], str]


@require_safe
@requires(Role.VIEWER)
def export(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Return a group's comparison as a file, in the format that the URL names."""
    found = find_cluster(cluster)
    reading = read_group(found.name, group)
    if reading.document is None:
        return _refusal(_("The group has not been collected yet."), 404)
    try:
        situation = read_situation(reading.document)
    except ArgumentError as error:
        return _refusal(str(error), 422)
    hosted = ManagedGroup.objects.filter(
        cluster=found, name=group, leaving=False
    ).first()
    return _file(request, situation, hosted)


@require_safe
@requires(Role.VIEWER)
def export_sheet(request: HttpRequest, cluster: str) -> HttpResponse:
    """Return the comparison of an empty sheet as a file."""
    return _file(request, Situation(find_cluster(cluster).name, ""), None)


def _file(
    request: HttpRequest, situation: Situation, hosted: ManagedGroup | None
) -> HttpResponse:
    wanted = request.GET.get("format", "")
    if wanted not in FORMATS:
        known = ", ".join(FORMATS)
        return _refusal(f"format is {wanted!r}; the known ones are {known}", 422)
    kind, ending, write = FORMATS[wanted]
    try:
        scenario, show = read_scenario(request.META.get("QUERY_STRING", ""))
        scenario = known_scenario(scenario, hosted, situation)
        comparison = compare(situation, scenario)
        text = write(comparison, comparison.row(chosen_row(comparison, show)))
    except ArgumentError as error:
        return _refusal(str(error), 422)
    name = slugify(situation.group) or "sheet"
    # Java requires a file to be named like its class.
    file_name = "QueueConfig.java" if wanted == "java" else f"what-if-{name}{ending}"
    return HttpResponse(
        text,
        content_type=f"{kind}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{file_name}"'},
    )


def _strategies(comparison: Comparison, _row: Row) -> str:
    return _csv(STRATEGY_COLUMNS, strategy_lines(comparison))


def _members(comparison: Comparison, _row: Row) -> str:
    return _csv(MEMBER_COLUMNS, member_lines(comparison))


def _document(comparison: Comparison, _row: Row) -> str:
    return orjson.dumps(comparison_document(comparison)).decode()


def _mapping(_comparison: Comparison, row: Row) -> str:
    lists = {each: to_entries(queues) for each, queues in _lists(row).items()}
    return orjson.dumps(lists, option=orjson.OPT_INDENT_2).decode()


def _lists(row: Row) -> dict[str, Any]:
    if row.plan is None:
        raise ArgumentError(f"{row.key} cannot be computed for this scenario")
    return row.plan.as_config()


def _csv(head: Iterable[str], lines: Iterable[list[Any]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(head)
    for line in lines:
        writer.writerow([csv_cell(value, UTC) for value in line])
    return buffer.getvalue()


def _refusal(detail: str, status: int) -> JsonResponse:
    return JsonResponse({"detail": detail}, status=status)


# By the value of `format`: media type, end of the file's name, writer.
FORMATS: Final[dict[str, tuple[str, str, Writer]]] = {
    "csv": ("text/csv", ".csv", _strategies),
    "members": ("text/csv", "-members.csv", _members),
    "json": ("application/json", ".json", _document),
    "config": ("application/json", "-config.json", _mapping),
    "java": ("text/x-java", ".java", lambda _comparison, row: to_java(_lists(row))),
    "python": ("text/x-python", ".py", lambda _comparison, row: to_python(_lists(row))),
}
