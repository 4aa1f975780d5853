from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from analytics import contracts as c
from analytics.division import (
    IN_USE,
    MEMBER_IDS,
    NOBODY,
    WEIGHTS,
    Candidate,
    Divider,
    candidates_of,
    options_from,
)
from analytics.errors import JobError
from rmqcore.allocation import allocate_topics
from rmqcore.model import MessageQueue

TOPICS = ("orders", "bills")


def epoch(
    *ids: str, number: int = 1, queues: int = 4, **changes: Any
) -> dict[str, Any]:
    made: dict[str, Any] = {
        c.CLUSTER: "hangzhou",
        c.GROUP: "settlement",
        c.EPOCH: number,
        c.STRATEGY: "AVG",
        c.OPTIONS: None,
        MEMBER_IDS: list(ids),
        c.QUEUES: [
            {c.TOPIC: topic, c.BROKER: "broker-a", c.QUEUE_ID: queue}
            for topic in TOPICS
            for queue in range(queues)
        ],
        WEIGHTS: None,
    }
    return made | changes


def weights(*loads: float | None) -> list[dict[str, Any]]:
    return [
        {c.TOPIC: "orders", c.BROKER: "broker-a", c.QUEUE_ID: queue, c.LOAD: load}
        for queue, load in enumerate(loads)
    ]


def rows(divider: Divider, document: dict[str, Any]) -> list[dict[str, Any]]:
    columns = divider.divide(document)
    return [
        dict(zip(divider.columns, row, strict=True))
        for row in zip(*columns, strict=True)
    ]


def owners(candidate: Candidate, document: dict[str, Any]) -> list[list[int]]:
    """Return the queues' owners of the first topic, as places."""
    found: dict[int, list[int]] = {}
    for row in rows(Divider([candidate]), document):
        if row[c.TOPIC] == "orders":
            place = row[candidate.column]
            known = found.setdefault(row[c.QUEUE_ID], [])
            known += [] if place is None else [place]
    return [found[queue] for queue in sorted(found)]


