"""Strategies by the names that RocketMQ reports, and by its Java class names.

A strategy's options are the fields of its class, so the tables here name none of them.
`MACHINE_ROOM_NEARBY` is known by that name with the option `inner`, and by the name
its Java class reports, `MACHINE_ROOM_NEARBY-<inner>`; the inner strategy's options are
given beside its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Any, Final

from rmqcore.errors import ArgumentError, UnknownStrategyError

from .avg import Avg
from .avg_by_circle import AvgByCircle
from .config import Config
from .consistent_hash import ConsistentHash
from .machine_room import MachineRoom
from .machine_room_nearby import NEARBY, MachineRoomNearby
from .strategy import AllocateStrategy

STRATEGIES: Final[Mapping[str, type[AllocateStrategy]]] = {
    "AVG": Avg,
    "AVG_BY_CIRCLE": AvgByCircle,
    "CONFIG": Config,
    "MACHINE_ROOM": MachineRoom,
    "MACHINE_ROOM_NEARBY": MachineRoomNearby,
    "CONSISTENT_HASH": ConsistentHash,
}

DEFAULT_STRATEGY: Final = "AVG"

JAVA_CLASSES: Final[Mapping[str, str]] = {
    "AllocateMessageQueueAveragely": "AVG",
    "AllocateMessageQueueAveragelyByCircle": "AVG_BY_CIRCLE",
    "AllocateMessageQueueByConfig": "CONFIG",
    "AllocateMessageQueueByMachineRoom": "MACHINE_ROOM",
    "AllocateMachineRoomNearby": "MACHINE_ROOM_NEARBY",
    "AllocateMessageQueueConsistentHash": "CONSISTENT_HASH",
}


def make_strategy(name: str, options: Mapping[str, Any]) -> AllocateStrategy:
    """Build a strategy from its name and options.

    Raise UnknownStrategyError for a name not in the tables, ArgumentError for an
    option that is unknown, missing or of the wrong type; both name it.
    """
    name, inner = _split_name(name)
    kind = STRATEGIES[name]
    if kind is not MachineRoomNearby:
        _check_options(name, options, _fields(kind))
        return kind(**options)
    return _make_nearby(inner, options)


def required_options(name: str) -> tuple[str, ...]:
    """Return the options that a strategy of that name cannot be built without."""
    name, inner = _split_name(name)
    needed = tuple(
        option
        for option, each in _fields(STRATEGIES[name]).items()
        if each.default is MISSING
    )
    if inner is None:
        return needed
    beside = tuple(option for option in needed if option != "inner")
    return beside + required_options(inner)


@dataclass(frozen=True, slots=True)
class ReportedStrategy:
    """The strategy that a client reports; options are never part of a report.

    `name` is ours, or None where the class is unknown and cannot be simulated.
    `reported` is the class or name in the client's words, without package and address.
    `needs` are the options to be entered before it can be simulated.
    """

    name: str | None
    reported: str
    needs: tuple[str, ...] = ()

    @property
    def can_be_simulated(self) -> bool:
        """False for a class that is not RocketMQ's."""
        return self.name is not None


def reported_strategy(text: str) -> ReportedStrategy:
    """Read a strategy as clients report it: a name, or a Java object's text form.

    `org.apache…rebalance.AllocateMessageQueueAveragely@5f2108b5` is `AVG`.
    """
    reported = text.strip()
    try:
        return ReportedStrategy(reported, reported, required_options(reported))
    except UnknownStrategyError:
        short = reported.partition("@")[0].rpartition(".")[2]
    name = JAVA_CLASSES.get(short)
    if name is None:
        return ReportedStrategy(None, short)
    return ReportedStrategy(name, short, required_options(name))


def _fields(kind: type[AllocateStrategy]) -> dict[str, Field[Any]]:
    return {each.name: each for each in fields(kind)} if is_dataclass(kind) else {}


def _split_name(name: str) -> tuple[str, str | None]:
    """Return a table name and, from `MACHINE_ROOM_NEARBY-X`, the inner X."""
    if name in STRATEGIES:
        return name, None
    outer, dash, inner = name.partition("-")
    if outer == NEARBY and dash:
        _split_name(inner)
        return outer, inner
    known = ", ".join([*STRATEGIES, f"{NEARBY}-<inner>"])
    raise UnknownStrategyError(
        f"unknown allocation strategy {name!r}; the known ones are {known}"
    )


def _make_nearby(named: str | None, options: Mapping[str, Any]) -> AllocateStrategy:
    own = {*_fields(MachineRoomNearby)}
    inner = options.get("inner", named)
    if inner is None:
        raise ArgumentError(f"{NEARBY} needs the option inner")
    if named is not None and inner != named:
        raise ArgumentError(f"inner is {inner!r}, but the name says {named!r}")
    beside = {key: value for key, value in options.items() if key not in own}
    rooms = {key: options[key] for key in own - {"inner"} if key in options}
    if isinstance(inner, str):
        # A nearby inside a nearby asks the same resolvers.
        nested = _split_name(inner)[0] == NEARBY
        inner = make_strategy(inner, beside | rooms if nested else beside)
    elif beside:
        raise ArgumentError(f"{NEARBY} takes no option {min(beside)!r} beside inner")
    for option in ("queue_room", "client_room"):
        if option not in rooms:
            raise ArgumentError(f"{NEARBY} needs the option {option}")
    return MachineRoomNearby(inner, **rooms)


def _check_options(
    name: str, options: Mapping[str, Any], known: Mapping[str, Field[Any]]
) -> None:
    for option in options:
        if option not in known:
            takes = ", ".join(known) or "none"
            raise ArgumentError(f"{name} takes no option {option!r}; it takes {takes}")
    for option, field in known.items():
        if field.default is MISSING and option not in options:
            raise ArgumentError(f"{name} needs the option {option}")
