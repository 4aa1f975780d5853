"""Previews of changes, and the changes that were made. Reading writes nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.gateway.asking import ask, settings_of
from dashboard.gateway.configured import Loss, Standing, Values
from dashboard.gateway.configuring import is_system, read_loss, read_standings
from dashboard.models import AuditEntry, Cluster
from rmqcore.errors import RmqError

from .fields import checked, is_hot
from .plans import Change, Plan, Wish, changes_between, steps_of, warnings_of
from .refusals import AdministrationError, SilentClusterError, UnknownThingError

LONGEST: Final = {"topic": 127, "group": 255, "user": 64, "rule": 128}
_NAME: Final = re.compile(r"[%|a-zA-Z0-9_-]+")
_SUBJECT: Final = re.compile(r"[A-Za-z]+:[^\s:]+")


@dataclass(frozen=True, slots=True)
class Look:
    """How a thing is configured at every place, and what a wish, if any, would do."""

    standings: tuple[Standing, ...]
    plan: Plan | None

    @property
    def having(self) -> list[Standing]:
        return [each for each in self.standings if each.values is not None]

    @property
    def silent(self) -> list[Standing]:
        return [each for each in self.standings if each.problem]


@dataclass(frozen=True, slots=True)
class Drift:
    """A value that differs between the brokers that have a thing, by broker."""

    key: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Effect:
    """What became of a change at one place.

    `state` is a key of `words.STATES`.
    """

    place: str
    state: str
    error: str
    changes: Sequence[Change]
    now: Values | None


def look(cluster: Cluster, wish: Wish) -> Look:
    """Return the present configuration and a wish's plan; raise AdministrationError."""
    _check_name(wish)
    wish = replace(wish, changes=checked(wish.kind, wish.changes))

    async def work(admin: Any) -> tuple[tuple[Standing, ...], Loss | None]:
        standings = await read_standings(admin, wish.kind, wish.name)
        loss = None
        if wish.action == "delete" and wish.kind in {"topic", "group"}:
            steps, _others = steps_of(wish, standings)
            places = [step.place for step in steps if step.acts]
            silent = any(step.problem for step in steps)
            loss = await read_loss(admin, wish.kind, wish.name, places, partial=silent)
        return standings, loss

    try:
        standings, loss = ask(settings_of(cluster.name), work)
    except RmqError as error:
        raise SilentClusterError(str(error)) from error
    if wish.kind == "broker":
        standings = tuple(e for e in standings if e.place.name == wish.name)
    return Look(standings, None if wish.is_empty else plan_of(wish, standings, loss))


def plan_of(wish: Wish, standings: Sequence[Standing], loss: Loss | None) -> Plan:
    """Return what a wish would do, given what brokers said."""
    places = [each.place for each in standings]
    if is_system(wish.kind, wish.name, places):
        raise AdministrationError(
            _("“%(name)s” is RocketMQ's own; it is not changed here.")
            % {"name": wish.name}
        )
    steps, others = steps_of(wish, standings)
    may_lack = wish.action == "create" or (
        wish.kind == "rule" and wish.action == "change"
    )
    if not may_lack and not any(step.before or step.problem for step in steps):
        raise UnknownThingError(_("No broker has “%(name)s”.") % {"name": wish.name})
    warnings = [*warnings_of(wish, steps), *_cold(wish), *_elsewhere(wish, others)]
    needs_name = wish.action == "delete" or bool(_cold(wish))
    scope = next((step.place.cluster for step in steps), "")
    return Plan(
        wish,
        scope,
        steps,
        others,
        tuple(warnings),
        loss,
        wish.name if needs_name else "",
    )


def drift_of(standings: Sequence[Standing]) -> list[Drift]:
    """Return the values that are not the same on all brokers that have a thing."""
    tables = {e.place.name: e.values for e in standings if e.values is not None}
    keys = sorted({key for values in tables.values() for key in values})
    found = []
    for key in keys:
        by_broker = {name: values.get(key, "") for name, values in tables.items()}
        if len(set(by_broker.values())) > 1:
            found.append(Drift(key, by_broker))
    return found


def change_made(cluster: Cluster, pk: int) -> AuditEntry:
    """Return a change by its number; raise UnknownThingError."""
    found = AuditEntry.objects.filter(
        pk=pk, cluster=cluster.name, action__startswith="configuration."
    ).first()
    if found is None:
        raise UnknownThingError(
            _("No change %(pk)s is in the audit log of “%(cluster)s”.")
            % {"pk": pk, "cluster": cluster.name}
        )
    return found


def effects_of(entry: AuditEntry) -> list[Effect]:
    """Return what became of a change at each place."""
    return [
        Effect(
            step["place"],
            step["state"],
            step["error"],
            list(changes_between(step["before"], step["after"])),
            step["now"],
        )
        for step in entry.details["steps"]
    ]


def undo_of(entry: AuditEntry) -> Wish | None:
    """Return the wish that puts back what a change replaced, if it can be put back.

    What was deleted cannot: its messages and offsets are gone. What was created is
    deleted on its own page, which says what would be lost.
    """
    details = entry.details
    earlier = {
        step["place"]: step["before"]
        for step in details["steps"]
        if step["state"] not in {"failed", "left_out"}
        and (step["before"] is not None or details["kind"] == "rule")
    }
    if details["action"] != "change" or not earlier:
        return None
    return Wish(
        details["kind"],
        details["name"],
        "change",
        details["scope"],
        undoes=entry.pk,
        earlier=earlier,
    )


# Private, in order of first use


def _check_name(wish: Wish) -> None:
    if wish.kind in {"broker", "writing"}:
        return
    limit = LONGEST[wish.kind]
    pattern = _SUBJECT if wish.kind == "rule" else _NAME
    if not wish.name or len(wish.name) > limit:
        raise AdministrationError(
            _("The name has %(length)s characters; it needs 1 to %(limit)s.")
            % {"length": len(wish.name), "limit": limit}
        )
    if not pattern.fullmatch(wish.name):
        raise AdministrationError(
            _("“%(name)s”: a subject is written like User:orders.")
            % {"name": wish.name}
            if wish.kind == "rule"
            else _("“%(name)s”: only letters, digits and %% | _ - are possible.")
            % {"name": wish.name}
        )


def _cold(wish: Wish) -> list[str]:
    """Warn of broker settings that may need a restart or may not exist."""
    if wish.kind != "broker":
        return []
    names = wish.changes or {k: "" for v in wish.earlier.values() for k in v or {}}
    cold = sorted(name for name in names if not is_hot(name))
    if not cold:
        return []
    return [
        _(
            "%(names)s: not known to take effect while the broker runs. Brokers accept "
            "any name, also a mistyped one, and keep it in their file; it may count "
            "only after a restart."
        )
        % {"names": ", ".join(cold)}
    ]


def _elsewhere(wish: Wish, others: Sequence[Standing]) -> list[str]:
    """Say that other clusters of the same name servers have the name, too."""
    having = sorted({e.place.cluster for e in others if e.values is not None})
    if wish.action != "delete" or not having:
        return []
    return [
        _("“%(name)s” also exists elsewhere, in %(clusters)s. That stays untouched.")
        % {"name": wish.name, "clusters": ", ".join(having)}
    ]
