"""A hosted group whose members are there, in the database and in its document."""

from __future__ import annotations

from typing import Any

from dashboard.hosting.writes import GroupWish, save_group
from dashboard.models import ManagedGroup
from tests.dashboard.documents import hosted_group

NAME = "order-settlement"


def host(members: int = 3, **wish: Any) -> ManagedGroup:
    """Add the group that `hosted_group` shows; its members run under their ids."""
    group = save_group(
        None, GroupWish("hangzhou", NAME, [("orders", "*")], **wish), members=members
    )
    run_members(group)
    return group


def run_members(group: ManagedGroup) -> None:
    """Give every wanted member the client id of its first claim."""
    for row in group.members.filter(wanted=True):
        row.client_id = f"10.20.6.11@{group.name}-{row.number}.1"
        row.save(update_fields=["client_id"])


def document(group: ManagedGroup) -> Any:
    return hosted_group(count=group.members.filter(wanted=True).count())
