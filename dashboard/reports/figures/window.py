"""A part of a report's period, looked at more closely than the report was computed.

Lag and its map are read again in the finest step that fits and is kept: from samples,
later from roll-ups of minutes or ten minutes. Where nothing finer is kept, or it would
be too much to read, the report's own steps are shown. Every figure names its step and
its source (`meta`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics import contracts as c
from analytics.errors import LakeError
from analytics.requests import STEP_LADDER, step_for
from dashboard.clock.moments import as_ms
from dashboard.models import Grouping
from dashboard.reports.data.results import QUEUE_KEY
from dashboard.reports.data.series import heat_lines, lines_of, shown_grouping
from dashboard.reports.data.steps import epoch_bands, peaks_of, steps_of
from dashboard.reports.data.values import LagStep, QueueRow
from dashboard.reports.report import Report
from dashboard.reports.request.axis import Axis
from dashboard.reports.request.epochs import are_kept, spans_between
from dashboard.reports.words import source_word, step_word

from .gallery import figure_of, on_shared_axis
from .heatmap import queue_heatmap
from .lag import lag_over_time

if TYPE_CHECKING:
    from analytics.lake.steps import Steps

logger = logging.getLogger(__name__)

CLOSER: Final = ("lag", "queues")
"""Figures that are read again; the others are only cut to the window."""

MOST_ROWS_OF_ALL: Final = 4_000_000
"""Limit of rows read for a window over all groups, where none can be skipped."""

SHORTEST: Final = timedelta(seconds=30)


class WindowError(ValueError):
    """The window cannot be shown; the message names what was given."""


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time, its end not included."""

    since: datetime
    until: datetime


def read_window(report: Report, fields: Mapping[str, str]) -> Window | None:
    """Read `from` and `to`, local times of the reader's zone; None without them.

    The window is limited to the report's period and at least half a minute long. Raises
    `WindowError`.
    """
    texts = fields.get("from", ""), fields.get("to", "")
    if not any(texts):
        return None
    since, until = (_moment(text, report.zone) for text in texts)
    period = report.axis
    since, until = max(since, period.since), min(until, period.until)
    if until - since < SHORTEST:
        raise WindowError(
            _("“%(since)s” to “%(until)s” is not within the report's period.")
            % {"since": texts[0][:40], "until": texts[1][:40]}
        )
    return Window(since, until)


def shown_figure(report: Report, name: str, window: Window | None) -> dict[str, Any]:
    """Return a figure over a window, or over the whole period without one.

    Raises KeyError for an unknown name.
    """
    if window is None:
        step = report.axis.step
        return figure_of(report, name) | {"meta": _meta(step, _computed_from(report))}
    return figure_within(report, name, window)


def figure_within(report: Report, name: str, window: Window) -> dict[str, Any]:
    """Return a figure over a window; raises KeyError for an unknown name."""
    closer = _closer(report, name, window) if name in CLOSER else None
    if closer is None:
        figure = figure_of(report, name)
        whole = report.axis
        shown = Axis(window.since, window.until, whole.step, report.zone)
        figure["layout"]["xaxis"]["range"] = shown.range
        return figure | {"meta": _meta(whole.step, _computed_from(report))}
    axis, steps = closer
    if name == "lag":
        figure = lag_over_time(
            axis, _lag_steps(report, axis, steps), epoch_bands(report)
        )
    else:
        figure = queue_heatmap(axis, _in_order(report, axis, steps))
    # The first step begins before the window; all figures show the same span.
    figure["layout"]["xaxis"]["range"] = [
        axis.local(window.since),
        axis.local(window.until),
    ]
    words = _("read from %(source)s") % {"source": source_word(steps.source)}
    return on_shared_axis(report, figure) | {
        "meta": _meta(axis.step, words, closer=True)
    }


def _closer(report: Report, name: str, window: Window) -> tuple[Axis, Steps] | None:
    """Read the window's rows again; None where that gives nothing finer."""
    if report.consumer or shown_grouping(report) is Grouping.CONSUMER:
        return None
    found = _read(report, window)
    if found is None or not found[1].by_queue.num_rows:
        return None
    return found


def _read(report: Report, window: Window) -> tuple[Axis, Steps] | None:
    """Read the finest steps that are kept and few enough; None without finer ones.

    Without the epochs of that time, what was not measured could not be told apart from
    what was not there.
    """
    if not are_kept(window.since, timezone.now()):
        return None
    # Imported late: pages that show no report need no Arrow.
    from analytics.lake.steps import MOST_ROWS, finest_step, read_steps
    from analytics.lake.storage import open_storage

    storage = open_storage(settings.ROCKETSCOPE_LAKE_URL)
    own = round(report.axis.step.total_seconds())
    span = as_ms(window.since), as_ms(window.until)
    try:
        finest = finest_step(
            storage,
            cluster=report.cluster,
            since_ms=span[0],
            until_ms=span[1],
            at_least=step_for(span[1] - span[0]),
        )
    except LakeError as error:
        logger.info("run=%s lake not read: %s", report.run.pk, error)
        return None
    # From the begin of the first step to the end of the time that the last samples
    # claim.
    there = spans_between(
        report.cluster,
        report.group,
        window.since - timedelta(seconds=own),
        window.until + timedelta(seconds=c.MOST_WEIGHT),
    )
    for seconds in (each for each in STEP_LADDER if finest <= each < own):
        step = timedelta(seconds=seconds)
        since = window.since - (window.since - _EPOCH) % step
        try:
            steps = read_steps(
                storage,
                cluster=report.cluster,
                group=report.group,
                topic=report.topic,
                since_ms=as_ms(since),
                until_ms=span[1],
                step_seconds=seconds,
                there=there,
                most_rows=MOST_ROWS if report.group else MOST_ROWS_OF_ALL,
            )
        except LakeError as error:
            logger.info(
                "run=%s steps of %s s not read: %s", report.run.pk, seconds, error
            )
            continue
        return Axis(since, window.until, step, report.zone), steps
    return None


def _lag_steps(report: Report, axis: Axis, steps: Steps) -> list[LagStep]:
    """Return the lag of a run's subject, counted as in the whole report."""
    if not report.group:
        return steps_of(steps.by_group, (c.GROUP,), axis)
    # The peaks are those of the topic alone if only the topic was read.
    return steps_of(steps.by_queue, QUEUE_KEY, axis, peaks_of(steps.by_group))


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _in_order(report: Report, axis: Axis, steps: Steps) -> list[QueueRow]:
    """Return the map's lines in the order of the whole report, so that none moves."""
    grouping = shown_grouping(report)
    of_groups = grouping is Grouping.GROUP and not report.group
    table = steps.by_group if of_groups else steps.by_queue
    key = (c.GROUP,) if of_groups else QUEUE_KEY
    lines = lines_of(table, key, grouping, axis)
    found = {line.label: line for line in lines}
    known = [line.label for line in heat_lines(report)]
    return [found[label] for label in known if label in found]


def _meta(step: timedelta, source: str, *, closer: bool = False) -> dict[str, Any]:
    seconds = round(step.total_seconds())
    text = _("steps of %(step)s, %(source)s")
    words = {"step": step_word(seconds), "source": source}
    return {"step_seconds": seconds, "closer": closer, "text": text % words}


def _computed_from(report: Report) -> str:
    source = report.run.summary.get("source", "")
    if not source:  # from an older run
        return _("as the report was computed")
    return _("computed from %(source)s") % {"source": source_word(source)}


def _moment(text: str, zone: tzinfo) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise WindowError(
            _("“%(text)s” is not a date and time.") % {"text": text[:40]}
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
