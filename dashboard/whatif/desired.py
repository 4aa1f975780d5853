"""Turns a scenario into the desired state of a hosted group, and predicts the division.

What a scenario says about client ids is stored by member number (see `strategies`). A
scenario that no desired state can bring about is refused with the reason: queue counts
belong to topics, client ids to the fleet, and members hosted elsewhere to others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dashboard.fleet.joining import next_members
from dashboard.whatif.model.options import NEARBY
from dashboard.whatif.model.scenario import QUEUE_LIMIT
from dashboard.wording.names import member_number
from rmqcore.allocation import BALANCED, Plan
from rmqcore.errors import ArgumentError

from .model import (
    Comparison,
    RoomRule,
    Scenario,
    from_lists,
    to_entries,
)


@dataclass(frozen=True, slots=True)
class Desired:
    """How a hosted group is to divide, with which members, and the predicted division.

    `members` are numbers; `predicted` has each member's queues by client id, in the
    short form of lists.
    """

    strategy: str
    options: Mapping[str, Any]
    members: tuple[int, ...]
    joining: tuple[str, ...]
    leaving: tuple[str, ...]
    predicted: Mapping[str, list[list[str]]]

    @property
    def state(self) -> dict[str, Any]:
        """The desired state as it is stored."""
        return {
            "strategy": self.strategy,
            "strategy_options": dict(self.options),
            "members": list(self.members),
        }


def with_known_options(
    scenario: Scenario,
    *,
    group: str,
    strategy: str,
    options: Mapping[str, Any],
    client_ids: Iterable[str],
) -> Scenario:
    """Return a scenario that takes from a hosted group the options it lacks itself.

    RocketMQ's clients do not report their options; those of hosted groups are known.
    """
    ids = {str(member_number(each, group)): each for each in client_ids}
    known: dict[str, Any] = {}
    if scenario.virtual_nodes is None and "virtual_nodes" in options:
        known["virtual_nodes"] = options["virtual_nodes"]
    if not scenario.rooms and "rooms" in options:
        known["rooms"] = tuple(options["rooms"])
    outer, _dash, inner = strategy.partition("-")
    inner = inner or options.get("inner", "")
    if scenario.inner is None and outer == NEARBY and inner:
        known["inner"] = inner
    if not scenario.broker_rooms and "broker_rooms" in options:
        known["broker_rooms"] = _rule_of(options["broker_rooms"], {})
    if not scenario.client_rooms and "client_rooms" in options:
        known["client_rooms"] = _rule_of(options["client_rooms"], ids)
    if not scenario.config and "config" in options:
        lists = from_lists("config", options["config"], limit=QUEUE_LIMIT)
        known["config"] = tuple(
            (ids.get(member, member), tuple(queues)) for member, queues in lists.items()
        )
    return replace(scenario, **known) if known else scenario


def _rule_of(rule: Mapping[str, Any], ids: Mapping[str, str]) -> RoomRule:
    named = rule.get("named", {}).items()
    return RoomRule(
        rule.get("separator", ""),
        tuple((ids.get(name, name), room) for name, room in named),
    )


def desired_of(
    comparison: Comparison, row: str, *, group: str, numbers: Collection[int]
) -> Desired:
    """Return the desired state that brings one row of a comparison about.

    Raise ArgumentError, saying why, if no desired state can bring it about.
    """
    found = comparison.row(row)
    if found.plan is None:
        raise ArgumentError(f"{row} cannot be computed for this scenario")
    scenario = comparison.scenario
    if scenario.queue_counts:
        raise ArgumentError(
            "the scenario has other queue counts than the topics; change the topics "
            "first (mqadmin updateTopic), then apply it"
        )
    if scenario.rename:
        raise ArgumentError(
            f"{scenario.rename[0][0]!r} cannot be renamed: client ids of hosted "
            "members follow from group and number"
        )
    present = comparison.before.members
    foreign = [each for each in present if member_number(each, group) is None]
    if foreign:
        raise ArgumentError(
            f"{foreign[0]!r} is a member that is not hosted here: it would go on "
            "dividing by a strategy of its own"
        )
    expected = next_members(group, numbers, present, len(scenario.add))
    if list(scenario.add) != expected:
        raise ArgumentError(
            f"new members of {group!r} will be {', '.join(expected)}, "
            f"the scenario has {', '.join(scenario.add)}"
        )
    members = tuple(
        sorted(member_number(each, group) or 0 for each in comparison.after.members)
    )
    strategy, options = _strategy(comparison, row, found.plan, found.strategy, group)
    return Desired(
        strategy,
        options,
        members,
        scenario.add,
        tuple(each for each in scenario.remove if each in present),
        {each: to_entries(share) for each, share in found.plan.by_client.items()},
    )


def _strategy(
    comparison: Comparison, row: str, plan: Plan, name: str, group: str
) -> tuple[str, dict[str, Any]]:
    scenario = comparison.scenario
    if row in (BALANCED, "CONFIG"):
        lists = {
            _key(each, group): to_entries(share)
            for each, share in plan.by_client.items()
        }
        return "CONFIG", {"config": lists}
    options: dict[str, Any] = {}
    _outer, _dash, inner = name.partition("-")
    used = {row, inner} if row == NEARBY else {row}
    if "CONSISTENT_HASH" in used and scenario.virtual_nodes is not None:
        options["virtual_nodes"] = scenario.virtual_nodes
    if "MACHINE_ROOM" in used:
        options["rooms"] = list(scenario.rooms)
    if "CONFIG" in used:
        raise ArgumentError(
            "CONFIG inside MACHINE_ROOM_NEARBY is computed, but not hosted"
        )
    if row == NEARBY:
        options["broker_rooms"] = _rule(scenario.broker_rooms, None)
        options["client_rooms"] = _rule(scenario.client_rooms, group)
    return name, options


def _rule(rule: RoomRule, group: str | None) -> dict[str, Any]:
    """Return a rule of rooms as it is stored; members by number if they have one."""
    named = {
        name if group is None else _key(name, group): room for name, room in rule.named
    }
    written: dict[str, Any] = {}
    if rule.separator:
        written["separator"] = rule.separator
    if named:
        written["named"] = named
    return written


def _key(client_id: str, group: str) -> str:
    number = member_number(client_id, group)
    return client_id if number is None else str(number)
