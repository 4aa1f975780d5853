"""Dead letters over REST: list, retries, resend, runs, stop.

Letters come without bodies. `query` chooses letters as the address of the preview does:
`dashboard.dead_letters.forms` lists its parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from django.http import HttpRequest, QueryDict
from ninja import Query, Router, Schema, Status
from pydantic import Field

from dashboard.accounts.permissions import user_of
from dashboard.frame.messages.rights import masks
from dashboard.gateway.dead_letters import DeadLetters
from dashboard.live.reading import read_group
from dashboard.models import ResendRun
from dashboard.rest.asking import cluster_named, refuse, the_first
from dashboard.rest.old_names import OldNames, old
from dashboard.rest.paging import PageQuery, newest
from dashboard.rest.schemas import Problem

from .export import letter_record
from .forms import MOST_RATE, Asked
from .pages import now, page_of_letters
from .reads import (
    RUNS_SHOWN,
    all_runs_of,
    effect_of,
    letters_of,
    levels_of,
    marks_of,
    progress_of,
)
from .run_pages import preview_of
from .writes import Wish, allow, start_resend, stop_resend, token_of

router = Router()
ERRORS: Final[dict[int, Any]] = dict.fromkeys((409, 424), Problem)
_OF_GROUP: Final = "/clusters/{cluster}/groups/{group:group}"


class LetterOut(Schema):
    """One dead letter; times are ms since the epoch, null where it does not say."""

    letter: str = Field(description="the id of this copy")
    id: str = Field(description="the unique key, else the offset id")
    origin_id: str | None
    topic: str | None = Field(description="the topic from which the group had it")
    keys: str
    tag: str
    tries: int
    broker: str
    queue: int
    offset: int
    stored_at: int
    born_at: int
    born_host: str
    store_host: str
    body_bytes: int
    properties: dict[str, str]
    resent_by: int | None = Field(description="the newest run that resent it")


class LettersIn(OldNames):
    """A span and filters, as on the page."""

    OLD_NAMES: ClassVar[Mapping[str, str]] = {"since": "begin", "until": "end"}

    last: str = Field("", max_length=8)
    since: str = Field("", max_length=40)
    until: str = Field("", max_length=40)
    q: str = Field("", max_length=255)
    tag: str = Field("", max_length=255)
    topic: str = Field("", max_length=255)
    host: str = Field("", max_length=255)
    begin: str = old("", "since", max_length=40)
    end: str = old("", "until", max_length=40)

    @property
    def span(self) -> dict[str, str]:
        """The span as the address of the page has it."""
        return {"last": self.last, "begin": self.since, "end": self.until}

    @property
    def table(self) -> dict[str, str]:
        """The filters as the table reads them."""
        facets = {"tag": self.tag, "topic": self.topic, "host": self.host}
        return {"q": self.q, **{f"f.{name}": v for name, v in facets.items() if v}}


class LettersOut(Schema):
    """The newest dead letters of a span, and how many are kept in all.

    A count is null where no queue answered, and a lower bound where it is `partial`.
    """

    kept: int | None
    partial: bool
    last_hour: int | None
    last_hour_partial: bool
    newest_at: int | None
    letters: list[LetterOut]
    cut_short: list[str]
    failed: dict[str, str]
    write_only: list[str]


class LevelOut(Schema):
    """One delay level; `waiting` is a lower bound where it is a `part`, and so is
    `all_waiting` where it is `all_part`."""

    level: int
    delay_ms: int | None
    waiting: int
    part: bool
    all_waiting: int
    all_part: bool
    next_at: int | None


class LevelsOut(Schema):
    """What waits for a group in each delay level."""

    waiting: int
    part: bool
    levels: list[LevelOut]
    failed: dict[str, str]


class ResendPreviewOut(Schema):
    """What a run would resend; `token` is needed to start it.

    `resent_before` counts those that were chosen and resent before; they are left out
    unless the query has `again=on`. Where something is `cut_short`, `failed` or
    `write_only`, more may match than are in `letters`.
    """

    count: int
    resent_before: int
    token: str
    letters: list[str]
    cut_short: list[str]
    failed: dict[str, str]
    write_only: list[str]


class ResendIn(Schema):
    """A run as it was previewed; `target` is `group` or `topic`."""

    query: str = Field(max_length=20_000)
    token: str = Field(max_length=64)
    target: str = Field(max_length=8)
    rate: int = Field(10, ge=1, le=MOST_RATE, description="letters a second")
    reason: str = Field(max_length=1000)


MOST_RUNS: Final = 100
"""At a time, since the letters of each are counted."""


class ResendRunsQuery(PageQuery):
    """Which runs to return; the newest come first."""

    limit: int = newest(RUNS_SHOWN, MOST_RUNS)


class ResendRunOut(Schema):
    """A run and how far it is. `sending` may have been stored or not, once it ended.

    `passed` counts letters that the group's offsets have passed since, `unknown` those
    whose queue did not tell, for the reasons in `unknown_because`; null in lists.
    """

    id: int
    state: str
    target: str
    rate: int
    reason: str
    by: str
    at: str
    finished_at: str | None
    error: str
    total: int
    sent: int
    failed: int
    gone: int
    waiting: int
    sending: int
    passed: int | None = None
    ahead: int | None = None
    unknown: int | None = None
    unknown_because: list[str] | None = None


@router.get(f"{_OF_GROUP}/dead-letters", response={200: LettersOut, **ERRORS})
def dead_letters(
    request: HttpRequest,
    cluster: str,
    group: str,
    given: Query[LettersIn],
) -> dict[str, Any]:
    """Return the newest dead letters of a span, without bodies."""
    found_in = cluster_named(cluster)
    asked = Asked.of(given.span, now())
    if asked.problem:
        field, colon, why = asked.problem.partition(":")
        refuse(422, f"{given.name_of(field)}{colon}{why}")
    found = letters_of(found_in.name, group, asked.span, now())
    page = page_of_letters(found_in, group, found, given.table, asked)
    marks, hidden = marks_of(found_in.name, page.chosen), masks()
    return {
        "kept": found.kept,
        "partial": found.partial,
        "last_hour": found.last_hour,
        "last_hour_partial": found.hour_partial,
        "newest_at": found.newest_ms,
        "letters": [
            letter_record(each, hidden, marks.get(each.id)) for each in page.chosen
        ],
        **_left_out(found),
    }


@router.get(f"{_OF_GROUP}/retries", response={200: LevelsOut, **ERRORS})
def retries(request: HttpRequest, cluster: str, group: str) -> dict[str, Any]:
    """Return what waits for the group's next try, by delay level."""
    found = levels_of(cluster_named(cluster).name, group, now())
    return {
        "waiting": found.waiting,
        "part": found.part,
        "failed": dict(found.failed),
        "levels": [
            {
                "level": each.number,
                "delay_ms": each.delay_ms,
                "waiting": each.waiting,
                "part": each.part,
                "all_waiting": each.all_waiting,
                "all_part": each.all_part,
                "next_at": each.next_ms,
            }
            for each in found.levels
        ],
    }


