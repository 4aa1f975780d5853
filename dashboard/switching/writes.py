"""Applies and undoes changes to how a hosted group divides its queues.

A change sets the desired state, which workers follow; it records the state before, the
state wanted after and the predicted division. Undoing a change restores the parts of
the desired state that it changed, whether or not members have followed yet. If somebody
else has changed the same parts since, undoing would overwrite that: it is refused,
naming who and what, unless confirmed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.frame.reasons import checked_reason
from dashboard.hosting.writes import (
    FleetError,
    GroupWish,
    allow_operator,
    check_confirmed,
    check_count,
    check_room,
    check_wish,
    check_writable,
    hosted_group,
    locked_group,
    wake_fleet,
)
from dashboard.live.documents import GroupState
from dashboard.models import (
    AuditEntry,
    GroupChange,
    ManagedGroup,
    ManagedMember,
    SavedScenario,
    User,
)
from dashboard.models.audit import record
from dashboard.whatif.reads import read_scenario
from rmqcore.errors import ArgumentError

from .reads import Preview, preview_of

# Parts that are undone together: options mean nothing without their strategy.
PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "strategy": ("strategy", "strategy_options"),
    "members": ("members",),
}


class StalePreviewError(FleetError):
    """The group has changed since the preview."""


class OverwriteError(FleetError):
    """Undoing would overwrite what somebody else has changed since."""


def apply_change(
    actor: User,
    state: GroupState,
    query: str,
    *,
    show: str,
    token: str,
    reason: str,
    scenario: SavedScenario | None = None,
    confirm: str = "",
) -> GroupChange:
    """Make a scenario's row the desired state of a hosted group.

    `token` is that of the preview that was shown. Where members join and others may use
    the group, `confirm` has to be its name. Raise FleetError with a message for the
    person who asked; then nothing has changed.
    """
    allow_operator(actor, state["cluster"], state["group"])
    reason = checked_reason(reason, FleetError)
    group = hosted_group(state["cluster"], state["group"])
    check_writable(group.cluster)
    try:
        joining = bool(read_scenario(query)[0].add)
    except ArgumentError as error:
        raise FleetError(str(error)) from error
    if joining:
        check_confirmed(group.cluster, group.name, group, group.listener, confirm)
    with transaction.atomic():
        group = locked_group(state["cluster"], state["group"])
        preview, wanted = _previewed(state, group, query, show=show, token=token)
        before = desired_state(group)
        if before == wanted:
            raise FleetError(_("The group already divides this way."))
        _follow(group, before, wanted)
        return _keep(
            actor,
            group,
            before,
            wanted,
            preview=preview,
            reason=reason,
            scenario=scenario,
        )


def _previewed(
    state: GroupState, group: ManagedGroup, query: str, *, show: str, token: str
) -> tuple[Preview, dict[str, Any]]:
    """Return the preview that was shown, and the state that it wants."""
    try:
        preview = preview_of(state, group, query, show=show)
    except ArgumentError as error:
        raise FleetError(str(error)) from error
    if preview.desired is None:
        raise FleetError(preview.refusal)
    if token != preview.token:
        raise StalePreviewError(
            _("The group has changed since the preview. Look at it again.")
        )
    return preview, preview.desired.state


def undo_change(
    actor: User,
    change: GroupChange,
    *,
    reason: str,
    confirmed: bool = False,
    confirm: str = "",
) -> GroupChange:
    """Restore the parts of the desired state that a change has changed.

    Raise OverwriteError if somebody else has changed the same parts since, unless
    `confirmed`; FleetError if there is nothing to undo. Where members join and others
    may use the group, `confirm` has to be its name.
    """
    changed = change.group
    allow_operator(actor, changed.cluster.name, changed.name)
    reason = checked_reason(reason, FleetError)
    group = hosted_group(change.group.cluster.name, change.group.name)
    check_writable(group.cluster)
    if set(change.before["members"]) - set(desired_state(group)["members"]):
        check_confirmed(group.cluster, group.name, group, group.listener, confirm)
    with transaction.atomic():
        return _undo(actor, change, reason, confirmed)


def _undo(
    actor: User, change: GroupChange, reason: str, confirmed: bool
) -> GroupChange:
    group = locked_group(change.group.cluster.name, change.group.name)
    now = desired_state(group)
    parts = [part for part in PARTS if _differ(part, change.before, change.after)]
    keys = [key for part in parts for key in PARTS[part]]
    wanted = {**now, **{key: change.before[key] for key in keys}}
    if wanted == now:
        raise FleetError(_("The group is already as it was before that change."))
    others = [part for part in parts if _differ(part, now, change.after)]
    names = sorted(set(_changed_since(change, actor, group)))
    if others and names and not confirmed:
        raise OverwriteError(
            _(
                "%(names)s changed %(parts)s of this group since. Undoing would "
                "overwrite that; confirm to do it all the same."
            )
            % {"names": ", ".join(names), "parts": _in_words(others)}
        )
    _follow(group, now, wanted)
    return _keep(actor, group, now, wanted, undo_of=change, reason=reason)


def desired_state(group: ManagedGroup) -> dict[str, Any]:
    """Return the desired state of a group, in the form that changes store."""
    numbers = group.members.filter(wanted=True).values_list("number", flat=True)
    return {
        "strategy": group.strategy,
        "strategy_options": group.strategy_options,
        "members": sorted(numbers),
    }


def _follow(group: ManagedGroup, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Bring rows in line with a desired state, after checking that it can be hosted."""
    check_count(len(after["members"]))
    check_wish(
        GroupWish(
            cluster=group.cluster.name,
            name=group.name,
            topics=[(each["topic"], each["expression"]) for each in group.topics],
            mode=group.mode,
            strategy=after["strategy"],
            strategy_options=after["strategy_options"],
            start_position=group.start_position,
            listener=group.listener,
            listener_options=group.listener_options,
        )
    )
    group.strategy = after["strategy"]
    group.strategy_options = after["strategy_options"]
    group.members_wanted = len(after["members"])
    if (before["strategy"], before["strategy_options"]) != (
        after["strategy"],
        after["strategy_options"],
    ):
        group.revision += 1
    group.save()
    _set_numbers(group, set(after["members"]))


