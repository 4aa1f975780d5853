"""A part of a report's period, looked at more closely than the report was computed.

Lag and its map are read again in the finest step that fits, straight from the samples
while those are kept; where they are gone, or would be too many, the report's own steps
are shown. Every figure says which of the two it is (`meta`).
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext as _

from analytics import contracts as c
from analytics.errors import LakeError
from analytics.requests import step_for
from dashboard.charts.heatmap import queue_heatmap
from dashboard.charts.lag import lag_over_time
from dashboard.charts.series import Axis
from dashboard.models import Grouping, JobRun

from .figures import figure_of
from .series import heat_lines, lines_of, shown_grouping
from .steps import Row, axis_of, epoch_bands, highest, lag_steps, total
from .words import step_word

logger = logging.getLogger(__name__)

CLOSER: Final = ("lag", "queues")
"""Figures that are read again; the others are only cut to the window."""

MOST_SAMPLES_OF_ALL: Final = 3_000_000
"""Samples read for a window over all groups, where none can be skipped."""

SHORTEST: Final = timedelta(seconds=30)


class WindowError(ValueError):
    """The window cannot be shown; the message names what was given."""


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time, its end not included."""

    since: datetime
    until: datetime


def read_window(run: JobRun, fields: Mapping[str, str], zone: tzinfo) -> Window | None:
    """Read `from` and `to`, local times of the reader's zone; None without them.

    The window is held within the report's period and at least half a minute long.
    Raises `WindowError`.
    """
    texts = fields.get("from", ""), fields.get("to", "")
    if not any(texts):
        return None
    since, until = (_moment(text, zone) for text in texts)
    period = axis_of(run, zone)
    since, until = max(since, period.since), min(until, period.until)
    if until - since < SHORTEST:
        raise WindowError(
            _("“%(since)s” to “%(until)s” is not within the report's period.")
            % {"since": texts[0][:40], "until": texts[1][:40]}
        )
    return Window(since, until)


def figure_within(
    run: JobRun, name: str, zone: tzinfo, window: Window
) -> dict[str, Any]:
    """Return a figure over a window; raises KeyError for an unknown name."""
    closer = _closer(run, name, zone, window) if name in CLOSER else None
    if closer is None:
        figure = figure_of(run, name, zone)
        whole = axis_of(run, zone)
        shown = Axis(window.since, window.until, whole.step, zone)
        figure["layout"]["xaxis"]["range"] = shown.range
        return figure | {"meta": _meta(whole.step, closer=False)}
    axis, rows = closer
    if name == "lag":
        by_time: dict[datetime, list[Row]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: row[c.SINCE]):
            by_time[row[c.SINCE]].append(row)
        figure = lag_over_time(axis, lag_steps(by_time), epoch_bands(run))
    else:
        figure = queue_heatmap(axis, _in_order(run, rows))
    # The first step begins before the window; all figures show the same span.
    figure["layout"]["xaxis"]["range"] = [
        axis.local(window.since),
        axis.local(window.until),
    ]
    return figure | {"meta": _meta(axis.step, closer=True)}


def _closer(
    run: JobRun, name: str, zone: tzinfo, window: Window
) -> tuple[Axis, Sequence[Row]] | None:
    """Read the window's rows from the samples; None where that gives nothing finer."""
    own = axis_of(run, zone).step
    seconds = step_for(round((window.until - window.since).total_seconds() * 1000))
    step = timedelta(seconds=seconds)
    grouping = shown_grouping(run)
    if step >= own or run.consumer or grouping is Grouping.CONSUMER:
        return None
    since = window.since - (window.since - _EPOCH) % step
    axis = Axis(since, window.until, step, zone)
    try:
        steps = _steps(run, axis)
    except LakeError as error:
        logger.info("run=%s window not read: %s", run.pk, error)
        return None
    per_queue = name == "queues" or bool(run.topic)
    table = steps.by_queue if per_queue else steps.by_group
    rows: list[Row] = table.to_pylist()
    if name == "queues" and grouping is not Grouping.QUEUE:
        rows = _summed(rows, grouping)
    elif name == "lag" and run.topic:
        rows = _summed(rows, Grouping.TOPIC)
    return (axis, rows) if rows else None


def _steps(run: JobRun, axis: Axis) -> Any:
    # Late: pages that show no report need no Arrow.
    from analytics.lake.steps import MOST_ROWS, read_steps
    from analytics.lake.storage import open_storage

    return read_steps(
        open_storage(settings.ROCKETSCOPE_LAKE_URL),
        cluster=run.cluster,
        group=run.group,
        topic=run.topic,
        since_ms=_ms(axis.since),
        until_ms=_ms(axis.until),
        step_seconds=round(axis.step.total_seconds()),
        most_rows=MOST_ROWS if run.group else MOST_SAMPLES_OF_ALL,
    )


def _summed(rows: Sequence[Row], grouping: Grouping) -> list[Row]:
    """Sum queues over each group or topic; what is not known adds nothing."""
    key = c.GROUP if grouping is Grouping.GROUP else c.TOPIC
    lines: dict[tuple[str, datetime], list[Row]] = defaultdict(list)
    for row in rows:
        lines[row[key], row[c.SINCE]].append(row)
    return [
        {
            key: name,
            c.SINCE: since,
            c.LAG_MEAN: total(row[c.LAG_MEAN] for row in each),
            c.LAG_MS_PEAK: highest(row[c.LAG_MS_PEAK] for row in each),
            c.QUEUE_COUNT: len(each),
            c.KNOWN_QUEUES: sum(1 for row in each if row[c.SECONDS] > 0),
        }
        for (name, since), each in lines.items()
    ]


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _in_order(run: JobRun, rows: Sequence[Row]) -> list[Any]:
    """Return the map's lines in the order of the whole report, so that none jumps."""
    found = {line.label: line for line in lines_of(rows, shown_grouping(run))}
    known = [line.label for line in heat_lines(run)]
    return [found[label] for label in known if label in found]


def _meta(step: timedelta, *, closer: bool) -> dict[str, Any]:
    seconds = round(step.total_seconds())
    text = (
        _("steps of %(step)s, read from the samples")
        if closer
        else _("steps of %(step)s, as the report was computed")
    )
    return {"step_seconds": seconds, "text": text % {"step": step_word(seconds)}}


def _moment(text: str, zone: tzinfo) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise WindowError(
            _("“%(text)s” is no date and time.") % {"text": text[:40]}
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
