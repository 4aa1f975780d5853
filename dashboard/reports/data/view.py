"""A finished run as one reader looks at it: grouped otherwise, or narrowed down.

The run in the database stays what it was asked for; the reader's choice is in the
address (`by`, `topic`, `consumer`, `strategy`), so that it can be shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Final
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from dashboard.models import Grouping, JobRun

from .results import iterate_batches
from .series import member_strategies

MOST_NAMES: Final = 500


class ViewError(ValueError):
    """The address asks for a view that there is not; the message names the value."""


def seen_as(run: JobRun, fields: Mapping[str, str]) -> JobRun:
    """Return a copy of a run with a reader's choice put in; it is not for saving.

    A run of one topic or consumer can be grouped otherwise, but not widened. Raises
    `ViewError`.
    """
    seen = copy(run)
    by = fields.get("by", "")
    if by:
        if by not in Grouping.values:
            known = ", ".join(Grouping.values)
            raise ViewError(
                _("There is no grouping “%(by)s”; there are %(known)s.")
                % {"by": by[:40], "known": known}
            )
        seen.grouping = by
    if not (run.topic or run.consumer):
        seen.topic = fields.get("topic", "")[:255]
        seen.consumer = fields.get("consumer", "")[:255]
    seen.members_under = _strategy(run, fields.get("strategy", ""))
    if seen.topic and seen.consumer:
        raise ViewError(
            _("Choose a topic or a consumer: lag is not kept for both at once.")
        )
    return seen


def _strategy(run: JobRun, name: str) -> str:
    if not name or not run.is_ready:
        return ""
    known = [row.name for row in member_strategies(run)]
    if name not in known:
        raise ViewError(
            _("Members are not shown under “%(name)s”; there are %(known)s.")
            % {"name": name[:40], "known": ", ".join(known) or "—"}
        )
    return name


def view_query(run: JobRun, shown: JobRun) -> str:
    """Return the address's part that makes `shown` of `run`; empty when equal."""
    fields = {
        "by": shown.grouping if shown.grouping != run.grouping else "",
        "topic": shown.topic if shown.topic != run.topic else "",
        "consumer": shown.consumer if shown.consumer != run.consumer else "",
        "strategy": shown.members_under,
    }
    return urlencode({key: value for key, value in fields.items() if value})


def names_in(run: JobRun, dataset: str, column: str) -> list[str]:
    """Return the different values of a column of one group, at most `MOST_NAMES`."""
    import pyarrow.compute as pc

    if not run.group:  # of all groups there would be too many to choose from
        return []
    found: set[str] = set()
    for batch in iterate_batches(run, dataset, columns=(column,)):
        found.update(pc.unique(batch.column(column)).to_pylist())
    return sorted(found)[:MOST_NAMES]
