"""Stream files of reports to a reader: in pieces, whatever their size."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Generator
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO, Final

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from dashboard.models import JobRun, Paper
from dashboard.reports.data.results import NoResultError
from dashboard.reports.data.tables import Table
from dashboard.reports.writers.files import open_kept
from dashboard.reports.writers.formats import (
    FORMATS,
    file_name,
    table_named,
)

from . import making
from .making import FileWish
from .report import Report

_PIECE_BYTES: Final = 256 * 1024


def download_of(
    request: HttpRequest, report: Report, form: str
) -> StreamingHttpResponse:
    """Make a file of a finished run for a request and stream it.

    Raises Http404, naming the value, for an unknown format, table or paper, and what
    `FileMaker.make` raises.
    """
    if form not in FORMATS:
        raise Http404(_("There is no format “%(name)s”.") % {"name": form})
    paper = request.GET.get("paper", Paper.A4)
    if paper not in Paper.values:
        raise Http404(_("There is no paper “%(name)s”.") % {"name": paper[:40]})
    name = request.GET.get("table", "")
    try:
        table = table_named(report, name)
    except KeyError:
        raise Http404(_("There is no table “%(name)s”.") % {"name": name}) from None
    try:
        return streamed(
            file_pieces(_made(report, form, table, paper)),
            file_name(report, FORMATS[form], table),
            FORMATS[form].content_type,
        )
    except (NoResultError, FileNotFoundError) as error:
        raise Http404(str(error)) from error


def kept_download(run: JobRun, form: str) -> StreamingHttpResponse:
    """Stream a file that was made with a report; raises Http404 where none is kept."""
    found = open_kept(run, form)
    if found is None:
        raise Http404(_("There is no kept file “%(name)s”.") % {"name": form})
    row, stream = found
    name = row.path.rpartition("/")[2]
    return streamed(file_pieces(stream), name, FORMATS[form].content_type)


def streamed(
    pieces: Generator[bytes, None, None], name: str, kind: str
) -> StreamingHttpResponse:
    """Return a download of these pieces under a name."""
    response = StreamingHttpResponse(_in_thread(pieces), content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-store"
    return response


def file_pieces(stream: BinaryIO) -> Generator[bytes, None, None]:
    """Yield an open file, and close it."""
    with stream:
        while piece := stream.read(_PIECE_BYTES):
            yield piece


def _made(report: Report, form: str, table: Table, paper: str) -> BinaryIO:
    with tempfile.TemporaryDirectory(prefix="rocketscope-") as folder:
        file = Path(folder) / "report"
        making.MAKER.make(
            FileWish(
                run=report.run.pk,
                form=form,
                table=table.key,
                paper=paper,
                language=get_language() or settings.LANGUAGE_CODE,
                zone=str(report.zone),
                zone_name=report.zone_name,
                view=asdict(report.view),
                path=str(file),
            )
        )
        # An open file outlives its name, so the folder can go now.
        return file.open("rb")


async def _in_thread(pieces: Generator[bytes, None, None]) -> AsyncIterator[bytes]:
    """Take pieces one by one; a plain iterator would be gathered whole under ASGI.

    Closes the source even if the reader disconnects midway.
    """
    take = sync_to_async(lambda: next(pieces, None), thread_sensitive=False)
    try:
        while (piece := await take()) is not None:
            yield piece
    finally:
        pieces.close()
