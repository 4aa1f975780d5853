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
    """Return the chosen rows as `NAME.csv`.

    After the columns of the table, `unknown` says why values are not known, as
    `column: reason`, separated by semicolons. Where sums of the table may lack a part,
    `at_least` names the columns of those that do.
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
    sums = [each for each in page.columns if each.partial is not None]
    marks = ["unknown", "at_least"] if sums else ["unknown"]
    yield writer.writerow([*(each.key for each in page.columns), *marks])
    for row in page.chosen:
        values = [(each, each.value(row)) for each in page.columns]
        reasons = [
            f"{each.key}: {each.unknown(row)}"
            for each, value in values
            if value is None and each.unknown is not None
        ]
        told = ["; ".join(reasons)]
        if sums:
            told.append("; ".join(each.key for each in sums if each.at_least(row)))
        cells = [_plain(value) for _column, value in values]
        yield writer.writerow([csv_cell(each, zone) for each in (*cells, *told)])


def _plain(value: Any) -> Any:
    """Return a value that fits one cell: several become one text."""
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(str(each) for each in value)
    return value
