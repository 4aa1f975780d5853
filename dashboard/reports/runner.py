"""Run one `JobRun`: claim it, follow it in the analytics process, save its outcome.

1. Claim: queued → running by a conditional update; whoever loses the race does nothing.
2. Follow: progress goes to the row, with the time it was last seen; a cancel that
   somebody wrote into the row is passed on. A job over its time is killed.
3. End: done with its summary, failed with a sentence, or cancelled.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from analytics.lake.storage import open_storage
from analytics.requests import JobRequest
from dashboard.clock.moments import as_ms
from dashboard.jobs.child import AnalyticsChild, ChildEndedError, Event
from dashboard.models import JobRun
from dashboard.models.report import TRIAL
from dashboard.reports.data.output import output_of

from .alert_records import keep_alerts

logger = logging.getLogger(__name__)

JOB_SECONDS: Final = 3600.0
CANCEL_SECONDS: Final = 20.0
"""Time that a job may take to stop when asked, before its process is killed."""
_WRITE_SECONDS: Final = 2.0

Now = Callable[[], float]


def run_claimed(pk: int, child: AnalyticsChild, now: Now = time.monotonic) -> bool:
    """Run the job of that key; return False if it cannot be claimed."""
    run = claim(pk)
    if run is None:
        return False
    logger.info("run=%s job=%s cluster=%s started", pk, run.job, run.cluster)
    try:
        ending = _follow(run, child, now)
    except ChildEndedError as error:
        ending = {"event": "failed", "error": f"{error}; see the worker's log"}
    _finish(run, ending)
    return True


def claim(pk: int) -> JobRun | None:
    """Claim a queued run; return None if another worker has it or it was cancelled."""
    moment = timezone.now()
    claimed = JobRun.objects.filter(
        pk=pk, state=JobRun.State.QUEUED, cancel_asked=False
    ).update(state=JobRun.State.RUNNING, started_at=moment, seen_at=moment, error="")
    return JobRun.objects.get(pk=pk) if claimed else None


def request_of(run: JobRun) -> JobRequest:
    """Return the request to the analytics process for a run."""
    common: dict[str, Any] = {
        "job": run.job,
        "lake": settings.ROCKETSCOPE_LAKE_URL,
        "output": output_of(run),
        "since_ms": as_ms(run.since),
        "until_ms": as_ms(run.until),
        "clusters": (run.cluster,),
    }
    if run.job == TRIAL:
        return JobRequest(
            **common,
            groups=tuple(run.options["groups"]),
            group_pattern=run.options["pattern"],
            rule=run.options["rule"],
        )
    return JobRequest(
        **common,
        groups=(run.group,) if run.group else (),
        options=run.options,
        added_members=tuple(run.added_members),
    )


def _follow(run: JobRun, child: AnalyticsChild, now: Now) -> Event:
    name = str(run.pk)
    started = written = now()
    asked: float | None = None
    for event in child.run(name, request_of(run)):
        if event is not None and event["event"] != "progress":
            return event
        moment = now()
        if event is not None:
            _seen(run, part=event["part"], phase=event["phase"])
            written = moment
        elif moment - written >= _WRITE_SECONDS:
            _seen(run)
            written = moment
        if asked is None and _is_cancelled(run):
            asked = moment
            child.cancel(name)
        if asked is not None and moment - asked > CANCEL_SECONDS:
            child.kill()
            return {"event": "cancelled"}
        if moment - started > JOB_SECONDS:
            child.kill()
            return {"event": "failed", "error": f"stopped after {JOB_SECONDS:.0f} s"}
    raise ChildEndedError("the analytics process gave no result")


def _with_alerts(run: JobRun, summary: dict[str, Any]) -> dict[str, Any]:
    """Write the alerts of a report's period beside its numbers, and sum them up."""
    kept = keep_alerts(run)
    return {**summary, **kept, "rows": {**summary.get("rows", {}), **kept["rows"]}}


def _seen(run: JobRun, **values: Any) -> None:
    JobRun.objects.filter(pk=run.pk).update(seen_at=timezone.now(), **values)


def _is_cancelled(run: JobRun) -> bool:
    return JobRun.objects.filter(pk=run.pk, cancel_asked=True).exists()


def _finish(run: JobRun, ending: Event) -> None:
    states = {
        "done": JobRun.State.DONE,
        "failed": JobRun.State.FAILED,
        "cancelled": JobRun.State.CANCELLED,
    }
    state = states[ending["event"]]
    values: dict[str, Any] = {"state": state, "error": ending.get("error", "")}
    if state is JobRun.State.DONE and run.job != TRIAL:
        try:
            ending = {**ending, "summary": _with_alerts(run, ending["summary"])}
        except OSError as error:
            state = JobRun.State.FAILED
            values = {"state": state, "error": f"its alerts are not written: {error}"}
    if state is JobRun.State.DONE:
        output = open_storage(output_of(run))
        size = sum(file.size for file in output.list_files(""))
        values |= {"summary": ending["summary"], "part": 1.0, "size_bytes": size}
    moment = timezone.now()
    # A run that was given up as lost in the meantime keeps that state.
    JobRun.objects.filter(pk=run.pk, state=JobRun.State.RUNNING).update(
        finished_at=moment, seen_at=moment, **values
    )
    logger.info("run=%s %s %s", run.pk, state, values["error"])
