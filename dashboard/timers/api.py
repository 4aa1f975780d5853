"""REST routes of timers: beat's pulse, and the recorded runs of every worker."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.clock.moments import as_ms
from dashboard.clock.ticks import FALLBACK
from dashboard.models import FleetWorker, TimerRun
from dashboard.rest.paging import PageQuery, newest

from .reads import PERIODS, find_runs, read_beat

router = Router()


class BeatOut(Schema):
    """Beat's last pulse. There is one each second; beat is dead after missing three."""

    state: Literal["alive", "dead", "never", "unknown"]
    age_ms: int | None
    name: str
    pid: int | None


class WorkerOut(Schema):
    """One worker that hosts members; times in ms since the epoch."""

    name: str
    host: str
    pid: int
    started_at: int
    alive: bool


class TimersOut(Schema):
    """The clock, the workers, and the timers with their periods in seconds."""

    beat: BeatOut
    workers: list[WorkerOut]
    periods: dict[str, float]


class TimerRunOut(Schema):
    """One run of one slot; `made_up` when the worker ran it without beat's tick."""

    worker: str
    timer: str
    slot: int
    due: int
    started: int
    late_ms: float
    took_ms: float
    outcome: Literal["done", "partly", "failed", "skipped"]
    asked_by: str
    made_up: bool
    members: int
    error: str | None


class TimerRunsQuery(PageQuery):
    """Which runs to return; the newest come first."""

    worker: str = Field("", max_length=255)
    timer: Literal["", *PERIODS] = ""  # type: ignore[valid-type]
    trouble: bool = Field(False, description="only failed, skipped and made-up runs")
    limit: int = newest(200)


@router.get("/timers", response={200: TimersOut})
def timers(request: HttpRequest) -> dict[str, Any]:
    """Return beat's pulse and the workers."""
    now = timezone.now()
    return {
        "beat": read_beat(now),
        "workers": [
            {
                "name": worker.name,
                "host": worker.host,
                "pid": worker.pid,
                "started_at": as_ms(worker.started_at),
                "alive": worker.seen_until > now,
            }
            for worker in FleetWorker.objects.all()
        ],
        "periods": dict(PERIODS),
    }


@router.get("/timers/runs", response={200: list[TimerRunOut]})
def runs(request: HttpRequest, query: Query[TimerRunsQuery]) -> list[dict[str, Any]]:
    """Return recorded runs of the last day, the newest first."""
    rows = find_runs(worker=query.worker, timer=query.timer, trouble=query.trouble)
    return [_document(row) for row in query.of(rows)]


def _document(row: TimerRun) -> dict[str, Any]:
    return {
        "worker": row.worker,
        "timer": row.timer,
        "slot": row.slot,
        "due": as_ms(row.due),
        "started": as_ms(row.started),
        "late_ms": max(0.0, (row.started - row.due).total_seconds() * 1000),
        "took_ms": row.took_ms,
        "outcome": row.outcome,
        "asked_by": row.asked_by,
        "made_up": row.asked_by == FALLBACK,
        "members": row.members,
        "error": row.error or None,
    }
