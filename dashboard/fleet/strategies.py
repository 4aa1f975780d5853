"""Strategy options of a hosted group: kept as JSON, given to members as values.

    CONSISTENT_HASH      {"virtual_nodes": 10}
    MACHINE_ROOM         {"rooms": ["hz1", "hz2"]}
    CONFIG               {"config": {"1": [["orders", "broker-a", "0-5,9"]], "2": []}}
    MACHINE_ROOM_NEARBY  {"inner": "AVG", "broker_rooms": RULE, "client_rooms": RULE},
                         and the inner strategy's options
    RULE                 {"separator": "@", "named": {"broker-a": "hz1"}}, or one part

Members are named by their number, which outlives their client ids: a list or a room
stays with the member wherever it is hosted. A whole client id is understood as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from dashboard.wording.lists import from_lists
from dashboard.wording.names import member_number
from rmqcore.allocation import AllocateStrategy, make_strategy
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue
from rmqcore.model.columns import QueueKey

MAX_QUEUES: Final = 100_000
MAX_NODES: Final = 1_000
RULES: Final = {"broker_rooms": "queue_room", "client_rooms": "client_room"}


def hosted_strategy(
    strategy: str, options: Mapping[str, Any], group: str
) -> AllocateStrategy:
    """Return the strategy that the members of a hosted group divide by.

    Raise ArgumentError that names an impossible strategy or option.
    """
    given = {
        name: value
        for name, value in options.items()
        if name not in RULES and name != "config"
    }
    nodes = given.get("virtual_nodes", 1)
    if isinstance(nodes, int) and not 1 <= nodes <= MAX_NODES:
        raise ArgumentError(
            f"virtual_nodes is {nodes}, allowed 1 to {MAX_NODES:,} for each member"
        )
    if "rooms" in given:
        given["rooms"] = _names("rooms", given["rooms"])
    for name, option in RULES.items():
        if name in options:
            rule = _rule(name, options[name])
            given[option] = (
                _client_room(rule, group) if name == "client_rooms" else rule_of(rule)
            )
    if "config" in options:
        given["config"] = _ByMember(
            from_lists("config", options["config"], limit=MAX_QUEUES), group
        )
    return make_strategy(strategy, given)


def simulated_options(
    strategy: str,
    options: Mapping[str, Any],
    *,
    group: str,
    client_ids: Iterable[str],
    queues: Iterable[QueueKey],
) -> dict[str, Any]:
    """Return options with which a simulation divides these queues as the members do.

    The result is JSON as `analytics.division.options_from` reads it: what is stored by
    member number or follows from a name is given by client id and by broker name.
    `strategy` is the name that the members report.
    """
    told = {
        name: value
        for name, value in options.items()
        if name not in RULES and name != "config"
    }
    if strategy.partition("-")[2]:  # the name already says it
        told.pop("inner", None)
    ids = tuple(client_ids)
    if "config" in options:
        lists = _ByMember(
            from_lists("config", options["config"], limit=MAX_QUEUES), group
        )
        told["config"] = {
            each: [[q.topic, q.broker_name, q.queue_id] for q in lists[each]]
            for each in ids
            if each in lists
        }
    if "broker_rooms" in options:
        rule = _rule("broker_rooms", options["broker_rooms"])
        brokers = sorted({broker for _topic, broker, _queue_id in queues})
        told["queue_room"] = _rooms(brokers, lambda name: _room(name, *rule))
    if "client_rooms" in options:
        told["client_room"] = _rooms(
            ids, _client_room(_rule("client_rooms", options["client_rooms"]), group)
        )
    return told


def _rooms(
    names: Iterable[str], room_of: Callable[[str], str | None]
) -> dict[str, str]:
    rooms = {name: room_of(name) for name in names}
    return {name: room for name, room in rooms.items() if room is not None}


class _ByMember(Mapping[str, "list[MessageQueue]"]):
    """`CONFIG` lists looked up by client id, or by the number within it."""

    def __init__(self, lists: Mapping[str, list[MessageQueue]], group: str) -> None:
        self._lists = lists
        self._group = group

    def __getitem__(self, client_id: str) -> list[MessageQueue]:
        if client_id in self._lists:
            return self._lists[client_id]
        return self._lists[str(member_number(client_id, self._group))]

    def __iter__(self) -> Any:
        return iter(self._lists)

    def __len__(self) -> int:
        return len(self._lists)


def rule_of(
    rule: tuple[str, Mapping[str, str]],
) -> Callable[[Any], str | None]:
    """Return a resolver of rooms from queues: by broker name, else by its prefix."""
    separator, named = rule

    def room(queue: MessageQueue) -> str | None:
        return _room(queue.broker_name, separator, named)

    return room


def _client_room(
    rule: tuple[str, Mapping[str, str]], group: str
) -> Callable[[str], str | None]:
    separator, named = rule

    def room(client_id: str) -> str | None:
        by_number = named.get(str(member_number(client_id, group)))
        return by_number or _room(client_id, separator, named)

    return room


def _room(name: str, separator: str, named: Mapping[str, str]) -> str | None:
    if name in named:
        return named[name]
    before, found, _after = name.partition(separator) if separator else ("", "", "")
    return before if found else None


def _rule(option: str, value: Any) -> tuple[str, Mapping[str, str]]:
    if (
        not isinstance(value, Mapping)
        or not value
        or set(value) - {"separator", "named"}
    ):
        raise ArgumentError(
            f"{option} is {value!r}; it takes separator, a text, and named, "
            "a mapping from names to rooms"
        )
    separator, named = value.get("separator", ""), value.get("named", {})
    if not isinstance(separator, str):
        raise ArgumentError(f"{option}: separator is {separator!r}, it must be a text")
    if not isinstance(named, Mapping) or not all(
        isinstance(name, str) and isinstance(room, str) and name and room
        for name, room in named.items()
    ):
        raise ArgumentError(f"{option}: named is {named!r}, it must map names to rooms")
    return separator, named


def _names(option: str, value: Any) -> frozenset[str]:
    if not isinstance(value, list) or not all(
        isinstance(name, str) and name for name in value
    ):
        raise ArgumentError(f"{option} is {value!r}, it must be a list of names")
    return frozenset(value)
