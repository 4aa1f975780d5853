"""What somebody wants changed, and what that would do at each place. No IO.

A plan is computed from what brokers say now. Its `token` stands for everything that it
would do: applying needs the token, so what is applied is what was shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import orjson
from django.utils.translation import gettext as _

from dashboard.gateway.configured import Kind, Loss, Place, Standing, Values

from .refusals import AdministrationError, UnknownThingError

Action = Literal["create", "change", "delete"]


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be done with one thing.

    `scope` is RocketMQ's name of a cluster, empty for the only one; `places` limits it
    to some of its brokers. `changes` are values to set, of which an empty one removes;
    `like` takes them from the named broker instead, and `earlier` gives each place its
    own, to undo a change. `clean` and `retries` tell whether deleting a group deletes
    its offsets and its retry and dead-letter topics.
    """

    kind: Kind
    name: str
    action: Action
    scope: str = ""
    places: frozenset[str] = frozenset()
    changes: Mapping[str, str] = field(default_factory=dict)
    like: str = ""
    undoes: int | None = None
    earlier: Mapping[str, Values | None] = field(default_factory=dict)
    clean: bool = True
    retries: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether it only asks for what is there."""
        return not (self.action == "delete" or self.changes or self.like or self.undoes)


@dataclass(frozen=True, slots=True)
class Change:
    """One value before and after; None where there is none."""

    key: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """What would be done at one place; `problem` says why nothing can be done."""

    place: Place
    before: Values | None
    after: Values | None
    problem: str = ""

    @property
    def changes(self) -> list[Change]:
        return list(changes_between(self.before, self.after))

    @property
    def acts(self) -> bool:
        """Whether it would write: the place is known, and is not yet as wanted."""
        return not self.problem and self.before != self.after


@dataclass(frozen=True, slots=True)
class Plan:
    """What a wish would do: `steps` within its scope; `others` stay untouched.

    `confirm` is the text to type before it is applied, empty if none is needed.
    """

    wish: Wish
    scope: str
    steps: tuple[Step, ...]
    others: tuple[Standing, ...]
    warnings: tuple[str, ...] = ()
    loss: Loss | None = None
    confirm: str = ""

    @property
    def acting(self) -> list[Step]:
        return [step for step in self.steps if step.acts]

    @property
    def silent(self) -> list[Step]:
        return [step for step in self.steps if step.problem]

    @property
    def token(self) -> str:
        """Stands for what would be done; empty when nothing would be."""
        if not self.acting:
            return ""
        wish = self.wish
        seen = (
            (wish.kind, wish.name, wish.action, self.scope),
            (wish.clean, wish.retries, wish.undoes),
            [
                (step.place.name, step.place.address, step.before, step.after)
                for step in self.acting
            ],
        )
        text = orjson.dumps(seen, option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(text).hexdigest()[:32]


def changes_between(before: Values | None, after: Values | None) -> Iterator[Change]:
    """Yield the values that differ, in the order of their names."""
    old, new = before or {}, after or {}
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            yield Change(key, old.get(key), new.get(key))


def scopes_of(standings: Sequence[Standing]) -> list[str]:
    """Return RocketMQ's names of the clusters behind the name servers."""
    return sorted({each.place.cluster for each in standings})


def scope_of(wish: Wish, standings: Sequence[Standing]) -> str:
    """Return the cluster that a wish is about; refuse to guess between several.

    Name servers may serve several clusters. A topic of the same name in another one is
    another topic.
    """
    scopes = scopes_of(standings)
    if wish.scope:
        if wish.scope not in scopes:
            raise AdministrationError(
                _("“%(name)s” is none of the clusters %(known)s.")
                % {"name": wish.scope, "known": ", ".join(scopes)}
            )
        return wish.scope
    if wish.kind == "broker":
        scopes = [e.place.cluster for e in standings if e.place.name == wish.name]
        if not scopes:
            raise UnknownThingError(
                _("The name servers know no broker “%(name)s”.") % {"name": wish.name}
            )
    elif len(scopes) > 1 and wish.action != "create":
        having = scopes_of([each for each in standings if each.values is not None])
        scopes = having if len(having) == 1 else scopes
    if len(scopes) > 1:
        raise AdministrationError(
            _("The name servers serve several clusters: choose one of %(known)s.")
            % {"known": ", ".join(scopes)}
        )
    return scopes[0] if scopes else ""


