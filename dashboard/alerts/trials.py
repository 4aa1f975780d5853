"""Try a rule for alerts on the past: ask for a trial, and read what came of it.

A trial is a run of a job of the analytics worker (`JobRun`), made, followed and deleted
as reports are. It takes reading rights only: whoever may look at a cluster may know how
often a rule would have fired there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.errors import JobError
from analytics.trial import BELOW, KINDS, NOT_IN_LAKE, STOPS, Rule
from dashboard.models import JobRun, Role, User
from dashboard.models.counting import count_alone
from dashboard.models.report import TRIAL
from dashboard.reports.request.refusals import (
    ReportRefusedError,
    TooManyReportsError,
)
from dashboard.reports.writes import queue_job

LONGEST: Final = timedelta(days=90)
KEEP_DAYS: Final = 7
MOST_PATTERN: Final = 255
MOST_GROUPS: Final = 100
MOST_ACTIVE_A_USER: Final = 3
"""Trials of one person that wait or run; more would keep reports waiting."""


@dataclass(frozen=True, slots=True)
class TrialWish:
    """A rule, what it is about, and the past that it is tried on.

    `pattern` names groups as a grant does: `*` stands for any text, `?` for any one
    character. `groups` are names, in place of a pattern. The limit and the times are
    those of `analytics.trial.Rule`.
    """

    cluster: str
    since: datetime
    until: datetime
    kind: str
    limit: float = 0.0
    clear_limit: float | None = None
    hold_ms: int = 0
    clear_ms: int = 0
    pattern: str = ""
    groups: Sequence[str] = field(default_factory=tuple)

    def rule(self) -> Rule:
        """Return the rule, or raise ReportRefusedError for what cannot be tried."""
        if self.kind in NOT_IN_LAKE:
            raise ReportRefusedError(
                _(
                    "A rule of the kind “%(kind)s” cannot be tried on the past: the "
                    "lake keeps samples of queues and who the members were. It "
                    "answers: %(known)s."
                )
                % {"kind": self.kind, "known": ", ".join(KINDS)},
                "kind",
            )
        self._check_sides()
        try:
            return Rule(
                self.kind, self.limit, self.clear_limit, self.hold_ms, self.clear_ms
            )
        except JobError as error:
            raise ReportRefusedError(str(error), "limit") from error

    def _check_sides(self) -> None:
        clear, limit = self.clear_limit, f"{self.limit:g}"
        if clear is None or self.kind in STOPS:
            return
        if self.kind in BELOW and clear < self.limit:
            text = _("The limit for closing must be at least %(limit)s.")
            raise ReportRefusedError(text % {"limit": limit}, "clear_limit")
        if self.kind not in BELOW and clear > self.limit:
            text = _("The limit for closing must be at most %(limit)s.")
            raise ReportRefusedError(text % {"limit": limit}, "clear_limit")

    def check(self) -> None:
        """Raise ReportRefusedError for the first value that is not valid."""
        if self.since >= self.until:
            raise ReportRefusedError(_("The period ends before it begins."), "until")
        if self.until - self.since > LONGEST:
            raise ReportRefusedError(
                _("A rule can be tried on %(days)s days at most.")
                % {"days": LONGEST.days},
                "since",
            )
        if bool(self.pattern) == bool(self.groups):
            raise ReportRefusedError(
                _("Give a pattern of group names, such as *, or a list of names."),
                "pattern",
            )
        longest = max(map(len, (self.pattern, *self.groups)))
        if longest > MOST_PATTERN or len(self.groups) > MOST_GROUPS:
            raise ReportRefusedError(
                _(
                    "A pattern or a name has at most %(signs)s characters, and a list "
                    "at most %(names)s names."
                )
                % {"signs": MOST_PATTERN, "names": MOST_GROUPS},
                "pattern",
            )


def start_trial(by: User, wish: TrialWish) -> JobRun:
    """Queue a trial of a rule and return its run.

    Raises ReportRefusedError for a wish that makes no sense or cannot be answered,
    TooManyReportsError when as many as may be wait; PermissionDenied for people who may
    not look at the cluster.
    """
    by.at(wish.cluster).must_be(Role.VIEWER)
    wish.check()
    rule = wish.rule()
    options = {
        "rule": asdict(rule),
        "pattern": wish.pattern,
        "groups": list(wish.groups),
    }
    subject = wish.pattern or (wish.groups[0] if len(wish.groups) == 1 else "")
    run = JobRun(
        job=TRIAL,
        cluster=wish.cluster,
        group=subject[:MOST_PATTERN],
        since=wish.since,
        until=wish.until,
        options=options,
    )
    with transaction.atomic():
        count_alone("reports")
        active = JobRun.objects.trials().filter(asked_by=by, state__in=JobRun.ACTIVE)
        if active.count() >= MOST_ACTIVE_A_USER:
            raise TooManyReportsError(
                _("%(limit)s of your trials are waiting or running, and no more may.")
                % {"limit": MOST_ACTIVE_A_USER}
            )
        return queue_job(run, "trial.start", options, by=by, keep_days=KEEP_DAYS)


def trials_seen_by(user: User, cluster: str) -> Any:
    """Return the trials of a cluster that a user may read."""
    return JobRun.objects.trials().seen_by(user).filter(cluster=cluster)


@dataclass(frozen=True)
class Trial:
    """What came of a trial; its counts are None until it is done."""

    run: JobRun

    @property
    def rule(self) -> Rule:
        return Rule.of(self.run.options["rule"])

    @property
    def subject(self) -> str:
        """The pattern or the names that it is about."""
        return self.run.options["pattern"] or ", ".join(self.run.options["groups"])

    @property
    def result(self) -> Mapping[str, Any]:
        """The job's summary; empty until the run is done."""
        return self.run.summary if self.run.is_ready else {}

    @property
    def fired(self) -> int | None:
        return self.result.get("fired")

    @property
    def is_one_group(self) -> bool:
        return self.result.get("group_count") == 1

    @property
    def measured_since(self) -> datetime | None:
        """Where the lake begins, if that is well after the period asked for."""
        if not self.result:
            return None
        began = datetime.fromisoformat(self.result["since"])
        step = timedelta(seconds=self.result["step_seconds"])
        return (
            began if began - self.run.since > max(step, timedelta(minutes=10)) else None
        )

    @cached_property
    def openings(self) -> list[dict[str, Any]]:
        """The openings in order of time, with numbers; of the group of the chart first.

        Only those of the chart's group are drawn, so that they have the first numbers.
        """
        charted = self.series.get("group")
        found = sorted(
            self.result.get("openings", ()), key=lambda each: each["group"] != charted
        )
        return [each | {"number": n} for n, each in enumerate(found, start=1)]

    @property
    def series(self) -> Mapping[str, Any]:
        """The values of the group of the chart."""
        found: Mapping[str, Any] = self.result.get("series", {})
        return found

    @property
    def charted(self) -> Mapping[str, Any]:
        """The counts of the group of the chart; it is the one that fired most."""
        listed: Sequence[Mapping[str, Any]] = self.result.get("listed", ())
        return listed[0] if listed else {}


def read_trial(run: JobRun) -> Trial:
    """Return what came of a trial so far."""
    return Trial(run)


def last(span: timedelta) -> tuple[datetime, datetime]:
    """Return the time from so long ago until now."""
    now = timezone.now()
    return now - span, now
