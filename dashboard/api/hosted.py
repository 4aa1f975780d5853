"""Managed groups over REST: listed, added, changed, removed; switched and undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from ninja import Router, Status
from ninja.errors import HttpError

from dashboard.live.documents import GroupState
from dashboard.models import Cluster, GroupChange, ManagedGroup, SavedScenario, User
from dashboard.selectors.documents import read_group
from dashboard.selectors.switching import Preview, preview_of, progress_of
from dashboard.services.fleet import (
    FleetError,
    GroupWish,
    UnknownGroupError,
    remove_group,
    save_group,
)
from dashboard.services.scenarios import (
    ScenarioError,
    delete_scenario,
    save_scenario,
)
from dashboard.services.switching import apply_change, undo_change
from rmqcore.errors import ArgumentError

from .schemas import (
    ChangeIn,
    ChangeOut,
    HostedIn,
    HostedOut,
    PreviewOut,
    Problem,
    ScenarioIn,
    ScenarioOut,
    UndoIn,
)

router = Router()
T = TypeVar("T")
ERRORS: dict[int, Any] = {401: Problem, 403: Problem, 404: Problem, 409: Problem}


@router.get("/clusters/{cluster}/hosted", response={200: list[HostedOut], **ERRORS})
def hosted_groups(request: HttpRequest, cluster: str) -> list[dict[str, Any]]:
    """List the groups that are hosted here."""
    found = _cluster(cluster)
    return [_hosted_row(each) for each in ManagedGroup.objects.filter(cluster=found)]


@router.put(
    "/clusters/{cluster}/hosted/{group:group}", response={200: HostedOut, **ERRORS}
)
def put_hosted(
    request: HttpRequest, cluster: str, group: str, body: HostedIn
) -> dict[str, Any]:
    """Host a group, or change what it is made from; `members` counts for a new one."""
    _cluster(cluster)
    wish = GroupWish(
        cluster=cluster,
        name=group,
        topics=[(each.topic, each.expression) for each in body.topics],
        mode=body.mode,
        orderly=body.orderly,
        strategy=body.strategy,
        strategy_options=body.strategy_options,
        start_position=body.start_position,
        listener=body.listener,
        listener_options=body.listener_options,
    )
    with _in_words():
        saved = save_group(
            _user(request), wish, members=body.members, reason=body.reason
        )
    return _hosted_row(saved)


@router.delete(
    "/clusters/{cluster}/hosted/{group:group}", response={204: None, **ERRORS}
)
def delete_hosted(
    request: HttpRequest, cluster: str, group: str, reason: str = ""
) -> Status[None]:
    """Host a group no more: its members leave in good order."""
    with _in_words():
        remove_group(_user(request), cluster, group, reason)
    return Status(204, None)


@router.get(
    "/clusters/{cluster}/groups/{group:group}/switch",
    response={200: PreviewOut, 422: Problem, 503: Problem, **ERRORS},
)
def preview_switch(
    request: HttpRequest, cluster: str, group: str, query: str, show: str = ""
) -> dict[str, Any]:
    """Say what applying a scenario would do; `token` is needed to apply it."""
    state = _state(cluster, group)
    known = ManagedGroup.objects.filter(
        cluster__name=cluster, name=group, leaving=False
    ).first()
    try:
        return _preview_row(preview_of(state, known, query, show=show))
    except ArgumentError as error:
        _refuse(422, str(error))


@router.post(
    "/clusters/{cluster}/groups/{group:group}/switch",
    response={201: ChangeOut, 503: Problem, **ERRORS},
)
def apply_switch(
    request: HttpRequest, cluster: str, group: str, body: ChangeIn
) -> Status[dict[str, Any]]:
    """Apply a scenario to a managed group, as its preview showed it."""
    state = _state(cluster, group)
    with _in_words():
        change = apply_change(
            _user(request),
            state,
            body.query,
            show=body.show,
            token=body.token,
            reason=body.reason,
        )
    return Status(201, _change_row(change, state))


@router.get(
    "/clusters/{cluster}/groups/{group:group}/changes/{pk}",
    response={200: ChangeOut, 503: Problem, **ERRORS},
)
def get_change(
    request: HttpRequest, cluster: str, group: str, pk: int
) -> dict[str, Any]:
    """Say how far a change has come, by what members report."""
    return _change_row(_change(cluster, group, pk), _state(cluster, group))


@router.post(
    "/clusters/{cluster}/groups/{group:group}/changes/{pk}/undo",
    response={201: ChangeOut, 503: Problem, **ERRORS},
)
def undo(
    request: HttpRequest, cluster: str, group: str, pk: int, body: UndoIn
) -> Status[dict[str, Any]]:
    """Set the wishes back to what they were before a change."""
    found = _change(cluster, group, pk)
    with _in_words():
        made = undo_change(
            _user(request), found, reason=body.reason, confirmed=body.confirmed
        )
    return Status(201, _change_row(made, _state(cluster, group)))


@router.get(
    "/clusters/{cluster}/scenarios", response={200: list[ScenarioOut], **ERRORS}
)
def scenarios(
    request: HttpRequest, cluster: str, group: str = ""
) -> list[dict[str, Any]]:
    """List the scenarios of a group that one may open; no group: of empty sheets."""
    found = SavedScenario.objects.seen_by(_user(request)).filter(
        cluster=_cluster(cluster), group=group
    )
    return [_scenario_row(each) for each in found]


@router.post("/clusters/{cluster}/scenarios", response={200: ScenarioOut, **ERRORS})
def put_scenario(
    request: HttpRequest, cluster: str, body: ScenarioIn
) -> dict[str, Any]:
    """Keep a scenario; one's own of the same name and group is replaced."""
    with _in_words():
        saved = save_scenario(
            _user(request),
            cluster=_cluster(cluster),
            group=body.group,
            name=body.name,
            query=body.query,
            shared=body.shared,
        )
    return _scenario_row(saved)


