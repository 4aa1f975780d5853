"""Options kept as JSON against the strategies of rmqcore, by whole groups."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analytics.division import options_from
from dashboard.fleet.strategies import hosted_strategy, simulated_options
from dashboard.wording.names import instance_name, member_number
from rmqcore.allocation import allocate_group, make_strategy
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue

GROUP = "billing"
IDS = [f"10.0.0.1@{instance_name(GROUP, number, 3)}" for number in (1, 2, 10)]
QUEUES = [
    MessageQueue("orders", f"{room}@broker", number)
    for room in ("hz1", "hz2")
    for number in range(4)
]


def shares(strategy: str, options: dict[str, Any]) -> dict[int | None, list[str]]:
    """Return what each member takes, as every member computes it for itself."""
    divided = hosted_strategy(strategy, options, GROUP)
    return {
        member_number(client_id, GROUP): [
            f"{queue.broker_name[:3]}/{queue.queue_id}"
            for queue in divided.allocate(GROUP, client_id, QUEUES, sorted(IDS))
        ]
        for client_id in IDS
    }


def test_numbers_are_read_from_the_members_own_client_ids() -> None:
    assert [member_number(client_id, GROUP) for client_id in IDS] == [1, 2, 10]
    for other in (
        "10.0.0.1@bill-1.1",
        "10.0.0.1",
        "10.0.0.1@billing-1",
        "@billing-x.1",
    ):
        assert member_number(other, GROUP) is None


def test_a_group_name_may_hold_what_patterns_mean() -> None:
    assert member_number("h@a.b-1.2", "a.b") == 1
    assert member_number("h@axb-1.2", "a.b") is None


def test_config_lists_follow_a_member_by_its_number() -> None:
    lists = {
        "1": [["orders", "hz1@broker", "0-1"]],
        "10": [["orders", "hz2@broker", "3"]],
    }
    assert shares("CONFIG", {"config": lists}) == {
        1: ["hz1/0", "hz1/1"],
        2: [],
        10: ["hz2/3"],
    }


def test_a_whole_client_id_is_understood_too() -> None:
    lists = {IDS[1]: [["orders", "hz1@broker", "2"]]}
    assert shares("CONFIG", {"config": lists})[2] == ["hz1/2"]


def test_rooms_of_members_follow_their_numbers() -> None:
    options = {
        "inner": "AVG",
        "broker_rooms": {"separator": "@"},
        "client_rooms": {"named": {"1": "hz1", "2": "hz2", "10": "hz2"}},
    }
    taken = shares("MACHINE_ROOM_NEARBY", options)
    assert taken[1] == ["hz1/0", "hz1/1", "hz1/2", "hz1/3"]
    # "billing-10" sorts before "billing-2".
    assert (taken[10], taken[2]) == (["hz2/0", "hz2/1"], ["hz2/2", "hz2/3"])


def test_rooms_may_be_named_or_cut_off() -> None:
    options = {
        "broker_rooms": {"separator": "@", "named": {"hz2@broker": "hz1"}},
        "client_rooms": {"separator": "."},
    }
    taken = shares("MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE", options)
    assert sum(map(len, taken.values())) == 8, "no room has members: all divide"


def test_rooms_are_a_list() -> None:
    taken = shares("MACHINE_ROOM", {"rooms": ["hz2"]})
    assert sorted(q for part in taken.values() for q in part) == [
        "hz2/0",
        "hz2/1",
        "hz2/2",
        "hz2/3",
    ]


def test_plain_options_are_passed_on() -> None:
    expected = allocate_group(
        "CONSISTENT_HASH", group=GROUP, queues=QUEUES, client_ids=IDS, virtual_nodes=30
    )
    taken = shares("CONSISTENT_HASH", {"virtual_nodes": 30})
    assert [len(taken[n]) for n in (1, 2, 10)] == [
        len(expected.by_client[client_id]) for client_id in IDS
    ]


@pytest.mark.parametrize(
    ("strategy", "options", "said"),
    [
        ("FAIR", {}, "unknown allocation strategy 'FAIR'"),
        ("MACHINE_ROOM", {}, "needs the option rooms"),
        ("MACHINE_ROOM", {"rooms": "hz1"}, "rooms is 'hz1', it must be a list"),
        ("CONFIG", {}, "CONFIG needs the option config"),
        ("CONFIG", {"config": []}, "config is [], it must map members"),
        ("CONFIG", {"config": {"1": 7}}, "config['1'] is 7, it must be a list"),
        ("CONFIG", {"config": {"1": [["t", "b", "5-2"]]}}, "'5-2' must rise"),
        ("AVG", {"config": {}}, "AVG takes no option 'config'"),
        (
            "MACHINE_ROOM_NEARBY-AVG",
            {"broker_rooms": {"by": 1}, "client_rooms": {"separator": "-"}},
            "broker_rooms is {'by': 1}; it takes separator",
        ),
        (
            "MACHINE_ROOM_NEARBY-AVG",
            {"broker_rooms": {"separator": 5}, "client_rooms": {"separator": "-"}},
            "separator is 5, it must be a text",
        ),
        (
            "MACHINE_ROOM_NEARBY-AVG",
            {"broker_rooms": {"named": {"b": ""}}, "client_rooms": {"separator": "-"}},
            "it must map names to rooms",
        ),
        ("CONSISTENT_HASH", {"virtual_nodes": 0}, "virtual_nodes is 0, allowed 1"),
    ],
)
def test_what_cannot_be_is_named(
    strategy: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        hosted_strategy(strategy, options, GROUP)
    assert said in str(caught.value)


def test_lists_have_a_limit() -> None:
    entries = [["t", f"b{number}", "0-99999"] for number in range(2)]
    with pytest.raises(ArgumentError, match="names more than 100,000 queues"):
        hosted_strategy("CONFIG", {"config": {"1": entries}}, GROUP)


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("AVG", {}),
        ("CONSISTENT_HASH", {"virtual_nodes": 3}),
        ("MACHINE_ROOM", {"rooms": ["hz2"]}),
        (
            "CONFIG",
            {
                "config": {
                    "10": [["orders", "hz1@broker", "0-2"]],
                    IDS[0]: [["orders", "hz2@broker", "1"]],
                    "77": [["orders", "hz2@broker", "3"]],
                }
            },
        ),
        (
            "MACHINE_ROOM_NEARBY",
            {
                "inner": "CONSISTENT_HASH",
                "virtual_nodes": 7,
                "broker_rooms": {"separator": "@"},
                "client_rooms": {"named": {"1": "hz1", "2": "hz2", IDS[2]: "hz2"}},
            },
        ),
        (
            "MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE",
            {
                "inner": "AVG_BY_CIRCLE",
                "broker_rooms": {"named": {"hz1@broker": "a", "hz2@broker": "b"}},
                "client_rooms": {"named": {"1": "a", "2": "a", "10": "a"}},
            },
        ),
    ],
)
def test_others_divide_by_what_is_told_of_them(
    strategy: str, options: dict[str, Any]
) -> None:
    """Each member's own computation against the whole group's, from plain JSON."""
    own = hosted_strategy(strategy, options, GROUP)
    told = simulated_options(
        own.name,
        options,
        group=GROUP,
        client_ids=IDS,
        queues=[(q.topic, q.broker_name, q.queue_id) for q in QUEUES],
    )
    carried = options_from(json.loads(json.dumps(told)))
    plan = allocate_group(
        make_strategy(own.name, carried),
        group=GROUP,
        queues=QUEUES,
        client_ids=IDS,
    )
    assert {each: list(plan.by_client[each]) for each in IDS} == {
        each: own.allocate(GROUP, each, QUEUES, sorted(IDS)) for each in IDS
    }
