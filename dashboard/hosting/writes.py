"""Writes to hosted groups, each with a role check, a reason and an audit entry.

A write changes wishes in the database, which workers follow within a second. After the
commit they are told, so that they follow at once.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import redis
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from dashboard.live.names import FLEET_WAKE_CHANNEL
from dashboard.live.state import live_state
from dashboard.models import (
    Cluster,
    ManagedGroup,
    ManagedMember,
    Role,
    User,
)
from dashboard.models.audit import record
from dashboard.models.counting import count_alone
from dashboard.rest.refusals import ReadOnlyRefusal
from dashboard.wording.names import member_number
from rmqcore.errors import ArgumentError

from .guard import look_at, said

logger = logging.getLogger(__name__)

MAX_MEMBERS: Final = 200
"""Of one hosted group."""
MAX_GROUPS: Final = 200
"""Of all clusters together, whoever added them."""
MAX_GROUPS_A_USER: Final = 50

MAX_NAME: Final = 255
_NAME: Final = re.compile(rf"[%|a-zA-Z0-9_-]{{1,{MAX_NAME}}}")


class FleetError(ValueError):
    """A wish that cannot be granted; the message names the value and the limit."""


class FleetFullError(FleetError):
    """As much is hosted as may be; something has to be removed first."""


class UnknownGroupError(FleetError):
    """There is no hosted group of that name on that cluster."""


class ReadOnlyError(ReadOnlyRefusal, FleetError):
    """The group's cluster is attached read-only; the message names its setting."""


class ConfirmationNeededError(FleetError):
    """Others may use the group; the message says what would happen to its messages."""

    code = "confirm"


@dataclass(frozen=True, slots=True)
class GroupWish:
    """The definition of a hosted group, without its members."""

    cluster: str
    name: str
    topics: Sequence[tuple[str, str]]
    mode: str = ManagedGroup.Mode.CLUSTERING
    orderly: bool = False
    strategy: str = "AVG"
    strategy_options: Mapping[str, Any] = field(default_factory=dict)
    start_position: str = ManagedGroup.Start.LAST
    listener: str = "count"
    listener_options: Mapping[str, Any] = field(default_factory=dict)


def save_group(
    actor: User | None,
    wish: GroupWish,
    *,
    members: int,
    reason: str = "",
    confirm: str = "",
) -> ManagedGroup:
    """Add a hosted group, or bring it in line with a wish.

    Saving the same wish again changes nothing, not even the number of members, which
    only counts for a new group. A group that others may use needs its name in
    `confirm`. Without an actor, the program itself is asking, and is not asked back.
    """
    allow_operator(actor, wish.cluster, wish.name)
    check_count(members)
    cluster = Cluster.objects.filter(name=wish.cluster).first()
    if cluster is None:
        raise FleetError(f"unknown cluster {wish.cluster!r}")
    check_writable(cluster)
    _check_name(wish.name)
    check_wish(wish)
    known = ManagedGroup.objects.filter(cluster=cluster, name=wish.name).first()
    fields = _fields(wish)
    details: dict[str, Any] = {}
    if actor is not None and (known is None or _differing(known, fields)):
        details = check_confirmed(cluster, wish.name, known, wish.listener, confirm)
    with transaction.atomic():
        group, is_new = ManagedGroup.objects.select_for_update().get_or_create(
            cluster=cluster,
            name=wish.name,
            defaults={**fields, "added_by": actor},
        )
        changed = _bring_in_line(group, fields)
        if is_new:
            _check_groups(actor)
            set_members(group, members)
        if is_new or changed:
            action = "group.add" if is_new else "group.change"
            _audit(actor, action, group, reason, {"changed": changed, **details})
            transaction.on_commit(wake_fleet)
    return group


def _bring_in_line(group: ManagedGroup, fields: Mapping[str, Any]) -> list[str]:
    """Give a group the fields of a wish; return which of them it did not have."""
    if group.leaving:
        raise FleetError(f"{group.name!r} is being removed: its members are leaving")
    changed = _differing(group, fields)
    if changed:
        for name in changed:
            setattr(group, name, fields[name])
        group.revision += 1
        group.save()
    return changed


def add_member(
    actor: User | None,
    cluster: str,
    group: str,
    reason: str = "",
    *,
    confirm: str = "",
) -> int:
    """Raise the wanted number of members by one, and return it.

    A group that others may use needs its name in `confirm`.
    """
    allow_operator(actor, cluster, group)
    known = hosted_group(cluster, group)
    check_writable(known.cluster)
    details: dict[str, Any] = {}
    if actor is not None:
        details = check_confirmed(known.cluster, group, known, known.listener, confirm)
    with transaction.atomic():
        found = locked_group(cluster, group)
        count = found.members_wanted + 1
        check_count(count)
        set_members(found, count)
        _audit(actor, "member.add", found, reason, {"members": count, **details})
        transaction.on_commit(wake_fleet)
    return count


