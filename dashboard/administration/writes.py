"""Makes changes that were previewed: on each broker, recorded, and read back.

The audit entry is added before anything is sent, and says how it ended afterwards: if
this program is stopped in between, the entry shows that a change had begun. Brokers are
changed side by side; one that fails is shown as failed, the others as done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.frame.reasons import checked_reason
from dashboard.gateway.asking import ask, settings_of
from dashboard.gateway.configured import Done, Kind, Loss, Place, Standing, Values
from dashboard.gateway.configuring import (
    SECONDS_A_PLACE,
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

    `kept` are the brokers that still have a retry or dead-letter topic of a deleted
    group, `told` the name servers that were to forget routes. `remains` is what a
    deletion has left, by the same count as before it; None if that is not known.
    """

    done: tuple[Done, ...]
    kept: Sequence[Done]
    told: Sequence[Done]
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
    allow(actor, wish.kind, cluster.name, wish.name)
    if why := cluster.why_read_only:
        raise ReadOnlyError(why)
    reason = checked_reason(reason, AdministrationError)
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


def may_change(actor: User, kind: Kind, cluster: str, name: str = "") -> bool:
    """Tell whether somebody may change a thing of a kind on a cluster."""
    return _at(actor, kind, cluster, name).allows(ROLES[kind])


def allow(actor: User, kind: Kind, cluster: str, name: str = "") -> None:
    """Raise PermissionDenied unless somebody may change a thing of a kind."""
    _at(actor, kind, cluster, name).must_be(ROLES[kind])


def _at(actor: User, kind: Kind, cluster: str, name: str) -> User:
    return actor.at(cluster, name if kind == "group" and name else None)


def outcome_of(plan: Plan, applied: Applied) -> dict[str, Any]:
    """Return what the entry of a change says of its end.

    It is done only where no place was left out and all of them have it.
    """
    steps = [*_judged(plan, applied), *_left_out(plan)]
    told = _errors(applied.told)
    states = {step["state"] for step in steps}
    return {
        "state": _whole_state(states | ({"partly"} if any(told.values()) else set())),
        "steps": steps,
        "told": told,
        "remains": _remains(applied.remains),
    }


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
            "steps": [
                *(_step_row(step, "unknown") for step in plan.acting),
                *_left_out(plan),
            ],
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
    entry.details = {**entry.details, **outcome_of(plan, applied)}
    if entry.details["state"] == "done":
        entry.outcome = AuditEntry.Outcome.DONE
    entry.save(update_fields=["details", "outcome"])
    return entry


def _whole_state(states: set[str]) -> str:
    if states == {"done"}:
        return "done"
    if states & {"done", "partly"}:
        return "partly"
    return "unknown" if "unknown" in states else "failed"


def _left_out(plan: Plan) -> list[dict[str, Any]]:
    return [_step_row(step, "left_out", step.problem) for step in plan.silent]


def _errors(ends: Sequence[Done]) -> dict[str, str]:
    """Return by place what it said; of several answers, the first that is an error."""
    found: dict[str, str] = {}
    for each in ends:
        found[each.place.name] = found.get(each.place.name) or each.error
    return found


def _refused(entry: AuditEntry) -> AuditEntry:
    entry.outcome = AuditEntry.Outcome.REFUSED
    entry.details = {**entry.details, "state": "refused"}
    entry.save(update_fields=["details", "outcome"])
    raise _stale()


async def _work(admin: Any, plan: Plan, secret: str) -> Applied:
    """Compare once more, write, and read back, all with one connection."""
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
    kept, told = await _forget(admin, plan, done)
    now = await read_standings(admin, wish.kind, wish.name)
    return Applied(done, kept, told, now, await _read_remains(admin, plan))


async def _forget(
    admin: Any, plan: Plan, done: Sequence[Done]
) -> tuple[list[Done], list[Done]]:
    """Delete what belongs to a deleted topic or group: topics, and their routes.

    Return the brokers that still have such a topic, and what name servers said.
    """
    wish = plan.wish
    topics: Sequence[str] = ()
    steps: list[tuple[Place, None, None]] = []
    if wish.action == "delete" and wish.kind == "topic" and not plan.silent:
        topics = (wish.name,)
    elif wish.action == "delete" and wish.kind == "group" and wish.retries:
        topics = (retry_topic(wish.name), dead_letter_topic(wish.name))
        steps = [(e.place, None, None) for e in done if not e.error]
    ends = await asyncio.gather(
        *(_forget_topic(admin, plan, topic, steps) for topic in topics)
    )
    return [e for kept, _ in ends for e in kept], [e for _, told in ends for e in told]


async def _forget_topic(
    admin: Any, plan: Plan, topic: str, steps: Sequence[tuple[Place, None, None]]
) -> tuple[list[Done], tuple[Done, ...]]:
    """Delete a topic at some brokers, and its routes if no broker is left with it."""
    errors = _errors(await write_values(admin, "topic", topic, steps))
    having = [
        each
        for each in await read_standings(admin, "topic", topic)
        if each.place.cluster == plan.scope
        and (each.values is not None or each.problem)
    ]
    kept = []
    for each in having:
        why = errors.get(each.place.name) or each.problem or "still there"
        kept.append(Done(each.place, f"{topic}: {why}"))
    return kept, () if having else await forget_routes(admin, topic, plan.scope)


async def _read_remains(admin: Any, plan: Plan) -> Loss | None:
    """Return what a deletion has left; None for other changes, and if nobody says."""
    if plan.loss is None:
        return None
    wish, places = plan.wish, [step.place for step in plan.acting]
    try:
        async with asyncio.timeout(SECONDS_A_PLACE):
            return await read_loss(
                admin, wish.kind, wish.name, places, partial=bool(plan.silent)
            )
    except (TimeoutError, RmqError):
        return None


def _judged(plan: Plan, applied: Applied) -> list[dict[str, Any]]:
    errors, kept = _errors(applied.done), _errors(applied.kept)
    now = {each.place.name: each for each in applied.now}
    rows = []
    for step in plan.acting:
        name = step.place.name
        error, standing = errors[name], now.get(name)
        state = _state(plan.wish, step, error, standing)
        if state == "done":
            state, error = ("partly", kept[name]) if name in kept else ("done", "")
        row = _step_row(step, state, error or (standing.problem if standing else ""))
        rows.append({**row, "now": _shown(step, standing)})
    return rows


def _state(wish: Wish, step: Step, error: str, standing: Standing | None) -> str:
    """Judge by what was read back: an answer that was late is no failure."""
    if standing is None or standing.problem:
        return "unknown"
    if _has(wish, step, standing.values):
        # A password is not read back: then only the answer tells.
        told_anew = not _has(wish, step, step.before)
        return "failed" if error and not told_anew else "done"
    return "failed" if error else "ignored"


def _has(wish: Wish, step: Step, values: Values | None) -> bool:
    """Tell whether values are as a step wants them, as far as they can be read."""
    if step.after is None or values is None:
        return values is step.after
    lost = (step.before or {}).keys() - step.after.keys()
    gone = wish.kind == "broker" or lost.isdisjoint(values)
    return gone and all(
        values.get(key) == value for key, value in step.after.items() if key != PASSWORD
    )


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
    """Return which of the values that the change is about are in effect now."""
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
