"""A trial that is done, with a summary as the job writes it."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from dashboard.models import JobRun

UNTIL: Final = datetime(2026, 3, 13, 12, tzinfo=UTC)
SINCE: Final = UNTIL - timedelta(days=7)
HOUR_MS: Final = 3_600_000
SINCE_MS: Final = int(SINCE.timestamp() * 1000)
RULE: Final = {
    "kind": "lag",
    "limit": 40_000.0,
    "clear_limit": None,
    "hold_ms": 1_800_000,
    "clear_ms": 60_000,
}


def at(hour: float) -> int:
    """Return the hour of the trial's week, in ms since the epoch."""
    return SINCE_MS + int(hour * HOUR_MS)


def opening(hour: float, hours: float | None, **more: Any) -> dict[str, Any]:
    """Return an opening that lasts so long; None is until the end."""
    return {
        "group": "payments-settle",
        "began_ms": at(hour - 0.5),
        "opened_ms": at(hour),
        "closed_ms": None if hours is None else at(hour + hours),
        "peak": 70_200.0,
        "known": True,
        "endless": False,
    } | more


def series() -> dict[str, Any]:
    """Return a wave with three peaks, and five hours that were not measured."""
    values: list[float | None] = []
    for place in range(7 * 24 * 3):
        hour = place / 3
        peaks = ((46, 64_000, 3), (94, 37_000, 2.5), (131, 72_000, 4))
        high = sum(top * math.exp(-(((hour - at) / w) ** 2)) for at, top, w in peaks)
        quiet = 7_000 + 2_500 * math.sin(hour / 24 * 6.28) + 700 * math.sin(place * 1.7)
        values.append(None if 70 <= hour < 75 else round(quiet + high, 1))
    return {
        "group": "payments-settle",
        "since_ms": SINCE_MS,
        "bucket_ms": HOUR_MS // 3,
        "values": values,
        "marks": "".join("?" if value is None else "." for value in values),
    }


def summary(**changes: Any) -> dict[str, Any]:
    """Return a week of one group in which a rule fired three times."""
    openings = [opening(44, 5.5), opening(93, 2.5), opening(129, 7)]
    group = {
        "group": "payments-settle",
        "fired": 3,
        "open_ms": 15 * HOUR_MS,
        "unknown_ms": 5 * HOUR_MS,
        "unknown": [[at(70), at(75)]],
        "unknown_count": 1,
    }
    return {
        "schema": 1,
        "job": "trial",
        "since": SINCE.isoformat(),
        "until": UNTIL.isoformat(),
        "step_seconds": 60,
        "source": "rollup_queues_60",
        "rule": RULE,
        "group_count": 1,
        "fired_groups": 1,
        "fired": 3,
        "still_open": 0,
        "open_ms": 15 * HOUR_MS,
        "unknown_ms": 5 * HOUR_MS,
        "unknown_groups": 1,
        "others": [{"limit": 27_000.0, "fired": 4}, {"limit": 60_000.0, "fired": 2}],
        "listed": [group],
        "openings": openings,
        "series": series(),
    } | changes


def finished_trial(
    *, pk: int | None = None, rule: dict[str, Any] | None = None, **changes: Any
) -> JobRun:
    """Return the run of a trial that is done."""
    used = RULE | (rule or {})
    return JobRun.objects.create(
        pk=pk,
        job="trial",
        cluster="hangzhou",
        group="payments-settle",
        since=SINCE,
        until=UNTIL,
        state=JobRun.State.DONE,
        part=1.0,
        asked_at=UNTIL,
        asked_by_name="olivia",
        finished_at=UNTIL,
        options={"rule": used, "pattern": "payments-settle", "groups": []},
        summary=summary(**{"rule": used} | changes),
    )
