"""Makes changes that were previewed: on each broker, recorded, and read back.

The audit entry is added before anything is sent, and says how it ended afterwards: if
this program is stopped in between, the entry shows that a change had begun. Brokers are
changed side by side; one that fails is shown as failed, the others as done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from dashboard.gateway.asking import ask, settings_of
from dashboard.gateway.configured import Done, Kind, Loss, Standing, Values
from dashboard.gateway.configuring import (
    forget_routes,
    read_loss,
    read_standings,
    write_values,
)
from dashboard.models import AuditEntry, Cluster, Role, User
from dashboard.models.audit import record
from rmqcore.errors import RmqError
from rmqcore.model.topic import dead_letter_topic, retry_topic

from .fields import PASSWORD
from .plans import Plan, Step, Wish
from .reads import look, plan_of
from .refusals import (
    AdministrationError,
    ConfirmationError,
    ReadOnlyError,
    StalePreviewError,
)

MAX_REASON: Final = 1000
MAX_SECRET: Final = 256
SECONDS: Final = 25.0

ROLES: Final[Mapping[Kind, Role]] = {
    "topic": Role.OPERATOR,
    "group": Role.OPERATOR,
    "broker": Role.ADMIN,
    "writing": Role.ADMIN,
    "user": Role.ADMIN,
    "rule": Role.ADMIN,
}
"""Who may change what."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What brokers and name servers said to a change, and what they say now.

    `remains` is what a deletion has left, by the same count as before it.
    """

    done: tuple[Done, ...]
    told: tuple[Done, ...]
    now: tuple[Standing, ...]
    remains: Loss | None


def apply(
    actor: User,
    cluster: Cluster,
    wish: Wish,
    *,
    token: str,
    reason: str,
    confirm: str = "",
    secret: str = "",
) -> AuditEntry:
    """Carry out a wish as its preview showed it; return the entry that records it.

    `token` is the preview's. `confirm` is the name of what is deleted; `secret` the
    password of a user. Raise AdministrationError if the wish is refused: then nothing
    was sent. What failed on single brokers is in the entry.
    """
    allow(actor, wish.kind)
    if why := cluster.why_read_only:
        raise ReadOnlyError(why)
    reason = _checked_reason(reason)
    plan = look(cluster, wish).plan
    if plan is None or not plan.acting:
        raise AdministrationError(_("Nothing would change."))
    if token != plan.token:
        raise _stale()
    if plan.confirm and confirm.strip() != plan.confirm:
        raise ConfirmationError(
            _("Type “%(name)s” to confirm it.") % {"name": plan.confirm}
        )
    _check_secret(plan, secret)
    entry = _begin(actor, cluster, plan, reason)
    return _carried_out(entry, cluster, plan, secret)


def allow(actor: User, kind: Kind) -> None:
    """Raise PermissionDenied unless somebody may change things of a kind."""
    role = ROLES[kind]
    if not actor.allows(role):
        raise PermissionDenied(
            f"{actor.get_username()} is {actor.role}; this needs {role}"
        )


# Private, in order of first use


def _stale() -> StalePreviewError:
    return StalePreviewError(
        _("Brokers have changed since the preview. Look at it again.")
    )


def _begin(actor: User, cluster: Cluster, plan: Plan, reason: str) -> AuditEntry:
    wish = plan.wish
    return record(
        actor,
        f"configuration.{wish.action}",
        target=wish.name,
        cluster=cluster.name,
        reason=reason,
        outcome=AuditEntry.Outcome.FAILED,
        details={
            "state": "begun",
            "kind": wish.kind,
            "name": wish.name,
            "action": wish.action,
            "scope": plan.scope,
            "undoes": wish.undoes,
            "steps": [_step_row(step, "unknown") for step in plan.acting],
        },
    )


def _carried_out(
    entry: AuditEntry, cluster: Cluster, plan: Plan, secret: str
) -> AuditEntry:
    async def work(admin: Any) -> Applied:
        return await _work(admin, plan, secret)

    try:
        applied = ask(settings_of(cluster.name), work, seconds=SECONDS)
    except StalePreviewError:
        return _refused(entry)
    except RmqError as error:
        entry.details = {**entry.details, "state": "unknown", "error": str(error)}
        entry.save(update_fields=["details"])
        return entry
    steps = _judged(plan, applied)
    states = {step["state"] for step in steps}
    whole = states == {"done"}
    entry.details = {
        **entry.details,
        "state": "done" if whole else "partly" if "done" in states else "failed",
        "steps": steps,
        "told": {each.place.name: each.error for each in applied.told},
        "remains": _remains(applied.remains),
    }
    if whole:
        entry.outcome = AuditEntry.Outcome.DONE
    entry.save(update_fields=["details", "outcome"])
    return entry


def _refused(entry: AuditEntry) -> AuditEntry:
    entry.outcome = AuditEntry.Outcome.REFUSED
    entry.details = {**entry.details, "state": "refused"}
    entry.save(update_fields=["details", "outcome"])
    raise _stale()


async def _work(admin: Any, plan: Plan, secret: str) -> Applied:
    """Compare once more, write, and read back: all with one connection."""
    wish = plan.wish
    standings = await read_standings(admin, wish.kind, wish.name)
    if wish.kind == "broker":
        standings = tuple(e for e in standings if e.place.name == wish.name)
    if plan_of(wish, standings, plan.loss).token != plan.token:
        raise _stale()
    steps = [(step.place, step.before, step.after) for step in plan.acting]
    done = await write_values(
        admin, wish.kind, wish.name, steps, secret=secret, clean_offsets=wish.clean
    )
    told = await _forget(admin, plan, done)
    now = await read_standings(admin, wish.kind, wish.name)
    remains = None
    if plan.loss is not None:
        places = [step.place for step in plan.acting]
        remains = await read_loss(admin, wish.kind, wish.name, places)
    return Applied(done, told, now, remains)


async def _forget(admin: Any, plan: Plan, done: Sequence[Done]) -> tuple[Done, ...]:
    """Delete what belongs to a deleted topic or group: topics, and their routes."""
    wish = plan.wish
    if wish.action != "delete" or wish.kind not in {"topic", "group"}:
        return ()
    topics = [wish.name]
    if wish.kind == "group":
        if not wish.retries:
            return ()
        topics = [retry_topic(wish.name), dead_letter_topic(wish.name)]
        steps = [(e.place, None, None) for e in done if not e.error]
        for topic in topics:
            await write_values(admin, "topic", topic, steps)
    told: list[Done] = []
    for topic in topics:
        if await _is_gone(admin, plan, topic):
            told += await forget_routes(admin, topic, plan.scope)
    return tuple(told)


async def _is_gone(admin: Any, plan: Plan, topic: str) -> bool:
    """Tell whether no broker of the cluster has a topic, so that routes may go."""
    standings = await read_standings(admin, "topic", topic)
    return all(
        each.values is None and not each.problem
        for each in standings
        if each.place.cluster == plan.scope
    )


def _judged(plan: Plan, applied: Applied) -> list[dict[str, Any]]:
    errors = {each.place.name: each.error for each in applied.done}
    now = {each.place.name: each for each in applied.now}
    rows = []
    for step in plan.acting:
        error, standing = errors[step.place.name], now.get(step.place.name)
        state = _state(plan.wish, step, error, standing)
        row = _step_row(step, state, error or (standing.problem if standing else ""))
        rows.append({**row, "now": _shown(step, standing)})
    return rows


def _state(wish: Wish, step: Step, error: str, standing: Standing | None) -> str:
    if error:
        return "failed"
    if standing is None or standing.problem:
        return "unknown"
    if step.after is None:
        return "done" if standing.values is None else "ignored"
    have = standing.values or {}
    kept = all(
        have.get(key) == value for key, value in step.after.items() if key != PASSWORD
    )
    lost = (step.before or {}).keys() - step.after.keys()
    gone = wish.kind == "broker" or not any(key in have for key in lost)
    return "done" if kept and gone else "ignored"


def _step_row(step: Step, state: str, error: str = "") -> dict[str, Any]:
    return {
        "place": step.place.name,
        "address": step.place.address,
        "before": None if step.before is None else dict(step.before),
        "after": None if step.after is None else dict(step.after),
        "state": state,
        "error": error,
        "now": None,
    }


def _shown(step: Step, standing: Standing | None) -> Values | None:
    """Return what is in effect now, of the values that the change is about."""
    if standing is None or standing.values is None:
        return None
    keys = {*(step.before or {}), *(step.after or {})}
    return {key: standing.values[key] for key in keys if key in standing.values}


def _remains(loss: Loss | None) -> dict[str, Any] | None:
    if loss is None:
        return None
    return {
        "messages": dict(loss.messages),
        "committed": loss.committed,
        "partial": loss.partial,
    }


def _check_secret(plan: Plan, secret: str) -> None:
    if plan.wish.kind != "user" or plan.wish.action == "delete":
        return
    if len(secret) > MAX_SECRET or not secret.isprintable():
        raise AdministrationError(
            _("The password has to be one line of at most %(limit)s characters.")
            % {"limit": MAX_SECRET}
        )
    if not secret and any(step.before is None for step in plan.acting):
        raise AdministrationError(_("A new user needs a password."))


def _checked_reason(reason: str) -> str:
    reason = reason.strip()
    if not reason:
        raise AdministrationError(_("A reason is needed; it is kept in the audit log."))
    if len(reason) > MAX_REASON:
        raise AdministrationError(
            _("The reason has %(length)s characters, at most %(limit)s are kept.")
            % {"length": len(reason), "limit": MAX_REASON}
        )
    return reason
