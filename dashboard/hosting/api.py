"""REST routes that list, add, change and remove hosted groups and their members."""

from __future__ import annotations

from typing import Any, Final, Literal

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from dashboard.accounts.permissions import user_of
from dashboard.models import ManagedGroup
from dashboard.rest.asking import cluster_named
from dashboard.rest.paging import paged
from dashboard.rest.schemas import Problem

from .writes import GroupWish, add_member, remove_group, remove_member, save_group

router = Router()
ERRORS: Final[dict[int, Any]] = dict.fromkeys((409,), Problem)


CONFIRM: Final = (
    "the group's name; needed where others may use the group, which a 409 with the "
    'code "confirm" says'
)


class MembersIn(Schema):
    """Add or remove one member; `client_id` names the one that is to leave."""

    action: Literal["add", "remove"]
    client_id: str = Field("", max_length=255)
    reason: str = Field("", max_length=1000)
    confirm: str = Field("", max_length=255, description=CONFIRM)


class MembersOut(Schema):
    """The number of members that the group is to have now."""

    members_wanted: int


class TopicIn(Schema):
    """One subscription: a topic, and the tags wanted of it."""

    topic: str = Field(max_length=127)
    expression: str = Field("*", max_length=1000)


class HostedIn(Schema):
    """The definition of a hosted group; unknown names are refused with a sentence."""

    topics: list[TopicIn] = Field(min_length=1, max_length=100)
    mode: str = "CLUSTERING"
    orderly: bool = False
    strategy: str = Field("AVG", max_length=64)
    strategy_options: dict[str, Any] = Field(default_factory=dict)
    start_position: str = "CONSUME_FROM_LAST_OFFSET"
    listener: str = Field("count", max_length=64)
    listener_options: dict[str, Any] = Field(default_factory=dict)
    members: int = 1
    reason: str = Field("", max_length=1000)
    confirm: str = Field("", max_length=255, description=CONFIRM)


class HostedOut(Schema):
    """A hosted group as it is wanted."""

    name: str
    topics: list[TopicIn]
    mode: str
    orderly: bool
    strategy: str
    strategy_options: dict[str, Any]
    start_position: str
    listener: str
    listener_options: dict[str, Any]
    members_wanted: int
    revision: int
    leaving: bool


@router.post(
    "/clusters/{cluster}/groups/{group:group}/members",
    response={200: MembersOut, **ERRORS},
)
def members(
    request: HttpRequest, cluster: str, group: str, body: MembersIn
) -> dict[str, int]:
    """Add a member to a hosted group, or remove one."""
    actor = user_of(request)
    cluster_named(cluster)
    if body.action == "add":
        count = add_member(actor, cluster, group, body.reason, confirm=body.confirm)
    else:
        count = remove_member(
            actor, cluster, group, body.reason, client_id=body.client_id
        )
    return {"members_wanted": count}


@router.get("/clusters/{cluster}/hosted", response={200: list[HostedOut], **ERRORS})
@paged
def hosted_groups(request: HttpRequest, cluster: str) -> list[dict[str, Any]]:
    """List the groups that are hosted here."""
    found = cluster_named(cluster)
    return [_hosted_row(each) for each in ManagedGroup.objects.filter(cluster=found)]


@router.put(
    "/clusters/{cluster}/hosted/{group:group}", response={200: HostedOut, **ERRORS}
)
def put_hosted(
    request: HttpRequest, cluster: str, group: str, body: HostedIn
) -> dict[str, Any]:
    """Host a group, or change its definition; `members` only counts for a new one."""
    cluster_named(cluster)
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
    saved = save_group(
        user_of(request),
        wish,
        members=body.members,
        reason=body.reason,
        confirm=body.confirm,
    )
    return _hosted_row(saved)


@router.delete(
    "/clusters/{cluster}/hosted/{group:group}", response={204: None, **ERRORS}
)
def delete_hosted(
    request: HttpRequest, cluster: str, group: str, reason: str = ""
) -> Status[None]:
    """Stop hosting a group: its members leave cleanly."""
    remove_group(user_of(request), cluster, group, reason)
    return Status(204, None)


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
