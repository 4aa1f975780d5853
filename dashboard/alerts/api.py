"""REST routes of alerts; those of this module try rules on the past."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import AwareDatetime, Field

from analytics.trial import KINDS, MOST_HOLD_MS
from dashboard.accounts.permissions import user_of
from dashboard.models import JobRun
from dashboard.rest.asking import cluster_named, the_first
from dashboard.rest.schemas import Problem

from .alert_api import router as alert_routes
from .rule_api import router as rule_routes
from .trials import MOST_GROUPS, MOST_PATTERN, TrialWish, start_trial, trials_seen_by

REFUSED: Final[dict[int, Any]] = {422: Problem, 429: Problem}

router = Router()
router.add_router("", alert_routes)
router.add_router("", rule_routes)


class TrialIn(Schema):
    """A rule, and the past to try it on: at most 90 days, with a zone.

    `pattern` or `groups` says what it is about; in a pattern, `*` stands for any text
    and `?` for any one character.
    """

    since: AwareDatetime
    until: AwareDatetime
    kind: str = Field(max_length=32, description=", ".join(KINDS))
    limit: float = Field(
        0.0,
        description="messages (lag), members, a ratio (skew), otherwise milliseconds",
    )
    clear_limit: float | None = Field(None, description="to be over; else the limit")
    hold_ms: int = Field(0, ge=0, le=MOST_HOLD_MS)
    clear_ms: int = Field(0, ge=0, le=MOST_HOLD_MS)
    pattern: str = Field("", max_length=MOST_PATTERN)
    groups: list[str] = Field([], max_length=MOST_GROUPS)

    def wish(self, cluster: str) -> TrialWish:
        return TrialWish(cluster=cluster, **self.dict())


class TrialRule(Schema):
    """The rule that was tried."""

    kind: str
    limit: float
    clear_limit: float | None
    hold_ms: int
    clear_ms: int


class TrialOther(Schema):
    """How often it would have fired at another limit."""

    limit: float
    fired: int


class TrialOpening(Schema):
    """A time at which it would have fired; times in ms since the epoch.

    `closed_ms` is null if it still fired at the end. A `peak` that is `endless`, as of
    what never drains, is null. `known` is false if nothing was known at the end.
    """

    group: str
    began_ms: int
    opened_ms: int
    closed_ms: int | None
    peak: float | None
    endless: bool
    known: bool


class TrialGroup(Schema):
    """One group, and the first spans of time in which nothing was known of it."""

    group: str
    fired: int
    open_ms: int
    unknown_ms: int
    unknown: list[tuple[int, int]]
    unknown_count: int


class TrialSeries(Schema):
    """The worst value in each span of the group that fired most.

    `marks` has one sign for each: `.` measured, `?` not measured, `^` without end.
    """

    group: str
    since_ms: int
    bucket_ms: int
    values: list[float | None]
    marks: str


class TrialResult(Schema):
    """What the rule would have done; `source` and `step_seconds` say how exactly.

    `listed` are the 50 groups that fired most, `openings` up to 200 of theirs.
    """

    since: datetime
    until: datetime
    source: str
    step_seconds: int
    group_count: int
    fired_groups: int
    fired: int
    still_open: int
    open_ms: int
    unknown_ms: int
    unknown_groups: int
    others: list[TrialOther]
    listed: list[TrialGroup]
    openings: list[TrialOpening]
    series: TrialSeries


class TrialOut(Schema):
    """A trial; `result` is null until its state is done."""

    id: int
    cluster: str
    pattern: str
    groups: list[str]
    rule: TrialRule
    since: datetime
    until: datetime
    state: str
    percent: int
    phase: str
    error: str
    asked_at: datetime
    asked_by: str = Field(alias="asked_by_name")
    finished_at: datetime | None
    result: TrialResult | None

    @staticmethod
    def resolve_pattern(run: JobRun) -> str:
        return str(run.options["pattern"])

    @staticmethod
    def resolve_groups(run: JobRun) -> list[str]:
        return list(run.options["groups"])

    @staticmethod
    def resolve_rule(run: JobRun) -> Any:
        return run.options["rule"]

    @staticmethod
    def resolve_result(run: JobRun) -> Any:
        return run.summary if run.is_ready else None


@router.post("/clusters/{cluster}/alert-trials", response={202: TrialOut, **REFUSED})
def try_rule(request: HttpRequest, cluster: str, body: TrialIn) -> Any:
    """Queue a trial: how often a rule would have fired, had it been on."""
    wish = body.wish(cluster_named(cluster).name)
    return Status(202, start_trial(user_of(request), wish))


@router.get("/clusters/{cluster}/alert-trials/{trial_id}", response={200: TrialOut})
def trial(request: HttpRequest, cluster: str, trial_id: int) -> Any:
    """Return one trial, done or not."""
    found = trials_seen_by(user_of(request), cluster_named(cluster).name)
    return the_first(found.filter(pk=trial_id), f"no trial {trial_id}")
