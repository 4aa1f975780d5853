"""The options that each strategy gets from a scenario, and those it lacks.

RocketMQ reports a strategy's name but not its options, so an option that is not entered
is either RocketMQ's default, and marked as assumed, or missing, and then there is a
reason instead of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rmqcore.allocation import DEFAULT_STRATEGY, STRATEGIES
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue

from .scenario import Scenario
from .situation import Situation

NEARBY: Final = "MACHINE_ROOM_NEARBY"
DEFAULT_VIRTUAL_NODES: Final = 10
# A ring of this many nodes takes about a third of a second to build.
RING_LIMIT: Final = 500_000
# Strategies that need no options, so NEARBY can use them without asking.
PLAIN: Final = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A strategy by its full name, its options, and what to say about them.

    `missing` names options without which it cannot be computed, `assumed` those that
    nobody entered, with the value taken.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    assumed: tuple[tuple[str, str | int], ...] = ()


def prepare(name: str, scenario: Scenario, situation: Situation) -> Prepared:
    """Return a strategy of the table with the options that a scenario gives it.

    Raise ArgumentError for options that would take too long to compute with.
    """
    if name == NEARBY:
        return _prepare_nearby(scenario, situation)
    if name == "CONFIG":
        if not scenario.config:
            return Prepared(name, missing=("config",))
        return Prepared(name, {"config": _config(scenario)})
    if name == "MACHINE_ROOM":
        if not scenario.rooms:
            return Prepared(name, missing=("rooms",))
        return Prepared(name, {"rooms": frozenset(scenario.rooms)})
    if name == "CONSISTENT_HASH":
        _check_ring(scenario, situation)
        if scenario.virtual_nodes is None:
            assumed = (("virtual_nodes", DEFAULT_VIRTUAL_NODES),)
            return Prepared(name, assumed=assumed)
        return Prepared(name, {"virtual_nodes": scenario.virtual_nodes})
    return Prepared(name)


def _check_ring(scenario: Scenario, situation: Situation) -> None:
    nodes = scenario.virtual_nodes or DEFAULT_VIRTUAL_NODES
    total = nodes * len(situation.members)
    if total > RING_LIMIT:
        raise ArgumentError(
            f"{nodes} virtual nodes for each of {len(situation.members):,} members are "
            f"{total:,} in all, limit {RING_LIMIT:,}"
        )


def _prepare_nearby(scenario: Scenario, situation: Situation) -> Prepared:
    inner, assumed = _inner(scenario, situation)
    missing = [
        option
        for option, rule in (
            ("queue_room", scenario.broker_rooms),
            ("client_room", scenario.client_rooms),
        )
        if not rule
    ]
    if inner.partition("-")[0] == NEARBY:
        raise ArgumentError(f"{inner} cannot stand inside {NEARBY}")
    within = prepare(inner, scenario, situation)
    name = f"{NEARBY}-{within.name}"
    missing.extend(within.missing)
    if missing:
        return Prepared(name, missing=tuple(missing))
    brokers = [state.queue.broker_name for state in situation.queues]
    options = {
        **within.options,
        "queue_room": scenario.broker_rooms.rooms_of(brokers),
        "client_room": scenario.client_rooms.rooms_of(situation.members),
    }
    return Prepared(name, options, assumed=(*assumed, *within.assumed))


def _inner(
    scenario: Scenario, situation: Situation
) -> tuple[str, tuple[tuple[str, str | int], ...]]:
    """Return the inner strategy: the one entered, or in a name, or the present one."""
    if scenario.inner is not None:
        return scenario.inner, ()
    for named in (scenario.strategy, situation.strategy):
        outer, dash, inner = (named or "").partition("-")
        if outer == NEARBY and dash and inner in STRATEGIES:
            return inner, ()
    inner = situation.strategy or DEFAULT_STRATEGY
    if inner not in PLAIN:
        inner = DEFAULT_STRATEGY
    return inner, (("inner", inner),)


def _config(scenario: Scenario) -> dict[str, list[MessageQueue]]:
    lists: dict[str, list[MessageQueue]] = {}
    for client_id, queues in scenario.config:
        lists.setdefault(client_id, []).extend(queues)
    return lists