@transaction.atomic
def remove_member(
    actor: User | None,
    cluster: str,
    group: str,
    reason: str = "",
    *,
    client_id: str = "",
) -> int:
    """Lower the wanted number of members by one, and return it.

    Without a client id the last one added leaves; no other leaves in any case.
    """
    allow_operator(actor, cluster, group)
    found = locked_group(cluster, group)
    there = found.members.filter(wanted=True)
    last_added = there.order_by("-created_at", "-pk").first()
    if last_added is None:
        raise FleetError(
            _("“%(group)s” has no hosted member that could leave.") % {"group": group}
        )
    if client_id:
        let_go(found, client_id)
    else:
        there.filter(pk=last_added.pk).update(wanted=False)
    count = there.count()
    found.members_wanted = count
    found.save(update_fields=["members_wanted", "changed_at"])
    details = {"members": count, "client_id": client_id}
    _audit(actor, "member.remove", found, reason, details)
    transaction.on_commit(wake_fleet)
    return count


@transaction.atomic
def remove_group(
    actor: User | None, cluster: str, group: str, reason: str = ""
) -> None:
    """Stop hosting a group: its members leave cleanly, then its row is deleted.

    The offsets and the retry topic that brokers keep of it stay there.
    """
    allow_operator(actor, cluster, group)
    found = locked_group(cluster, group)
    set_members(found, 0)
    found.leaving = True
    found.save(update_fields=["leaving"])
    _audit(actor, "group.remove", found, reason, {})
    transaction.on_commit(wake_fleet)


def wake_fleet() -> None:
    """Tell workers that a wish has changed; otherwise they notice within a second."""
    if not settings.ROCKETSCOPE_REDIS_URL:
        return
    try:
        live_state().client.publish(FLEET_WAKE_CHANNEL, b"wish")
    except redis.RedisError as error:
        logger.warning("the fleet was not told: %s", error)


def locked_group(cluster: str, name: str) -> ManagedGroup:
    """Return a hosted group, its row locked until the end of the transaction."""
    return hosted_group(cluster, name, locked=True)


def hosted_group(cluster: str, name: str, *, locked: bool = False) -> ManagedGroup:
    """Return a hosted group; raise FleetError if there is none, or if it is leaving."""
    rows = ManagedGroup.objects.select_related("cluster")
    rows = rows.select_for_update() if locked else rows
    group = rows.filter(cluster__name=cluster, name=name).first()
    if group is None:
        raise UnknownGroupError(f"no hosted group {name!r} on cluster {cluster!r}")
    if group.leaving:
        raise FleetError(f"{name!r} is being removed: its members are leaving")
    return group


def let_go(group: ManagedGroup, client_id: str) -> None:
    found = group.members.filter(wanted=True, client_id=client_id)
    if not found.update(wanted=False):
        raise FleetError(f"{client_id!r} is not a hosted member of {group.name!r}")


def set_members(group: ManagedGroup, count: int) -> None:
    """Make the rows match the count: lowest free numbers join, the last added leave."""
    rows = list(group.members.filter(wanted=True).order_by("number"))
    check_room(count - len(rows))
    taken = set(group.members.values_list("number", flat=True))
    free = (number for number in range(1, 2**15) if number not in taken)
    for _each in range(count - len(rows)):
        ManagedMember.objects.create(group=group, number=next(free))
    last_added = sorted(rows, key=lambda row: row.created_at)[count:]
    leaving = [row.pk for row in last_added]
    ManagedMember.objects.filter(pk__in=leaving).update(wanted=False)
    group.members_wanted = count
    group.save(update_fields=["members_wanted", "changed_at"])


def allow_operator(actor: User | None, cluster: str, group: str) -> None:
    """Raise PermissionDenied for a user who may not change a hosted group."""
    if actor is not None:
        actor.at(cluster, group).must_be(Role.OPERATOR)


def check_writable(cluster: Cluster) -> None:
    """Raise ReadOnlyError where the settings let nothing of ours write."""
    if why := cluster.why_read_only:
        raise ReadOnlyError(why)


