"""A preview as CSV: all queues, in the order of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.http import StreamingHttpResponse

from dashboard.frame.tables import Column, Table, TableQuery, csv_response, page_of

from .plan import Plan, Row

NAME: Final = "offsets"


def csv_of(plan: Plan, group: str) -> StreamingHttpResponse:
    """Return the rows of a plan as a file; a queue that stays has no `after`."""
    ranks = {row.place.key: number for number, row in enumerate(plan.rows)}
    table: Table[Row] = Table(
        title=group,
        filter_title="",
        columns=_columns(),
        key=lambda row: row.place.key,
        rank=lambda row: (ranks[row.place.key],),
        texts=lambda row: (row.place.key,),
    )
    return csv_response(page_of(table, plan.rows, TableQuery()), NAME)


def _columns() -> Sequence[Column[Row]]:
    def column(key: str, value: Any) -> Column[Row]:
        return Column(key, key, value, str, unknown=_why)

    return (
        column("broker", lambda row: row.place.broker),
        column("queue_id", lambda row: row.place.queue_id),
        column("committed", lambda row: row.place.committed),
        column("after", lambda row: row.after),
        column("again", lambda row: row.again),
        column("skipped", lambda row: row.skipped),
        column("note", lambda row: row.note),
    )


def _why(row: Row) -> str:
    return row.detail if row.place.error else row.note or "nothing_committed"