def steps_of(
    wish: Wish, standings: Sequence[Standing]
) -> tuple[tuple[Step, ...], tuple[Standing, ...]]:
    """Return what would be done at which places, and the places that stay untouched."""
    scope = scope_of(wish, standings)
    inside = [each for each in standings if _is_meant(wish, scope, each)]
    unknown = wish.places - {each.place.name for each in standings}
    if unknown:
        raise AdministrationError(
            _("There is no broker “%(name)s”.") % {"name": ", ".join(sorted(unknown))}
        )
    model = _model(wish, standings) if wish.like else None
    steps = tuple(_step(wish, each, model) for each in inside)
    if wish.action == "create":
        _refuse_existing(wish, inside)
    others = tuple(each for each in standings if each not in inside)
    return steps, others


def warnings_of(wish: Wish, steps: Sequence[Step]) -> list[str]:
    """Return what a person should know before a topic's queues change."""
    if wish.kind != "topic" or wish.action == "delete":
        return []
    found = []
    for step in steps:
        if not step.acts or step.after is None:
            continue
        name = step.place.name
        before, after = _numbers(step.before), _numbers(step.after)
        if after["readQueueNums"] < after["writeQueueNums"]:
            found.append(
                _(
                    "%(broker)s: what is sent to queues from %(first)s on would not be "
                    "consumed, since only %(first)s are read."
                )
                % {"broker": name, "first": after["readQueueNums"]}
            )
        elif step.before and after["readQueueNums"] < before["readQueueNums"]:
            found.append(
                _(
                    "%(broker)s: what waits in queues from %(first)s on would no "
                    "longer be consumed."
                )
                % {"broker": name, "first": after["readQueueNums"]}
            )
        if not after["perm"] & 2:
            found.append(
                _("%(broker)s: sends to this topic would be refused.")
                % {"broker": name}
            )
        if not after["perm"] & 4:
            found.append(
                _("%(broker)s: pulls from this topic would be refused.")
                % {"broker": name}
            )
    return found


# Private, in order of first use


def _is_meant(wish: Wish, scope: str, standing: Standing) -> bool:
    place = standing.place
    if wish.undoes:
        return place.name in wish.earlier
    if wish.kind == "writing":
        return True
    if place.cluster != scope:
        return False
    if wish.places:
        return place.name in wish.places
    if wish.kind == "broker":
        return place.name == wish.name
    if wish.action == "create" or wish.like or wish.kind == "rule":
        return True
    return standing.values is not None or bool(standing.problem)


def _model(wish: Wish, standings: Sequence[Standing]) -> Values:
    for each in standings:
        if each.place.name == wish.like and each.values is not None:
            return each.values
    raise UnknownThingError(
        _("“%(name)s” cannot be copied from %(broker)s, which does not have it now.")
        % {"name": wish.name, "broker": wish.like}
    )


def _step(wish: Wish, standing: Standing, model: Values | None) -> Step:
    before = standing.values
    if standing.problem:
        return Step(standing.place, None, None, standing.problem)
    if wish.kind == "broker" and before is not None:
        asked = wish.earlier.get(standing.place.name) or wish.changes
        wanted = {k: v for k, v in asked.items() if before.get(k, "") != v}
        return Step(standing.place, {k: before.get(k, "") for k in wanted}, wanted)
    return Step(standing.place, before, _wanted(wish, standing, model))


def _wanted(wish: Wish, standing: Standing, model: Values | None) -> Values | None:
    if wish.action == "delete":
        return None
    if wish.undoes:
        return wish.earlier.get(standing.place.name)
    if model is not None:
        return model
    merged = {**(standing.values or {}), **wish.changes}
    kept = {k: v for k, v in merged.items() if v or k not in wish.changes}
    return kept or None


def _refuse_existing(wish: Wish, inside: Sequence[Standing]) -> None:
    having = [each.place.name for each in inside if each.values is not None]
    if having and wish.changes:
        raise AdministrationError(
            _("“%(name)s” is already on %(brokers)s; change it there instead.")
            % {"name": wish.name, "brokers": ", ".join(having)}
        )


def _numbers(values: Values | None) -> dict[str, int]:
    defaults = {"readQueueNums": 8, "writeQueueNums": 8, "perm": 6}
    return {key: int((values or {}).get(key, n)) for key, n in defaults.items()}