def check_confirmed(
    cluster: Cluster,
    name: str,
    known: ManagedGroup | None,
    listener: str,
    confirm: str,
) -> dict[str, Any]:
    """Return what the audit log keeps of a confirmation; nothing if none was needed.

    Raise ConfirmationNeededError if others may use the group and `confirm` is not its
    name. Waits up to 2.5 s for a fresh look at the group, so it is called outside of
    transactions.
    """
    stake = look_at(cluster.name, name, _own_members(known))
    text = said(stake, name, listener, hosted=known is not None)
    if not text:
        return {}
    if confirm.strip() != name:
        asked = _("To do it all the same, confirm it with the name of the group.")
        if given := confirm.strip():
            wrong = _("“%(given)s” is not its name.") % {"given": given[:60]}
            asked = f"{asked} {wrong}"
        raise ConfirmationNeededError(f"{text} {asked}")
    return {"confirmed": text}


def check_wish(wish: GroupWish) -> None:
    """Refuse what no worker could host, with the message of the worker's own check."""
    # Imported late: pages that change no group need not load the clients.
    from dashboard.fleet.wishes import check

    try:
        check(
            group=wish.name,
            topics=wish.topics,
            mode=wish.mode,
            strategy=wish.strategy,
            strategy_options=wish.strategy_options,
            start_position=wish.start_position,
            listener=wish.listener,
            listener_options=wish.listener_options,
        )
    except ArgumentError as error:
        raise FleetError(str(error)) from error


def _check_name(name: str) -> None:
    # What brokers and Java clients accept (Validators.java).
    if not _NAME.fullmatch(name):
        raise FleetError(
            f"group name {name!r}: 1 to {MAX_NAME} letters, digits, %, |, - and _"
        )


def check_count(count: int) -> None:
    if not 0 <= count <= MAX_MEMBERS:
        raise FleetError(f"{count} members, allowed 0 to {MAX_MEMBERS}")


def _own_members(group: ManagedGroup | None) -> Callable[[str], bool]:
    """Return whether a client id is of a member hosted here.

    One that has just joined or left is in no row, but has the name of a hosted member
    at an address of the fleet.
    """
    if group is None:
        return lambda _client_id: False
    rows = ManagedMember.objects.filter(group__cluster=group.cluster)
    fleet = {
        each.partition("@")[0] for each in rows.values_list("client_id", flat=True)
    }
    ours = set(group.members.values_list("client_id", flat=True))

    def is_ours(client_id: str) -> bool:
        if client_id in ours:
            return True
        named = member_number(client_id, group.name) is not None
        return named and client_id.partition("@")[0] in fleet

    return is_ours


def _fields(wish: GroupWish) -> dict[str, Any]:
    return {
        "topics": [
            {"topic": topic, "expression": expression}
            for topic, expression in wish.topics
        ],
        "mode": str(wish.mode),
        "orderly": wish.orderly,
        "strategy": wish.strategy,
        "strategy_options": dict(wish.strategy_options),
        "start_position": wish.start_position,
        "listener": wish.listener,
        "listener_options": dict(wish.listener_options),
    }


def _differing(group: ManagedGroup, fields: Mapping[str, Any]) -> list[str]:
    return sorted(name for name, v in fields.items() if getattr(group, name) != v)


def _check_groups(actor: User | None) -> None:
    """Refuse a group beyond the limits; it is counted already, and is rolled back."""
    count_alone("hosted groups")
    if ManagedGroup.objects.count() > MAX_GROUPS:
        raise FleetFullError(
            f"{MAX_GROUPS} groups are hosted here, and no more are: remove one first"
        )
    if actor and ManagedGroup.objects.filter(added_by=actor).count() > (
        MAX_GROUPS_A_USER
    ):
        raise FleetFullError(
            f"{actor.get_username()} hosts {MAX_GROUPS_A_USER} groups, "
            "the most for one user: remove one first"
        )


def check_room(more: int) -> None:
    """Refuse members beyond those that all workers together are to host.

    Those that are leaving count until a worker has let them go.
    """
    if more <= 0:
        return
    count_alone("hosted members")
    most, there = settings.ROCKETSCOPE_MAX_MEMBERS, ManagedMember.objects.count()
    if there + more > most:
        raise FleetFullError(
            f"{there} members are hosted here, {more} more would exceed the limit of "
            f"{most} (ROCKETSCOPE_MAX_MEMBERS)"
        )


def _audit(
    actor: User | None,
    action: str,
    group: ManagedGroup,
    reason: str,
    details: Mapping[str, Any],
) -> None:
    record(
        actor,
        action,
        target=group.name,
        cluster=group.cluster.name,
        reason=reason,
        details=details,
    )
