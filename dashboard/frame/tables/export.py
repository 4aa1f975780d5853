"""A table as a file: all rows that match, with columns and order of the page."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from django.http import StreamingHttpResponse
from django.utils import timezone

from dashboard.wording.cells import csv_cell

from .paging import TablePage


def csv_response(page: TablePage[Any], name: str) -> StreamingHttpResponse:
    """Return the chosen rows as `NAME.csv`; a last column says why values are unknown.

    The reasons are `column: reason`, separated by semicolons.
    """
    return StreamingHttpResponse(
        _lines(page),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


class _Line:
    """A file of one line, for the csv module to write into."""

    def write(self, text: str) -> bytes:
        return text.encode("utf-8", "replace")


def _lines(page: TablePage[Any]) -> Iterator[bytes]:
    writer = csv.writer(_Line())
    zone = timezone.get_current_timezone()
    yield writer.writerow([*(each.key for each in page.columns), "unknown"])
    for row in page.chosen:
        values = [(each, each.value(row)) for each in page.columns]
        reasons = [
            f"{each.key}: {each.unknown(row)}"
            for each, value in values
            if value is None and each.unknown is not None
        ]
        cells = [csv_cell(_plain(value), zone) for _column, value in values]
        yield writer.writerow([*cells, csv_cell("; ".join(reasons), zone)])


def _plain(value: Any) -> Any:
    """Return a value that fits one cell: several become one text."""
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(str(each) for each in value)
    return value