@router.delete("/clusters/{cluster}/scenarios/{pk}", response={204: None, **ERRORS})
def remove_scenario(request: HttpRequest, cluster: str, pk: int) -> Status[None]:
    """Forget a scenario."""
    user = _user(request)
    found = SavedScenario.objects.seen_by(user).filter(pk=pk, cluster=_cluster(cluster))
    saved = _known(found.first, f"no scenario {pk}")
    with _in_words():
        delete_scenario(user, saved)
    return Status(204, None)


@contextmanager
def _in_words() -> Iterator[None]:
    """Turn what services refuse into answers."""
    try:
        yield
    except PermissionDenied as error:
        _refuse(403, str(error))
    except UnknownGroupError as error:
        _refuse(404, str(error))
    except (FleetError, ScenarioError) as error:
        _refuse(409, str(error))


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # noqa: S101 - django_auth let nobody else pass
    return request.user


def _cluster(name: str) -> Cluster:
    found = Cluster.objects.filter(name=name, configured=True)
    return _known(found.first, f"no cluster {name!r} is configured")


def _change(cluster: str, group: str, pk: int) -> GroupChange:
    found = GroupChange.objects.select_related("group__cluster").filter(
        pk=pk, group__cluster__name=cluster, group__name=group
    )
    return _known(found.first, f"no change {pk} of group {group!r}")


def _state(cluster: str, group: str) -> GroupState:
    reading = read_group(_cluster(cluster).name, group)
    if reading.document is None:
        _refuse(503, f"group {group!r} cannot be read now: {reading.problem}")
    return reading.document


def _known(ask: Callable[[], T | None], otherwise: str) -> T:
    found = ask()
    if found is None:
        _refuse(404, otherwise)
    return found


def _refuse(status: int, detail: str) -> NoReturn:
    raise HttpError(status, detail)


def _hosted_row(group: ManagedGroup) -> dict[str, Any]:
    return {
        "name": group.name,
        "topics": group.topics,
        "mode": group.mode,
        "orderly": group.orderly,
        "strategy": group.strategy,
        "strategy_options": group.strategy_options,
        "start_position": group.start_position,
        "listener": group.listener,
        "listener_options": group.listener_options,
        "members_wanted": group.members_wanted,
        "revision": group.revision,
        "leaving": group.leaving,
    }


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


def _scenario_row(saved: SavedScenario) -> dict[str, Any]:
    return {
        "id": saved.pk,
        "group": saved.group,
        "name": saved.name,
        "query": saved.query,
        "show": saved.show,
        "shared": saved.shared,
        "owner": saved.owner_name,
        "changed_at": saved.changed_at.isoformat(),
    }