@pytest.mark.parametrize("strategy", ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"])
def test_topics_are_divided_apart_as_rmqcore_does(strategy: str) -> None:
    ids = ["b", "a", "c"]
    document = epoch(*ids)
    plan = allocate_topics(
        strategy,
        group="settlement",
        queues=[MessageQueue(t, "broker-a", n) for t in TOPICS for n in range(4)],
        client_ids=ids,
    )
    candidate = Candidate(strategy, strategy)
    for row in rows(Divider([candidate]), document):
        queue = MessageQueue(row[c.TOPIC], row[c.BROKER], row[c.QUEUE_ID])
        assert ids[row[candidate.column]] == plan.owner(queue)


def test_the_strategy_in_use_is_the_epoch_s_own() -> None:
    document = epoch("a", "b", strategy="AVG_BY_CIRCLE")
    assert owners(Candidate(IN_USE, IN_USE), document) == [[0], [1], [0], [1]]
    options = json.dumps({"rooms": ["r1"]})
    rooms = epoch("a", "b", strategy="MACHINE_ROOM", options=options)
    rooms[c.QUEUES] = [{c.TOPIC: "orders", c.BROKER: "r1@x", c.QUEUE_ID: 0}]
    assert owners(Candidate(IN_USE, IN_USE), rooms) == [[0]]


ONE_EACH = {"a": [["orders", "broker-a", 0]], "b": [["orders", "broker-a", 1]]}
SWAPPED = {"a": ONE_EACH["b"], "b": ONE_EACH["a"]}


@pytest.mark.parametrize(
    ("given", "divided"),
    [
        # What was entered is compared as it was entered.
        ({"config": SWAPPED}, [[1], [0]]),
        # What is only known gives way to what the epoch had.
        ({"config": SWAPPED, "known": True}, [[0], [1]]),
        ({"known": True}, [[0], [1]]),
    ],
)
def test_an_epoch_is_divided_as_it_was_unless_options_were_entered(
    given: dict[str, Any], divided: list[list[int]]
) -> None:
    options = json.dumps({"config": ONE_EACH})
    document = epoch("a", "b", queues=2, strategy="CONFIG", options=options)
    (found,) = (each for each in candidates_of({"CONFIG": given}) if each.options != {})
    assert found.name == "CONFIG"
    assert owners(found, document) == divided


def test_options_that_are_only_known_stand_in_where_an_epoch_had_none() -> None:
    config, alone = (
        next(each for each in candidates_of({"CONFIG": given}) if each.name == "CONFIG")
        for given in ({"config": SWAPPED, "known": True}, {"known": True})
    )
    for changes in ({"strategy": "AVG", "options": "{}"}, {"strategy": "CONFIG"}):
        document = epoch("a", "b", queues=2, **changes)
        assert owners(config, document) == [[1], [0]]
        assert owners(alone, document) == [[], []], "nobody knows"


def test_a_hash_in_use_keeps_the_nodes_that_it_had() -> None:
    ids = [f"10.0.0.{n}@g" for n in range(5)]
    by_nodes = {}
    for nodes in (1, 200):
        options = json.dumps({"virtual_nodes": nodes})
        document = epoch(*ids, queues=16, strategy="CONSISTENT_HASH", options=options)
        (candidate,) = (e for e in candidates_of({}) if e.name == "CONSISTENT_HASH")
        by_nodes[nodes] = owners(candidate, document)
        assert by_nodes[nodes] == owners(Candidate(IN_USE, IN_USE), document)
    assert by_nodes[1] != by_nodes[200]


@pytest.mark.parametrize(
    "changes",
    [
        {"strategy": "com.acme.Mine"},
        {"strategy": "MACHINE_ROOM"},
        {"options": "{"},
        {"options": '{"colour": 1}'},
        {MEMBER_IDS: []},
    ],
)
def test_what_cannot_be_computed_has_no_owners(changes: dict[str, Any]) -> None:
    document = epoch("a", **changes)
    assert owners(Candidate(IN_USE, IN_USE), document) == [[], [], [], []]


def test_members_more_or_fewer_are_compared() -> None:
    document = epoch("b", "a")
    more = Candidate("more", IN_USE, added=2)
    fewer = Candidate("fewer", IN_USE, added=-1)
    # Places: b 0, a 1, then two more; RocketMQ sorts a before b.
    assert owners(more, document) == [[1], [0], [2], [3]]
    # Whoever sorts last is left out; the other keeps its place.
    assert owners(fewer, document) == [[1], [1], [1], [1]]
    assert owners(Candidate("none", IN_USE, added=-2), document) == [[]] * 4


def test_each_process_of_a_shared_client_id_takes_the_whole_share() -> None:
    document = epoch("b", "a", "b", queues=3)
    # AVG counts three members and finds "b" at the second place only.
    assert owners(Candidate(IN_USE, IN_USE), document) == [[1], [0, 2], [NOBODY]]
    fewer = Candidate("fewer", IN_USE, added=-1)
    assert owners(fewer, document) == [[1], [1], [0]]


def test_a_queue_that_is_listed_twice_has_a_row_for_each_owner() -> None:
    lists = {"a": [["orders", "broker-a", 0]], "b": [["orders", "broker-a", 0]]}
    candidate = Candidate("CONFIG", "CONFIG", {"config": lists})
    assert owners(candidate, epoch("a", "b")) == [[0, 1], [NOBODY], [NOBODY], [NOBODY]]


def test_the_balanced_plan_weighs_what_came_in() -> None:
    (*_others, balanced, _in_use) = candidates_of({})
    document = epoch("a", "b", weights=weights(9, 3, 3, 3))
    document[c.QUEUES] = document[c.QUEUES][:4]
    places = [place for (place,) in owners(balanced, document)]
    alone = places[0]
    assert places[1:] == [1 - alone] * 3


def test_the_balanced_plan_starts_from_the_one_before() -> None:
    """The second epoch weighs the same, so nothing needs to move."""
    (*_others, balanced, _in_use) = candidates_of({})
    divider = Divider([balanced])
    first = epoch("a", "b", weights=weights(9, 3, 3, 3))
    second = epoch("a", "b", number=2, weights=weights(9.1, 3, 3, 3))
    places = [
        [row[balanced.column] for row in rows(divider, document)]
        for document in (first, second)
    ]
    assert places[0] == places[1]


def test_another_group_begins_anew() -> None:
    (*_others, balanced, _in_use) = candidates_of({})
    divider = Divider([balanced])
    divider.divide(epoch("a", "b", weights=weights(9, 3, 3, 3)))
    other = epoch("x", "y", group="other", weights=weights(9, 3, 3, 3))
    assert divider.divide(other) == Divider([balanced]).divide(other)


def test_candidates_come_in_fixed_order() -> None:
    found = candidates_of({"MACHINE_ROOM": {"rooms": ["r1"]}}, (2, -1))
    assert [candidate.name for candidate in found] == [
        "AVG",
        "AVG_BY_CIRCLE",
        "CONSISTENT_HASH",
        "MACHINE_ROOM",
        "in_use-1",
        "in_use+2",
        "BALANCED",
        "in_use",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"MACHINE_ROOM": {}}, "options of MACHINE_ROOM: .* needs the option rooms"),
        ({"AVG": {"rooms": []}}, "options of AVG: .*takes no option 'rooms'"),
        ({"MINE": {}}, "options of MINE: unknown allocation strategy"),
        ({"MINE": {"known": True}}, "options of MINE: unknown allocation strategy"),
    ],
)
def test_options_that_do_not_fit_are_named(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(JobError, match=message):
        candidates_of(options)


def test_lists_of_a_config_become_queues() -> None:
    options = options_from({"config": {"a": [["t", "b", 1]]}, "other": [1]})
    assert options == {"config": {"a": [MessageQueue("t", "b", 1)]}, "other": [1]}


def test_tasks_get_candidates_without_what_was_built() -> None:
    candidate = Candidate("CONFIG", "CONFIG", {"config": {}}, added=1, entered=False)
    before = pickle.dumps(candidate)
    assert candidate.built is not None
    assert pickle.dumps(candidate) == before
    assert pickle.loads(before) == candidate
