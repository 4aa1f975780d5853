"""The bars of a topic's traffic as a file: what is drawn, one line for each step."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from django.http import StreamingHttpResponse
from django.utils.translation import gettext as _

from dashboard.frame.tables import Column, Table, TableQuery, csv_response, page_of

from .history import Bar, History

NOT_MEASURED: Final = "not_measured"


def traffic_csv(history: History) -> StreamingHttpResponse:
    """Return the bars as CSV: times in UTC, and rates in messages a second.

    A step that is not known has no rate and says so in `unknown`; one that may have had
    more is named in `at_least`.
    """
    table = _bar_table(history.span.step_ms)
    page = page_of(table, history.bars, TableQuery())
    return csv_response(page, f"topic-traffic-{history.span.key}")


def _bar_table(step_ms: int) -> Table[Bar]:
    def begin(bar: Bar) -> str:
        return _utc(bar.since_ms)

    def end(bar: Bar) -> str:
        return _utc(bar.since_ms + step_ms)

    return Table(
        title=_("Traffic"),
        filter_title="",
        columns=[
            Column("begin", _("From"), begin, begin),
            Column("end", _("Until"), end, end),
            Column(
                *("in", _("In/s"), lambda bar: bar.rate, lambda bar: bar.told),
                unknown=lambda bar: NOT_MEASURED,
                partial=lambda bar: bar.partial,
            ),
        ],
        key=begin,
        rank=lambda bar: bar.since_ms,
        texts=lambda bar: (),
    )


def _utc(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
