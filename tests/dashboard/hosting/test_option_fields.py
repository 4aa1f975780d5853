"""Options as fields: only those of the chosen strategy count, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.hosting.option_fields import (
    OptionFieldError,
    fields_of,
    listener_options,
    strategy_fields,
    strategy_options,
)

ALL: dict[str, Any] = {
    "virtual_nodes": 20,
    "rooms": "hz1, hz2",
    "inner": "CONSISTENT_HASH",
    "broker_separator": "@",
    "broker_rooms": "broker-a=hz1\uff0cbroker-b=hz2",
    "client_separator": "",
    "client_rooms": "1=hz1 10.0.0.1@a=b=hz2",
    "config": '{"1": [["orders", "broker-a", "0-7"]]}',
}


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("AVG", {}),
        ("CONSISTENT_HASH", {"virtual_nodes": 20}),
        ("MACHINE_ROOM", {"rooms": ["hz1", "hz2"]}),
        ("CONFIG", {"config": {"1": [["orders", "broker-a", "0-7"]]}}),
        (
            "MACHINE_ROOM_NEARBY",
            {
                "virtual_nodes": 20,
                "inner": "CONSISTENT_HASH",
                "broker_rooms": {
                    "separator": "@",
                    "named": {"broker-a": "hz1", "broker-b": "hz2"},
                },
                "client_rooms": {"named": {"1": "hz1", "10.0.0.1@a=b": "hz2"}},
            },
        ),
    ],
)
def test_only_what_the_strategy_uses_is_read_and_can_be_shown_again(
    strategy: str, options: dict[str, Any]
) -> None:
    assert strategy_options(strategy, ALL) == options
    assert strategy_options(strategy, strategy_fields(options)) == options


def test_a_name_with_the_inner_strategy_needs_no_field_for_it() -> None:
    used = fields_of("MACHINE_ROOM_NEARBY-CONSISTENT_HASH")
    assert "inner" not in used
    assert "virtual_nodes" in used


def test_a_room_without_a_name_is_refused_beside_its_field() -> None:
    with pytest.raises(OptionFieldError, match="“=hz1” is not a name") as caught:
        strategy_options("MACHINE_ROOM_NEARBY", {"client_rooms": "=hz1"})
    assert caught.value.field == "client_rooms"


def test_a_listener_gets_only_the_numbers_that_it_takes() -> None:
    entered = {"listener_ms": 8.0, "listener_rate": 0.2}
    assert listener_options("count", entered) == {}
    assert listener_options("work", entered) == {"ms": 8.0}
    assert listener_options("fail", {"listener_ms": None}) == {}