@router.get(
    f"{_OF_GROUP}/dead-letters/resend", response={200: ResendPreviewOut, **ERRORS}
)
def preview_resend(
    request: HttpRequest, cluster: str, group: str, query: str
) -> dict[str, Any]:
    """Return what a run would resend; nothing is sent."""
    preview = preview_of(cluster_named(cluster), group, QueryDict(query))
    return {
        "count": len(preview.letters),
        "resent_before": preview.before,
        "token": token_of(preview.letters),
        "letters": [each.id for each in preview.letters],
        **_left_out(preview.found),
    }


@router.post(f"{_OF_GROUP}/dead-letters/resend", response={201: ResendRunOut, **ERRORS})
def resend(
    request: HttpRequest, cluster: str, group: str, body: ResendIn
) -> Status[dict[str, Any]]:
    """Resend dead letters as the preview with this token showed them."""
    actor = user_of(request)
    allow(actor)
    found = cluster_named(cluster)
    run = start_resend(
        *(actor, found, group),
        preview_of(found, group, QueryDict(body.query)).letters,
        Wish(body.target, body.rate, body.reason, body.query),
        token=body.token,
        state=read_group(found.name, group).document,
    )
    return Status(201, _run_out(run))


@router.get(
    f"{_OF_GROUP}/dead-letters/runs", response={200: list[ResendRunOut], **ERRORS}
)
def runs(
    request: HttpRequest, cluster: str, group: str, query: Query[ResendRunsQuery]
) -> list[dict[str, Any]]:
    """Return the runs of a group, newest first."""
    found = all_runs_of(cluster_named(cluster).name, group)
    return [_run_out(run) for run in query.of(found)]


@router.get(
    f"{_OF_GROUP}/dead-letters/runs/{{pk}}", response={200: ResendRunOut, **ERRORS}
)
def get_run(request: HttpRequest, cluster: str, group: str, pk: int) -> dict[str, Any]:
    """Return a run, and what the group has consumed since."""
    run = _run_named(cluster, group, pk)
    effect = effect_of(run)
    return {
        **_run_out(run),
        "passed": effect.passed,
        "ahead": effect.ahead,
        "unknown": effect.unknown,
        "unknown_because": list(effect.errors),
    }


@router.post(
    f"{_OF_GROUP}/dead-letters/runs/{{pk}}/stop", response={200: ResendRunOut, **ERRORS}
)
def stop(request: HttpRequest, cluster: str, group: str, pk: int) -> dict[str, Any]:
    """Ask a run to stop; it does after the letters that are being sent."""
    actor = user_of(request)
    allow(actor)
    run = _run_named(cluster, group, pk)
    stop_resend(actor, run)
    run.refresh_from_db()
    return _run_out(run)


def _left_out(found: DeadLetters) -> dict[str, Any]:
    return {
        "cut_short": [each.where for each in found.cuts],
        "failed": dict(found.failed),
        "write_only": sorted(found.write_only),
    }


def _run_named(cluster: str, group: str, pk: int) -> ResendRun:
    found = ResendRun.objects.select_related("cluster")
    return the_first(
        found.filter(pk=pk, cluster=cluster_named(cluster), group=group),
        f"no run {pk} of group {group!r}",
    )


def _run_out(run: ResendRun) -> dict[str, Any]:
    progress = progress_of(run)
    return {
        "id": run.pk,
        "state": run.state,
        "target": run.target,
        "rate": run.rate,
        "reason": run.reason,
        "by": run.by_name,
        "at": run.at.isoformat(),
        "finished_at": None if run.finished_at is None else run.finished_at.isoformat(),
        "error": run.error,
        "total": progress.total,
        "sent": progress.sent,
        "failed": progress.failed,
        "gone": progress.gone,
        "waiting": progress.waiting,
        "sending": progress.sending,
    }
