"""Requests to jobs and reports of their progress; no Spark is loaded here.

Requests and reports cross process borders as JSON, so both ends are defined in one
place and checked on arrival.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from analytics import contracts as c
from analytics.errors import JobError
from analytics.trial import Rule

JOBS: Final = (
    c.JOB_LAG,
    c.JOB_SKEW,
    c.JOB_REPORT,
    c.JOB_BACKTEST,
    c.JOB_TRIAL,
    c.JOB_ROLLUP,
)

STEP_LADDER: Final = (10, 60, 600, 3600)
"""Step lengths that can be requested, in seconds; sweeps are at least 10 s apart."""

MOST_STEPS: Final = 720
"""A step is chosen so that a chart has at most this many points per line."""

Progress = Callable[[float, str], None]
"""Called with the part done (0 to 1) and a word for what comes next."""


@dataclass(frozen=True, slots=True)
class JobRequest:
    """One job over [since, until) of a lake; None leaves that side open.

    `clusters` and `groups` empty mean all. `options` gives strategies the options of
    `rmqcore.allocation`, by name; `added_members` are numbers of members to compare
    with, more or (negative) fewer than there were; `strategies` limits the comparison
    to these. `rule` is what a trial tries, as `analytics.trial.Rule` reads it, and
    `group_pattern` an alternative to `groups`, where `*` stands for any text and `?`
    for any one character. Raises `JobError` for values that make no sense.
    """

    job: str
    lake: str
    output: str
    since_ms: int | None = None
    until_ms: int | None = None
    clusters: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    step_seconds: int | None = None
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    added_members: tuple[int, ...] = ()
    strategies: tuple[str, ...] = ()
    rule: Mapping[str, Any] = field(default_factory=dict)
    group_pattern: str = ""

    def __post_init__(self) -> None:
        if self.job not in JOBS:
            raise JobError(
                f"unknown job {self.job!r}; the known ones are {', '.join(JOBS)}"
            )
        if not self.lake or not self.output:
            raise JobError("a job needs the URL of a lake and of its output")
        since, until = self.since_ms, self.until_ms
        if since is not None and until is not None and since >= until:
            raise JobError(
                f"since {iso(since)} is not before until {iso(until)}: nothing to do"
            )
        if self.step_seconds is not None and self.step_seconds < 1:
            raise JobError(f"a step of {self.step_seconds} s, at least 1 is needed")
        if self.job == c.JOB_TRIAL:
            Rule.of(self.rule)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> JobRequest:
        """Read what `to_json` wrote; raises `JobError` for anything else."""
        try:
            document = dict(json.loads(text))
            known = {each.name for each in fields(cls)}
            unknown = sorted(set(document) - known)
            if unknown:
                raise JobError(f"a job request has no member {', '.join(unknown)}")
            for name in ("clusters", "groups", "added_members", "strategies"):
                document[name] = tuple(document.get(name, ()))
            return cls(**document)
        except (ValueError, TypeError) as error:
            raise JobError(f"not a job request: {error}") from error


def step_for(span_ms: int) -> int:
    """Return the shortest step of the ladder that gives at most `MOST_STEPS`."""
    for step in STEP_LADDER:
        if span_ms <= step * 1000 * MOST_STEPS:
            return step
    return STEP_LADDER[-1]


def parse_moment(text: str, now: datetime) -> int:
    """Read an ISO 8601 time with zone, or an age such as `90m`, `24h`, `7d`, as ms.

    A time without a zone is refused, because it is ambiguous.
    """
    units = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
    if text[:-1].isdigit() and text[-1:] in units:
        age = timedelta(seconds=int(text[:-1]) * units[text[-1]])
        return _ms(now - age)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise JobError(
            f"{text!r} is not a time: use 2026-03-13T08:00+08:00, or an age such as 24h"
        ) from None
    if moment.tzinfo is None:
        raise JobError(f"{text!r} has no time zone: add Z or an offset such as +08:00")
    return _ms(moment)


def iso(ms: int) -> str:
    """Return a time as text, in UTC with its zone."""
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds" if ms % 1000 else "seconds")


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
