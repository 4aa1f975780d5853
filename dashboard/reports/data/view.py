"""A finished run as one reader sees it: grouped differently, or narrowed down.

The run in the database stays as it was requested; the reader's choice is in the address
(`by`, `topic`, `consumer`, `strategy`), so that it can be shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from dashboard.models import Grouping, JobRun
from dashboard.reports.report import Report, View

from .results import values_of
from .series import member_strategies

MOST_NAMES: Final = 500


class ViewError(ValueError):
    """The address asks for a view that does not exist; the message names the value."""


def report_for(
    run: JobRun, fields: Mapping[str, str], zone: tzinfo, zone_name: str
) -> Report:
    """Return a run as the reader of an address sees it.

    A run of one topic or consumer can be grouped differently, but not widened. Raises
    `ViewError`.
    """
    by = fields.get("by", "")
    if by and by not in Grouping.values:
        raise ViewError(
            _("There is no grouping “%(by)s”; there are %(known)s.")
            % {"by": by[:40], "known": ", ".join(Grouping.values)}
        )
    topic = consumer = ""
    if not (run.topic or run.consumer):
        topic = fields.get("topic", "")[:255]
        consumer = fields.get("consumer", "")[:255]
    strategy = fields.get("strategy", "") if run.is_ready else ""
    report = Report(run, zone, zone_name, View(by, topic, consumer, strategy))
    _check_strategy(report)
    if topic and consumer:
        raise ViewError(
            _("Choose a topic or a consumer. Lag is not kept for the two together.")
        )
    return report


def _check_strategy(report: Report) -> None:
    name = report.view.strategy
    if not name:
        return
    known = [row.name for row in member_strategies(report)]
    if name not in known:
        raise ViewError(
            _("Members are not shown under “%(name)s”; there are %(known)s.")
            % {"name": name[:40], "known": ", ".join(known) or "—"}
        )


def view_query(report: Report) -> str:
    """Return the address's part that makes this view of its run; empty without one."""
    view, run = report.view, report.run
    fields = {
        "by": view.by if view.by != run.grouping else "",
        "topic": view.topic,
        "consumer": view.consumer,
        "strategy": view.strategy,
    }
    return urlencode({key: value for key, value in fields.items() if value})


@dataclass(frozen=True, slots=True)
class Names:
    """Names to choose from, the first `MOST_NAMES`; `all` counts them."""

    listed: Sequence[str] = ()
    all: int = 0

    @property
    def are_cut(self) -> bool:
        return len(self.listed) < self.all


def names_in(report: Report, dataset: str, column: str) -> Names:
    """Return the distinct values of a column of one group."""
    if not report.group:  # for all groups there would be too many to choose from
        return Names()
    found = sorted(filter(None, values_of(report, dataset, column)))
    return Names(found[:MOST_NAMES], len(found))
