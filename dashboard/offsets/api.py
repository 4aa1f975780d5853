"""Moves of a group's offsets over REST: preview, make, look at, undo.

`query` says where the offsets go, as the address of the page does;
`dashboard.offsets.wanted` lists its parts.
"""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from dashboard.accounts.permissions import user_of
from dashboard.live.reading import read_group
from dashboard.models import OffsetChange
from dashboard.rest.asking import cluster_named, the_first
from dashboard.rest.schemas import Problem

from .plan import Row
from .reads import preview_of
from .standing import outcomes_of
from .wanted import Wanted
from .writes import allow, move, read_back

router = Router()
ERRORS: Final[dict[int, Any]] = dict.fromkeys((409, 424), Problem)


class PlannedOut(Schema):
    """One queue. Without `after` it stays as it is, and `note` says why."""

    broker: str
    queue_id: int
    committed: int | None
    after: int | None
    again: int | None
    skipped: int | None
    note: str
    detail: str


class PlanOut(Schema):
    """What a move would do; `token` is needed to make it.

    `online` is null if no broker says whether members are online.
    """

    topic: str
    online: bool | None
    moving: int
    again: int
    skipped: int
    lag_before: int | None
    lag_after: int | None
    lag_partial: bool
    token: str
    queues: list[PlannedOut]


class OffsetMoveIn(Schema):
    """A move as it was previewed; `confirm` is the group's name."""

    query: str
    token: str
    reason: str = Field(max_length=1000)
    confirm: str


class OffsetUndoIn(Schema):
    """Why a move is undone; `confirm` is the group's name."""

    reason: str = Field(max_length=1000)
    confirm: str


class OutcomeOut(Schema):
    """One queue of a move; `stood` was read back at once, `now` just now."""

    broker: str
    queue_id: int
    before: int | None
    asked: int
    stood: int | None
    now: int | None
    state: str
    problem: str


class OffsetMoveOut(Schema):
    """A move that was made, and the offsets now."""

    id: int
    topic: str
    query: str
    online: bool | None
    reason: str
    by: str
    at: str
    undo_of: int | None
    queues: list[OutcomeOut]


@router.get(
    "/clusters/{cluster}/groups/{group:group}/offsets",
    response={200: PlanOut, **ERRORS},
)
def preview_move(
    request: HttpRequest, cluster: str, group: str, query: str
) -> dict[str, Any]:
    """Return what a move of offsets would do; nothing is changed."""
    name = cluster_named(cluster).name
    state = read_group(name, group).document
    preview = preview_of(name, group, Wanted.from_query(query), state)
    plan = preview.plan
    return {
        "topic": plan.wanted.topic,
        "online": preview.online,
        "moving": len(plan.moving),
        "again": plan.again,
        "skipped": plan.skipped,
        "lag_before": plan.lag_before,
        "lag_after": plan.lag_after,
        "lag_partial": plan.lag_partial,
        "token": plan.token,
        "queues": [_planned(row) for row in plan.rows],
    }


@router.post(
    "/clusters/{cluster}/groups/{group:group}/offsets",
    response={201: OffsetMoveOut, **ERRORS},
)
def move_offsets(
    request: HttpRequest, cluster: str, group: str, body: OffsetMoveIn
) -> Status[dict[str, Any]]:
    """Move a group's offsets as the preview with this token showed it."""
    actor = user_of(request)
    allow(actor)
    made = move(
        actor,
        cluster_named(cluster),
        group,
        Wanted.from_query(body.query),
        token=body.token,
        reason=body.reason,
        confirm=body.confirm,
        state=read_group(cluster, group).document,
    )
    return Status(201, _made(made))


@router.get(
    "/clusters/{cluster}/groups/{group:group}/offsets/{pk}",
    response={200: OffsetMoveOut, **ERRORS},
)
def get_move(request: HttpRequest, cluster: str, group: str, pk: int) -> dict[str, Any]:
    """Return a move that was made, and the offsets now."""
    return _made(_change(cluster, group, pk))


@router.post(
    "/clusters/{cluster}/groups/{group:group}/offsets/{pk}/undo",
    response={201: OffsetMoveOut, **ERRORS},
)
def undo_move(
    request: HttpRequest, cluster: str, group: str, pk: int, body: OffsetUndoIn
) -> Status[dict[str, Any]]:
    """Put back what was committed before a move."""
    actor = user_of(request)
    allow(actor)
    change = _change(cluster, group, pk)
    wanted = Wanted("undo", change.topic, undo_of=change.pk)
    state = read_group(cluster, group).document
    made = move(
        actor,
        change.cluster,
        group,
        wanted,
        token=preview_of(cluster, group, wanted, state).plan.token,
        reason=body.reason,
        confirm=body.confirm,
        state=state,
    )
    return Status(201, _made(made))


def _change(cluster: str, group: str, pk: int) -> OffsetChange:
    found = OffsetChange.objects.select_related("cluster")
    return the_first(
        found.filter(pk=pk, cluster=cluster_named(cluster), group=group),
        f"no move {pk} of group {group!r}",
    )


def _planned(row: Row) -> dict[str, Any]:
    return {
        "broker": row.place.broker,
        "queue_id": row.place.queue_id,
        "committed": row.place.committed,
        "after": row.after,
        "again": row.again,
        "skipped": row.skipped,
        "note": row.note,
        "detail": row.detail,
    }


def _made(change: OffsetChange) -> dict[str, Any]:
    outcomes = outcomes_of(change.rows, read_back(change))
    return {
        "id": change.pk,
        "topic": change.topic,
        "query": change.query,
        "online": change.online,
        "reason": change.reason,
        "by": change.by_name,
        "at": change.at.isoformat(),
        "undo_of": change.undo_of_id,
        "queues": [
            {name: getattr(each, name) for name in OutcomeOut.model_fields}
            for each in outcomes
        ],
    }
