"""A table of a run as CSV, in pieces, so that its size does not matter."""

from __future__ import annotations

import csv
import io
from collections.abc import Generator, Iterator
from datetime import tzinfo

from dashboard.reports.data.results import column_of, iterate_batches
from dashboard.reports.data.tables import Table
from dashboard.reports.report import Report
from dashboard.wording.cells import csv_cell


def csv_pieces(report: Report, table: Table) -> Generator[bytes, None, None]:
    """Yield the file: a line of column keys, then the rows, as UTF-8.

    Raises `NoResultError` at once when the run lacks the table.
    """
    return _pieces(iterate_batches(report, table.key, table.order), table, report.zone)


def _pieces(
    batches: Iterator[object], table: Table, zone: tzinfo
) -> Generator[bytes, None, None]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    keys = [column.key for column in table.columns]
    writer.writerow(keys)
    for batch in batches:
        columns = [column_of(batch, key) for key in keys]
        for row in zip(*columns, strict=True):
            writer.writerow([csv_cell(value, zone) for value in row])
        yield _taken(buffer)
    yield _taken(buffer)


def _taken(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode()