def _set_numbers(group: ManagedGroup, wanted: set[int]) -> None:
    """Want exactly these members; one that is just leaving may be wanted again."""
    group.members.exclude(number__in=wanted).update(wanted=False)
    group.members.filter(number__in=wanted).update(wanted=True)
    known = set(group.members.values_list("number", flat=True))
    check_room(len(wanted - known))
    for number in sorted(wanted - known):
        ManagedMember.objects.create(group=group, number=number)


def _keep(
    actor: User,
    group: ManagedGroup,
    before: dict[str, Any],
    after: dict[str, Any],
    *,
    reason: str,
    preview: Preview | None = None,
    undo_of: GroupChange | None = None,
    scenario: SavedScenario | None = None,
) -> GroupChange:
    change = GroupChange.objects.create(
        group=group,
        before=before,
        after=after,
        predicted=_predicted(preview),
        revision=group.revision,
        query=preview.query if preview else "",
        row=preview.row if preview else after["strategy"],
        scenario=scenario,
        undo_of=undo_of,
        reason=reason,
        by=actor,
        by_name=actor.get_username(),
        at=timezone.now(),
    )
    record(
        actor,
        "strategy.undo" if undo_of else "strategy.switch",
        target=group.name,
        cluster=group.cluster.name,
        reason=reason,
        details={
            "change": change.pk,
            "undoes": undo_of.pk if undo_of else None,
            "from": [before["strategy"], len(before["members"])],
            "to": [after["strategy"], len(after["members"])],
        },
    )
    transaction.on_commit(wake_fleet)
    return change


def _predicted(preview: Preview | None) -> dict[str, Any]:
    if preview is None or preview.desired is None:
        return {}
    return dict(preview.desired.predicted)


def _changed_since(
    change: GroupChange, actor: User, group: ManagedGroup
) -> Iterator[str]:
    """Yield the names of others who have changed the group since a change."""
    entries = AuditEntry.objects.filter(
        cluster=group.cluster.name,
        target=group.name,
        at__gt=change.at,
        action__in=(
            "group.change",
            "member.add",
            "member.remove",
            "strategy.switch",
            "strategy.undo",
        ),
    )
    for name in entries.values_list("actor_name", flat=True):
        if name != actor.get_username():
            yield name


def _differ(part: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return any(one[key] != other[key] for key in PARTS[part])


def _in_words(parts: list[str]) -> str:
    words = {"strategy": _("the strategy"), "members": _("the members")}
    return ", ".join(words[part] for part in parts)
