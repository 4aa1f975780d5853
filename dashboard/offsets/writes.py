"""Moves a group's offsets, keeps what was committed before, and reads back the effect.

The row with the offsets from before, and the audit entry, are stored before anything is
sent: a process that is killed in between leaves a move that can be undone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.frame.reasons import checked_reason
from dashboard.gateway.asking import settings_of
from dashboard.gateway.offsets import move_offsets, read_standing
from dashboard.live.documents import GroupState
from dashboard.models import AuditEntry, Cluster, OffsetChange, Role, User
from dashboard.models.audit import record
from dashboard.rest.refusals import ReadOnlyRefusal
from rmqcore.errors import RmqError

from .plan import Plan, Row
from .reads import Preview, preview_of
from .wanted import Wanted


class OffsetsError(ValueError):
    """A move of offsets is refused; the message says why, and nothing has changed."""


class ReadOnlyError(ReadOnlyRefusal, OffsetsError):
    """The cluster is read-only."""


class StalePlanError(OffsetsError):
    """The move would do something other than what the preview showed."""


def move(
    actor: User,
    cluster: Cluster,
    group: str,
    wanted: Wanted,
    *,
    token: str,
    reason: str,
    confirm: str,
    state: GroupState | None = None,
) -> OffsetChange:
    """Move a group's offsets as a preview with this `token` showed it.

    `confirm` has to be the group's name. Raise OffsetsError, worded for the person who
    asked, or RmqError from the cluster; then nothing has changed. What went wrong for
    single queues is in the rows of the returned change.
    """
    reason = _checked(actor, cluster, group, reason, confirm)
    preview = preview_of(cluster.name, group, wanted, state)
    plan = preview.plan
    if not plan.moving:
        raise OffsetsError(_("No queue would move."))
    if token != plan.token:
        raise StalePlanError(
            _("What this does has changed since the preview. Look at it again.")
        )
    change = _keep(actor, cluster, group, preview, reason)
    _carry_out(actor, change, preview)
    return change


def allow(actor: User) -> None:
    """Raise PermissionDenied for a user who may not move offsets."""
    actor.must_be(Role.OPERATOR)


def _checked(
    actor: User, cluster: Cluster, group: str, reason: str, confirm: str
) -> str:
    allow(actor)
    if why := cluster.why_read_only:
        raise ReadOnlyError(why)
    reason = checked_reason(reason, OffsetsError)
    if confirm.strip() != group:
        raise OffsetsError(
            _("Type the group's name, “%(group)s”, to confirm it.") % {"group": group}
        )
    return reason


@transaction.atomic
def _keep(
    actor: User, cluster: Cluster, group: str, preview: Preview, reason: str
) -> OffsetChange:
    plan = preview.plan
    record(
        actor,
        "offsets.undo" if plan.wanted.kind == "undo" else "offsets.move",
        target=group,
        cluster=cluster.name,
        reason=reason,
        details=_details(plan, preview.online),
    )
    return OffsetChange.objects.create(
        cluster=cluster,
        group=group,
        topic=plan.wanted.topic,
        query=plan.wanted.query,
        rows=[_kept(row) for row in plan.moving],
        online=preview.online,
        undo_of_id=plan.wanted.undo_of or None,
        reason=reason,
        by=actor,
        by_name=actor.get_username(),
        at=timezone.now(),
    )


def _carry_out(actor: User, change: OffsetChange, preview: Preview) -> None:
    """Send the moves; then note for each queue what went wrong and its offset now."""
    settings = settings_of(change.cluster.name)
    plan = preview.plan
    try:
        wrong = move_offsets(
            settings,
            change.group,
            change.topic,
            plan.moves(preview.standing),
            timestamp_ms=plan.wanted.told_ms,
        )
    except RmqError as error:
        wrong = {row.place.key: str(error) for row in plan.moving}
    stood = read_back(change)
    change.rows = [
        {**row, "problem": wrong.get(key_of(row), ""), "stood": stood.get(key_of(row))}
        for row in change.rows
    ]
    with transaction.atomic():
        change.save(update_fields=["rows"])
        if wrong:
            _record_failure(actor, change, wrong)


def read_back(change: OffsetChange) -> Mapping[str, int | None]:
    """Return the offsets now, by key; queues that do not answer are left out."""
    settings = settings_of(change.cluster.name)
    try:
        standing = read_standing(settings, change.group, change.topic)
    except RmqError:
        return {}
    return {each.key: each.committed for each in standing.places if not each.error}


def key_of(row: Mapping[str, Any]) -> str:
    """Return the key of a stored row's queue."""
    return f"{row['broker']}/{row['queue_id']}"


def _kept(row: Row) -> dict[str, Any]:
    return {
        "broker": row.place.broker,
        "queue_id": row.place.queue_id,
        "before": row.place.committed,
        "asked": row.after,
        "stood": None,
        "problem": "",
    }


def _details(plan: Plan, online: bool | None) -> dict[str, Any]:
    return {
        "topic": plan.wanted.topic,
        "to": plan.wanted.query[:500],
        "queues": len(plan.moving),
        "left": len(plan.left),
        "again": plan.again,
        "skipped": plan.skipped,
        "online": online,
    }


def _record_failure(
    actor: User, change: OffsetChange, wrong: Mapping[str, str]
) -> None:
    first: Sequence[tuple[str, str]] = sorted(wrong.items())[:10]
    record(
        actor,
        "offsets.move",
        target=change.group,
        cluster=change.cluster.name,
        reason=change.reason,
        outcome=AuditEntry.Outcome.FAILED,
        details={"topic": change.topic, "queues": len(wrong), "errors": dict(first)},
    )
