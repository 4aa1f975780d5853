"""Contents of the Timers page: beat's pulse, and each worker's runs of its timers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

import redis
from django.conf import settings
from django.db.models import QuerySet

from dashboard.clock.ticks import FALLBACK
from dashboard.live.decoding import read_object
from dashboard.live.names import BEAT_KEY
from dashboard.live.state import live_state
from dashboard.models import FleetWorker, TimerRun
from rmqcore.timers import PERIOD_S

from .lateness import Run, Strip, strip

PULSE_SECONDS: Final = 1.0
DEAD_AFTER_SECONDS: Final = 3 * PULSE_SECONDS
"""Beat is called dead after three missed pulses."""

PERIODS: Final[Mapping[str, float]] = {str(t): period for t, period in PERIOD_S.items()}
"""The six timers of a client, with their periods in seconds."""

SPANS: Final = (5, 10, 30, 60)
"""Spans to choose from, in minutes; longer ones would have more marks than pixels."""

BeatState = Literal["alive", "dead", "never", "unknown"]


@dataclass(frozen=True, slots=True)
class Beat:
    """Beat's last pulse. `age_ms` is None if none is stored or the cache is down."""

    state: BeatState
    age_ms: int | None = None
    name: str = ""
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class TimerRow:
    """One timer of one worker over the chosen span."""

    timer: str
    period: float
    strip: Strip
    last_ago_ms: int | None


@dataclass(frozen=True, slots=True)
class WorkerTimers:
    """One worker; `worker` is None if it has left and only its runs are still there."""

    name: str
    worker: FleetWorker | None
    alive: bool
    gone_ms: int | None
    rows: tuple[TimerRow, ...]


def read_beat(now: datetime) -> Beat:
    """Return beat's pulse as it stands now."""
    if not settings.ROCKETSCOPE_REDIS_URL:
        return Beat("unknown")
    try:
        pulse = read_object(live_state().client.get(BEAT_KEY))
    except redis.RedisError:
        return Beat("unknown")
    if pulse is None:
        return Beat("never")
    age_ms = max(0, round(now.timestamp() * 1000) - int(pulse["at"]))
    state: BeatState = "dead" if age_ms > DEAD_AFTER_SECONDS * 1000 else "alive"
    return Beat(state, age_ms, pulse["name"], pulse["pid"])


def read_workers(now: datetime, minutes: int) -> list[WorkerTimers]:
    """Return the workers with their runs of the last minutes, live ones first."""
    since = now - timedelta(minutes=minutes)
    runs: dict[str, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for row in TimerRun.objects.filter(due__gte=since).order_by("due").iterator():
        runs[row.worker][row.timer].append(as_run(row))
    known = {worker.name: worker for worker in FleetWorker.objects.all()}
    names = sorted(
        {*runs, *(n for n, w in known.items() if w.seen_until >= since)},
        key=lambda name: (not _alive(known.get(name), now), name),
    )
    return [_worker(name, known.get(name), runs[name], since, now) for name in names]


def find_runs(
    *, worker: str = "", timer: str = "", trouble: bool = False
) -> QuerySet[TimerRun]:
    """Return runs, newest first; `trouble` for failed, skipped or made-up ones only."""
    rows = TimerRun.objects.order_by("-due", "worker", "timer")
    if worker:
        rows = rows.filter(worker=worker)
    if timer:
        rows = rows.filter(timer=timer)
    if trouble:
        done = TimerRun.Outcome.DONE
        rows = rows.exclude(outcome=done) | rows.filter(asked_by=FALLBACK)
    return rows


def as_run(row: TimerRun) -> Run:
    """Return a row as the strip needs it."""
    return Run(
        row.slot,
        row.due.timestamp(),
        row.started.timestamp(),
        row.took_ms,
        row.outcome,
        row.asked_by == FALLBACK,
    )


def _alive(worker: FleetWorker | None, now: datetime) -> bool:
    return worker is not None and worker.seen_until > now


def _worker(
    name: str,
    worker: FleetWorker | None,
    runs: Mapping[str, list[Run]],
    since: datetime,
    now: datetime,
) -> WorkerTimers:
    alive = _alive(worker, now)
    gone_ms = None
    if worker is not None and not alive:
        gone_ms = round((now - worker.seen_until).total_seconds() * 1000)
    return WorkerTimers(
        name,
        worker,
        alive,
        gone_ms,
        tuple(
            _row(timer, runs.get(timer, []), worker, (since, now)) for timer in PERIODS
        ),
    )


def _row(
    timer: str,
    runs: list[Run],
    worker: FleetWorker | None,
    span: tuple[datetime, datetime],
) -> TimerRow:
    since, now = (moment.timestamp() for moment in span)
    period = PERIODS[timer]
    drawn = strip(
        runs,
        period=period,
        since=since,
        now=now,
        alive_from=worker.started_at.timestamp() if worker else None,
        alive_until=worker.seen_until.timestamp() if worker else now,
    )
    last = drawn.last
    ago = None if last is None else max(0, round((now - last.started) * 1000))
    return TimerRow(timer, period, drawn, ago)
