"""Switching over REST: preview a change, apply it, follow it, undo it."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field
from typing_extensions import TypedDict

from dashboard.accounts.permissions import user_of
from dashboard.live.documents import GroupState
from dashboard.live.reading import read_group
from dashboard.models import GroupChange, ManagedGroup
from dashboard.rest.asking import cluster_named, refuse, the_first
from dashboard.rest.schemas import Problem

from .reads import Preview, preview_of, progress_of
from .writes import apply_change, undo_change

router = Router()
ERRORS: Final[dict[int, Any]] = dict.fromkeys((409,), Problem)


Transfer = TypedDict("Transfer", {"from": str | None, "to": str | None, "queues": int})


class Mixed(TypedDict):
    """The most queues with two owners or none while strategies mix; for how long."""

    twice: int | None
    nobody: int | None
    twice_s: float | None
    nobody_s: float | None


class DesiredState(TypedDict):
    """What a hosted group is to be; `members` are the numbers of its members."""

    strategy: str
    strategy_options: dict[str, Any]
    members: list[int]


class Note(TypedDict):
    """A remark: its key, and what to fill in."""

    code: str
    params: dict[str, Any]


class SwitchPreviewOut(Schema):
    """The effect of applying a scenario's row, and how long strategies would mix."""

    row: str
    changed: int
    transfers: list[Transfer]
    mixed: Mixed
    desired: DesiredState | None
    predicted: dict[str, Any] | None
    refusal: str
    token: str
    complete: bool = Field(
        description="false while a broker of the group does not answer everything"
    )
    notes: list[Note]


class GroupChangeIn(Schema):
    """A scenario to apply, with the token of its preview.

    `confirm` is the group's name: needed if members join and others may use it.
    """

    query: str
    show: str = ""
    token: str
    reason: str = Field(max_length=1000)
    confirm: str = Field("", max_length=255)


class SwitchUndoIn(Schema):
    """Why a change is undone; `confirmed` overwrites what others have changed since.

    `confirm` is the group's name: needed if members join and others may use it.
    """

    reason: str = Field(max_length=1000)
    confirmed: bool = False
    confirm: str = Field("", max_length=255)


class GroupChangeOut(Schema):
    """A change, and how far members have followed it."""

    id: int
    row: str
    before: DesiredState
    after: DesiredState
    predicted: dict[str, Any]
    reason: str
    by: str
    at: str
    undo_of: int | None
    state: str
    members: int
    switched: int
    queues: int
    as_predicted: int
    unheard: int


@router.get(
    "/clusters/{cluster}/groups/{group:group}/switch",
    response={200: SwitchPreviewOut, **ERRORS},
)
def preview_switch(
    request: HttpRequest, cluster: str, group: str, query: str, show: str = ""
) -> dict[str, Any]:
    """Return what applying a scenario would do; `token` is needed to apply it."""
    state = _state(cluster, group)
    known = ManagedGroup.objects.filter(
        cluster__name=cluster, name=group, leaving=False
    ).first()
    return _preview_row(preview_of(state, known, query, show=show))


@router.post(
    "/clusters/{cluster}/groups/{group:group}/switch",
    response={201: GroupChangeOut, **ERRORS},
)
def apply_switch(
    request: HttpRequest, cluster: str, group: str, body: GroupChangeIn
) -> Status[dict[str, Any]]:
    """Apply a scenario to a hosted group, as its preview showed it."""
    state = _state(cluster, group)
    change = apply_change(
        user_of(request),
        state,
        body.query,
        show=body.show,
        token=body.token,
        reason=body.reason,
        confirm=body.confirm,
    )
    return Status(201, _change_row(change, state))


@router.get(
    "/clusters/{cluster}/groups/{group:group}/changes/{pk}",
    response={200: GroupChangeOut, **ERRORS},
)
def get_change(
    request: HttpRequest, cluster: str, group: str, pk: int
) -> dict[str, Any]:
    """Return a change and its progress, as members report it."""
    return _change_row(_change(cluster, group, pk), _state(cluster, group))


@router.post(
    "/clusters/{cluster}/groups/{group:group}/changes/{pk}/undo",
    response={201: GroupChangeOut, **ERRORS},
)
def undo(
    request: HttpRequest, cluster: str, group: str, pk: int, body: SwitchUndoIn
) -> Status[dict[str, Any]]:
    """Undo a change: restore the desired state from before it."""
    found = _change(cluster, group, pk)
    made = undo_change(
        user_of(request),
        found,
        reason=body.reason,
        confirmed=body.confirmed,
        confirm=body.confirm,
    )
    return Status(201, _change_row(made, _state(cluster, group)))


def _change(cluster: str, group: str, pk: int) -> GroupChange:
    found = GroupChange.objects.select_related("group__cluster").filter(
        pk=pk, group__cluster__name=cluster, group__name=group
    )
    return the_first(found, f"no change {pk} of group {group!r}")


def _state(cluster: str, group: str) -> GroupState:
    reading = read_group(cluster_named(cluster).name, group)
    if reading.document is None:
        refuse(503, f"group {group!r} cannot be read now: {reading.problem}")
    return reading.document


def _preview_row(preview: Preview) -> dict[str, Any]:
    desired, windows = preview.desired, preview.windows
    return {
        "row": preview.row,
        "changed": preview.changed,
        "transfers": [
            {"from": each.giver, "to": each.taker, "queues": each.queues}
            for each in preview.transfers
        ],
        "mixed": {
            "twice": preview.mixing.most_twice,
            "nobody": preview.mixing.most_nobody,
            "twice_s": windows.twice if windows else None,
            "nobody_s": windows.nobody if windows else None,
        },
        "desired": desired.state if desired else None,
        "predicted": dict(desired.predicted) if desired else None,
        "refusal": preview.refusal,
        "token": preview.token,
        "complete": preview.comparison.before.complete,
        "notes": [
            {"code": note.code, "params": dict(note.params)}
            for note in preview.comparison.notes
        ],
    }


def _change_row(change: GroupChange, state: GroupState) -> dict[str, Any]:
    progress = progress_of(change, state)
    return {
        "id": change.pk,
        "row": change.row,
        "before": change.before,
        "after": change.after,
        "predicted": change.predicted,
        "reason": change.reason,
        "by": change.by_name,
        "at": change.at.isoformat(),
        "undo_of": change.undo_of_id,
        "state": progress.state,
        "members": progress.members,
        "switched": progress.switched,
        "queues": progress.queues,
        "as_predicted": progress.as_predicted,
        "unheard": progress.unheard,
    }
