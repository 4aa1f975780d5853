"""Configuration over REST: read it on each broker, preview a change, apply it."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from dashboard.accounts.permissions import user_of
from dashboard.gateway.configured import Kind
from dashboard.models import AuditEntry, Cluster
from dashboard.rest.asking import cluster_named
from dashboard.rest.schemas import Problem

from .mqadmin import lines_of
from .plans import Action, Plan, Wish
from .reads import change_made, drift_of, look, undo_of
from .refusals import AdministrationError
from .writes import allow, apply

router = Router()
ERRORS: Final[dict[int, Any]] = dict.fromkeys((409, 424), Problem)


class StandingOut(Schema):
    """A configuration at one broker or name server; null where it has none.

    `problem` says why it is not known. Secrets are masked. `left_out` counts the topics
    whose routes were not looked at to tell whether a broker can be written to.
    """

    place: str
    cluster: str
    address: str
    values: dict[str, str] | None
    problem: str
    left_out: int


class ConfigurationOut(Schema):
    """How a thing is configured at every place, and the values that differ."""

    kind: str
    name: str
    standings: list[StandingOut]
    drift: list[str]


class WishIn(Schema):
    """A change: values to set, or those of the broker `like`, or from before `undo`.

    `cluster` is RocketMQ's name of a cluster, needed if the name servers serve several;
    `brokers` limits it to some. `clean` and `retries` say what goes with a group.
    """

    kind: Kind
    name: str = Field(max_length=255)
    action: Action = "change"
    cluster: str = Field("", max_length=255)
    brokers: list[str] = Field(default_factory=list, max_length=1000)
    changes: dict[str, str] = Field(default_factory=dict, max_length=100)
    like: str = Field("", max_length=255)
    undo: int | None = None
    clean: bool = True
    retries: bool = True


class ApplyIn(WishIn):
    """A change with the token of its preview.

    `confirm` is the name of what is deleted, `secret` a user's new password.
    """

    token: str
    reason: str = Field(max_length=1000)
    confirm: str = Field("", max_length=255)
    secret: str = Field("", max_length=256)


class StepOut(Schema):
    """What would be done at one place; `problem` says why nothing can be done."""

    place: str
    before: dict[str, str] | None
    after: dict[str, str] | None
    acts: bool
    problem: str


class ConfigurationPreviewOut(Schema):
    """What a change would do; `token` is needed to apply it, empty if nothing would.

    `confirm` is what has to be given to apply it. `lost` counts messages by topic,
    `readers` members online by group (null if not known); `partial` says that a broker
    did not answer, so that there may be more of both.
    """

    cluster: str
    steps: list[StepOut]
    untouched: list[str]
    warnings: list[str]
    lost: dict[str, int]
    readers: dict[str, int | None]
    partial: bool
    confirm: str
    token: str
    mqadmin: list[str]


class ChangedOut(Schema):
    """What became of a change at one place; `now` is what was read back."""

    place: str
    address: str = ""
    before: dict[str, str] | None = None
    after: dict[str, str] | None = None
    state: str
    error: str = ""
    now: dict[str, str] | None = None


class RemainsOut(Schema):
    """What a deletion left: messages by topic, and whether offsets are kept."""

    messages: dict[str, int]
    committed: int | None
    partial: bool


class ConfigurationChangeOut(Schema):
    """A change that was made, with its effect on each place as it was read back."""

    id: int
    state: str
    kind: str
    name: str
    action: str
    by: str
    reason: str
    at: str
    steps: list[ChangedOut]
    told: dict[str, str]
    remains: RemainsOut | None
    can_undo: bool


@router.get(
    "/clusters/{cluster}/configuration", response={200: ConfigurationOut, **ERRORS}
)
def get_configuration(
    request: HttpRequest, cluster: str, kind: Kind, name: str
) -> dict[str, Any]:
    """Return how a thing is configured on every broker behind the name servers."""
    _allow_reading(request, cluster, kind)
    found = look(cluster_named(cluster), Wish(kind, name, "change"))
    return {
        "kind": kind,
        "name": name,
        "standings": [
            {
                "place": each.place.name,
                "cluster": each.place.cluster,
                "address": each.place.address,
                "values": each.values,
                "problem": each.problem,
                "left_out": each.left_out,
            }
            for each in found.standings
        ],
        "drift": [each.key for each in drift_of(found.standings)],
    }


@router.post(
    "/clusters/{cluster}/configuration/preview",
    response={200: ConfigurationPreviewOut, **ERRORS},
)
def preview_configuration(
    request: HttpRequest, cluster: str, body: WishIn
) -> dict[str, Any]:
    """Return what a change would do. Nothing is changed."""
    found = cluster_named(cluster)
    allow(user_of(request), body.kind, found.name, body.name)
    plan = look(found, _wish(found, body)).plan
    if plan is None:
        raise AdministrationError("no value to set was given")
    return _plan_row(plan, found)


@router.post(
    "/clusters/{cluster}/configuration",
    response={201: ConfigurationChangeOut, **ERRORS},
)
def apply_configuration(
    request: HttpRequest, cluster: str, body: ApplyIn
) -> Status[dict[str, Any]]:
    """Apply a change as its preview showed it; the effect is read back."""
    found = cluster_named(cluster)
    entry = apply(
        user_of(request),
        found,
        _wish(found, body),
        token=body.token,
        reason=body.reason,
        confirm=body.confirm,
        secret=body.secret,
    )
    return Status(201, _change_row(entry))


@router.get(
    "/clusters/{cluster}/configuration/changes/{pk}",
    response={200: ConfigurationChangeOut, **ERRORS},
)
def get_configuration_change(
    request: HttpRequest, cluster: str, pk: int
) -> dict[str, Any]:
    """Return a change that was made."""
    entry = change_made(cluster_named(cluster), pk)
    _allow_reading(request, cluster, entry.details["kind"])
    return _change_row(entry)


# Private, in order of first use


def _allow_reading(request: HttpRequest, cluster: str, kind: Kind) -> None:
    """Users and rules are shown only to those who may change them."""
    if kind in {"user", "rule"}:
        allow(user_of(request), kind, cluster)


def _wish(cluster: Cluster, body: WishIn) -> Wish:
    if body.undo is not None:
        wish = undo_of(change_made(cluster, body.undo))
        if wish is None or (wish.kind, wish.name) != (body.kind, body.name):
            raise AdministrationError(
                f"change {body.undo} of {body.name!r} cannot be undone"
            )
        return wish
    return Wish(
        body.kind,
        body.name,
        body.action,
        scope=body.cluster,
        places=frozenset(body.brokers),
        changes=body.changes,
        like=body.like,
        clean=body.clean,
        retries=body.retries,
    )


def _plan_row(plan: Plan, cluster: Cluster) -> dict[str, Any]:
    loss = plan.loss
    return {
        "cluster": plan.scope,
        "steps": [
            {
                "place": step.place.name,
                "before": step.before,
                "after": step.after,
                "acts": step.acts,
                "problem": step.problem,
            }
            for step in plan.steps
        ],
        "untouched": [each.place.name for each in plan.others],
        "warnings": list(plan.warnings),
        "lost": dict(loss.messages) if loss else {},
        "readers": {e.group: e.members for e in loss.readers} if loss else {},
        "partial": loss is not None and loss.partial,
        "confirm": plan.confirm,
        "token": plan.token,
        "mqadmin": lines_of(plan, cluster.name_servers),
    }


def _change_row(entry: AuditEntry) -> dict[str, Any]:
    details = entry.details
    return {
        "id": entry.pk,
        "state": details["state"],
        "kind": details["kind"],
        "name": details["name"],
        "action": details["action"],
        "by": entry.actor_name,
        "reason": entry.reason,
        "at": entry.at.isoformat(),
        "steps": details["steps"],
        "told": details.get("told", {}),
        "remains": details.get("remains"),
        "can_undo": undo_of(entry) is not None,
    }
