"""The state and subject of a run in words for people, in place of keys."""

from __future__ import annotations

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dashboard.models import Grouping, JobRun, Paper, ReportDefinition

from .lost import GONE, UNCLAIMED, UNCLAIMED_SECONDS
from .report import Report

_PHASES: Final[dict[str, Promise]] = {
    "listing": gettext_lazy("listing files"),
    "starting": gettext_lazy("starting Spark"),
    "samples": gettext_lazy("reading samples"),
    "openings": gettext_lazy("counting openings"),
    "summary": gettext_lazy("summing up"),
    "done": gettext_lazy("done"),
}


def phase_word(run: JobRun) -> str:
    """Return what an active run is doing or waiting for, or how a run ended."""
    if run.state == JobRun.State.QUEUED:
        return _("waiting for the analytics worker")
    if run.state == JobRun.State.RUNNING and run.cancel_asked:
        return _("stopping")
    if run.state == JobRun.State.RUNNING:
        return str(_PHASES.get(run.phase, run.phase.replace("_", " ")))
    return state_word(run)


STATES: Final[dict[str, Promise]] = {
    JobRun.State.QUEUED: gettext_lazy("waiting"),
    JobRun.State.RUNNING: gettext_lazy("running"),
    JobRun.State.DONE: gettext_lazy("ready"),
    JobRun.State.FAILED: gettext_lazy("failed"),
    JobRun.State.CANCELLED: gettext_lazy("cancelled"),
}

_ERRORS: Final[dict[str, Promise]] = {
    GONE: gettext_lazy("the analytics worker that ran this has gone"),
    UNCLAIMED: gettext_lazy(
        "no analytics worker has taken this for %(minutes)s minutes"
    ),
}


def error_word(run: JobRun) -> str:
    """Return why a run failed: the program's own reasons in the reader's language."""
    known = _ERRORS.get(run.error)
    if known is None:
        return run.error
    return str(known) % {"minutes": f"{UNCLAIMED_SECONDS / 60:.0f}"}


SCHEDULES: Final[dict[str, Promise]] = {
    ReportDefinition.Every.NEVER: gettext_lazy("only when asked"),
    ReportDefinition.Every.HOUR: gettext_lazy("every hour"),
    ReportDefinition.Every.DAY: gettext_lazy("every day"),
    ReportDefinition.Every.WEEK: gettext_lazy("every week"),
    ReportDefinition.Every.MONTH: gettext_lazy("every month"),
}

PAPERS: Final[dict[str, str]] = {Paper.A4: "A4", Paper.LETTER: "Letter"}

GROUPINGS: Final[dict[str, Promise]] = {
    Grouping.GROUP: gettext_lazy("group"),
    Grouping.TOPIC: gettext_lazy("topic"),
    Grouping.QUEUE: gettext_lazy("queue"),
    Grouping.CONSUMER: gettext_lazy("consumer"),
}
"""What a row stands for, in the order in which it is offered."""


def schedule_word(every: str) -> str:
    """Return how often a definition runs."""
    return str(SCHEDULES[every])


def state_word(run: JobRun) -> str:
    """Return the state of a run."""
    return str(STATES[run.state])


_HEADS: Final[dict[Grouping, Promise]] = {
    Grouping.GROUP: gettext_lazy("Group"),
    Grouping.TOPIC: gettext_lazy("Topic"),
    Grouping.QUEUE: gettext_lazy("Queue"),
    Grouping.CONSUMER: gettext_lazy("Consumer"),
}

_OVER_TIME: Final[dict[Grouping, Promise]] = {
    Grouping.GROUP: gettext_lazy("Groups over time"),
    Grouping.TOPIC: gettext_lazy("Topics over time"),
    Grouping.QUEUE: gettext_lazy("Queues over time"),
    Grouping.CONSUMER: gettext_lazy("Consumers over time"),
}


def over_time_word(grouping: Grouping) -> str:
    """Return the title of a heatmap by what its lines stand for."""
    return str(_OVER_TIME[grouping])


def grouping_word(grouping: Grouping) -> str:
    """Return the heading of the column that names what a row stands for."""
    return str(_HEADS[grouping])


def title_of(about: JobRun | Report) -> str:
    """Return a report's name: its own, or what it is about."""
    return about.name or _("Lag report, %(what)s") % {"what": subject_of(about)}


def subject_of(about: JobRun | Report) -> str:
    """Return what a report is about, from the widest to the narrowest."""
    parts = [about.group or _("all groups"), about.topic, about.consumer]
    return " · ".join(part for part in parts if part)


def owner_facts(report: Report) -> list[tuple[str, str]]:
    """Return who owns the group of a report and how to reach them, each by its name."""
    if report.owner is None:
        return []
    contact = report.owner.contact
    facts = [(_("Team"), report.owner.team)]
    return [*facts, (_("Contact"), contact)] if contact else facts


def step_word(seconds: int) -> str:
    """Write the length of a step in its largest whole unit."""
    if seconds % 3600 == 0:
        return _("%(count)s h") % {"count": seconds // 3600}
    if seconds % 60 == 0:
        return _("%(count)s min") % {"count": seconds // 60}
    return _("%(seconds)s s") % {"seconds": seconds}


def source_word(source: str) -> str:
    """Return where numbers were read from: samples, or roll-ups and their steps."""
    seconds = source.rpartition("_")[2]
    if not seconds.isdecimal():
        return _("samples")
    return _("roll-ups of %(step)s") % {"step": step_word(int(seconds))}
