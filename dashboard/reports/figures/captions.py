"""What is said where a figure or a list shows a part of what there is.

All of it is in the CSV, XLSX and Parquet files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics import contracts as c
from dashboard.models import Grouping
from dashboard.reports.data.facts import worst_groups
from dashboard.reports.data.results import values_of
from dashboard.reports.data.series import (
    heat_count,
    heat_lines,
    member_lines,
    shown_grouping,
)
from dashboard.reports.report import Report
from dashboard.wording import numbers

from .heatmap import MOST_ROWS
from .members import MOST_LINES

_WORST: Final[Mapping[Grouping, Promise]] = {
    Grouping.GROUP: gettext_lazy("%(n)s of %(all)s groups, the worst"),
    Grouping.TOPIC: gettext_lazy("%(n)s of %(all)s topics, the worst"),
    Grouping.QUEUE: gettext_lazy("%(n)s of %(all)s queues, the worst"),
    Grouping.CONSUMER: gettext_lazy("%(n)s of %(all)s consumers, the worst"),
}


def heat_part(report: Report, most: int | None = MOST_ROWS) -> str:
    """Say which lines the heatmap has; empty if it has all.

    It draws `most` of those that `heat_lines` returns; None is all, as on paper.
    """
    lines, total = len(heat_lines(report)), heat_count(report)
    if lines < total:
        return _part(str(_WORST[shown_grouping(report)]), lines, total)
    if most is not None and lines > most:
        text = _("the first %(n)s of %(all)s queues; the table has all")
        return _part(text, most, total)
    return ""


def members_part(report: Report) -> str:
    """Say how many of the members are drawn; empty if all are."""
    total = len(member_lines(report))
    return _part(_("%(n)s of %(all)s members"), min(total, MOST_LINES), total)


def worst_part(report: Report) -> str:
    """Say how many of the groups are among the worst; empty if all are."""
    listed = len(worst_groups(report))
    total = len(values_of(report, c.LAG_BY_GROUP, c.GROUP)) if listed else 0
    return _part(str(_WORST[Grouping.GROUP]), listed, total)


def _part(text: str, shown: int, total: int) -> str:
    if shown >= total:
        return ""
    return text % {"n": numbers.count(shown), "all": numbers.count(total)}
