"""Strategies by name, by Java class, and their options."""

from __future__ import annotations

from typing import Any

import pytest

from rmqcore.allocation import (
    DEFAULT_STRATEGY,
    JAVA_CLASSES,
    STRATEGIES,
    AllocateStrategy,
    allocate,
    allocate_group,
    make_strategy,
    reported_strategy,
    required_options,
)
from rmqcore.allocation.avg import Avg
from rmqcore.errors import ArgumentError, UnknownStrategyError

from .made import ids, queues

PACKAGE = "org.apache.rocketmq.client.consumer.rebalance"
OPTIONS: dict[str, dict[str, Any]] = {
    "CONFIG": {"config": None},
    "MACHINE_ROOM": {"rooms": ["r1"]},
    "MACHINE_ROOM_NEARBY": {
        "inner": "AVG",
        "queue_room": lambda _: "r1",
        "client_room": lambda _: "r1",
    },
}


def test_the_six_of_rocketmq() -> None:
    assert list(STRATEGIES) == [
        "AVG",
        "AVG_BY_CIRCLE",
        "CONFIG",
        "MACHINE_ROOM",
        "MACHINE_ROOM_NEARBY",
        "CONSISTENT_HASH",
    ]
    assert DEFAULT_STRATEGY in STRATEGIES


@pytest.mark.parametrize("name", STRATEGIES)
def test_each_reports_the_name_it_is_found_by(name: str) -> None:
    strategy = make_strategy(name, OPTIONS.get(name, {}))
    assert isinstance(strategy, STRATEGIES[name])
    assert strategy.name.startswith(name)
    again = make_strategy(
        strategy.name,
        {k: v for k, v in OPTIONS.get(name, {}).items() if k != "inner"},
    )
    assert again.name == strategy.name


@pytest.mark.parametrize("name", STRATEGIES)
def test_each_documents_both_divisions_and_a_join(name: str) -> None:
    text = STRATEGIES[name].__doc__ or ""
    for part in ("Even", "Uneven", "When a member joins"):
        assert part in text


@pytest.mark.parametrize(
    "name",
    ["", "avg", "AVG ", "FOO", "MACHINE_ROOM_NEARBY-", "MACHINE_ROOM_NEARBY-FOO"],
)
def test_unknown_names(name: str) -> None:
    with pytest.raises(
        UnknownStrategyError, match="the known ones are AVG, AVG_BY_CIRCLE"
    ):
        make_strategy(name, {})


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "AVG",
            {"virtual_nodes": 3},
            "AVG takes no option 'virtual_nodes'; it takes none",
        ),
        (
            "CONSISTENT_HASH",
            {"nodes": 3},
            "takes no option 'nodes'; it takes virtual_nodes, hash_function",
        ),
        ("CONFIG", {}, "CONFIG needs the option config"),
        ("MACHINE_ROOM", {}, "MACHINE_ROOM needs the option rooms"),
        ("MACHINE_ROOM_NEARBY", {}, "needs the option inner"),
    ],
)
def test_options_are_named(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make_strategy(name, options)


@pytest.mark.parametrize("strategy", [None, 3, Avg])
def test_a_strategy_is_named_or_built(strategy: object) -> None:
    with pytest.raises(ArgumentError, match="strategy must be a name"):
        allocate_group(strategy, group="G", queues=queues(2), client_ids=["A"])  # type: ignore[arg-type]


def test_a_strategy_of_ones_own() -> None:
    share = allocate(
        Avg(), group="G", client_id="B", queues=queues(4), client_ids=["A", "B"]
    )
    assert ids(share) == [2, 3]
    with pytest.raises(ArgumentError, match="'rooms' beside a strategy"):
        allocate(
            Avg(),
            group="G",
            client_id="A",
            queues=queues(4),
            client_ids=["A"],
            rooms=[],
        )


def test_nearby_around_a_strategy_of_ones_own() -> None:
    rooms = {"queue_room": lambda _: "r", "client_room": lambda _: "r"}
    built = make_strategy("MACHINE_ROOM_NEARBY", {"inner": Avg(), **rooms})
    assert built.name == "MACHINE_ROOM_NEARBY-AVG"
    with pytest.raises(ArgumentError, match="no option 'virtual_nodes' beside inner"):
        make_strategy(
            "MACHINE_ROOM_NEARBY", {"inner": Avg(), "virtual_nodes": 3, **rooms}
        )


def test_required_options() -> None:
    assert required_options("AVG") == required_options("CONSISTENT_HASH") == ()
    assert required_options("MACHINE_ROOM") == ("rooms",)
    nearby = ("inner", "queue_room", "client_room")
    assert required_options("MACHINE_ROOM_NEARBY") == nearby
    assert required_options("MACHINE_ROOM_NEARBY-CONFIG") == (
        "queue_room",
        "client_room",
        "config",
    )


@pytest.mark.parametrize(("java_class", "name"), JAVA_CLASSES.items())
def test_java_objects_are_read(java_class: str, name: str) -> None:
    for text in (
        java_class,
        f"{PACKAGE}.{java_class}",
        f"{PACKAGE}.{java_class}@5f2108",
    ):
        read = reported_strategy(text)
        assert read.name == name
        assert read.reported == java_class
        assert read.needs == required_options(name)
        assert read.can_be_simulated


def test_names_are_read_too() -> None:
    assert reported_strategy(" AVG ").name == "AVG"
    nearby = reported_strategy("MACHINE_ROOM_NEARBY-AVG")
    assert nearby.name == "MACHINE_ROOM_NEARBY-AVG"
    assert nearby.needs == ("queue_room", "client_room")


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("com.example.StickyStrategy@1b2c", "StickyStrategy"),
        ("com.example.Rebalance$$Lambda$14@7", "Rebalance$$Lambda$14"),
        ("STICKY", "STICKY"),
        ("", ""),
    ],
)
def test_an_unknown_class_cannot_be_simulated(text: str, reported: str) -> None:
    read = reported_strategy(text)
    assert (read.name, read.reported, read.can_be_simulated) == (None, reported, False)


def test_a_strategy_must_say_both_things() -> None:
    class Half(AllocateStrategy):
        name = "HALF"

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]
