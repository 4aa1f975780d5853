from __future__ import annotations

from datetime import UTC, datetime

import pytest

from analytics.errors import JobError
from analytics.requests import (
    MOST_STEPS,
    STEP_LADDER,
    JobRequest,
    iso,
    parse_moment,
    step_for,
)
from tests.analytics.rows import HOUR, START_MS

NOW = datetime(2026, 3, 13, 12, tzinfo=UTC)


def test_a_request_survives_the_wire() -> None:
    request = JobRequest(
        "skew",
        "/lake",
        "/out",
        since_ms=1,
        until_ms=2,
        clusters=("a",),
        groups=("b", "c"),
        step_seconds=60,
        options={"MACHINE_ROOM": {"rooms": ["r1"]}},
    )
    assert JobRequest.from_json(request.to_json()) == request


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"job": "sum"}, "unknown job 'sum'; the known ones are lag, skew, report"),
        ({"lake": ""}, "needs the URL of a lake"),
        ({"since_ms": START_MS, "until_ms": START_MS}, r"2026-03-13T00:00:00\+00:00"),
        ({"step_seconds": 0}, "a step of 0 s"),
    ],
)
def test_values_that_make_no_sense_are_named(
    changes: dict[str, object], message: str
) -> None:
    values = {"job": "lag", "lake": "/lake", "output": "/out"} | changes
    with pytest.raises(JobError, match=message):
        JobRequest(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["{", "[]", "[1]", '{"job": "lag"}', '{"colour": 1}'])
def test_what_is_no_request_is_refused(text: str) -> None:
    with pytest.raises(JobError):
        JobRequest.from_json(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-13T08:00+08:00", START_MS),
        ("2026-03-13T00:00:00Z", START_MS),
        ("12h", START_MS),
        ("720m", START_MS),
        ("43200s", START_MS),
        ("1d", START_MS - 12 * HOUR),
    ],
)
def test_moments_are_read_with_zone_or_as_ages(text: str, expected: int) -> None:
    assert parse_moment(text, NOW) == expected


@pytest.mark.parametrize("text", ["2026-03-13T08:00", "yesterday", "h", "5y", ""])
def test_a_moment_that_is_not_clear_is_refused(text: str) -> None:
    with pytest.raises(JobError, match=r"zone|not a time"):
        parse_moment(text, NOW)


def test_the_step_is_the_shortest_that_fits() -> None:
    assert step_for(1) == 10
    assert step_for(10_000 * MOST_STEPS) == 10
    assert step_for(10_000 * MOST_STEPS + 1) == 60
    assert step_for(10**12) == STEP_LADDER[-1]


def test_times_are_told_with_their_zone() -> None:
    assert iso(START_MS) == "2026-03-13T00:00:00+00:00"
    assert iso(START_MS + 5) == "2026-03-13T00:00:00.005+00:00"
