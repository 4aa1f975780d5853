"""What a run is doing, in words: the keys of a job's phases are not for people."""

from __future__ import annotations

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dashboard.models import JobRun

_PHASES: Final[dict[str, Promise]] = {
    "listing": gettext_lazy("listing files"),
    "starting": gettext_lazy("starting Spark"),
    "samples": gettext_lazy("reading samples"),
    "lag_by_queue": gettext_lazy("lag by queue"),
    "lag_by_group": gettext_lazy("lag by group"),
    "lag_by_consumer": gettext_lazy("lag by consumer"),
    "load_by_member": gettext_lazy("load by member"),
    "skew_by_time": gettext_lazy("skew over time"),
    "strategies": gettext_lazy("comparing strategies"),
    "summary": gettext_lazy("summing up"),
    "done": gettext_lazy("done"),
}


def phase_word(run: JobRun) -> str:
    """Return what an active run does or waits for, or how it ended."""
    if run.state == JobRun.State.QUEUED:
        return _("waiting for the analytics worker")
    if run.state == JobRun.State.RUNNING and run.cancel_asked:
        return _("stopping")
    if run.state == JobRun.State.RUNNING:
        return str(_PHASES.get(run.phase, run.phase.replace("_", " ")))
    return str(run.get_state_display())
