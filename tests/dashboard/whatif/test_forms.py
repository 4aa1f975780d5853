"""The form of a scenario: what it shows, and what it keeps without showing."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from dashboard.whatif.forms import (
    MEMBERS,
    PLACES,
    form_rows,
    new_labels,
    new_members,
)
from dashboard.whatif.model import (
    QueueCount,
    RoomRule,
    Scenario,
    compare,
    read_situation,
)
from dashboard.whatif.reads import canonical_query, read_scenario
from rmqcore.errors import ArgumentError
from tests.dashboard.documents import hosted_group, large_group


def test_a_form_keeps_what_it_has_no_rows_for() -> None:
    state = large_group(900, 80)
    ids = [member["client_id"] for member in state["members"]]
    brokers = tuple((f"b{number:02}", "hz1") for number in range(PLACES + 5))
    scenario = Scenario(
        remove=(ids[70],),
        rename=((ids[71], "a:b"),),
        client_rooms=RoomRule("", ((ids[72], "hz2"),)),
        broker_rooms=RoomRule("", brokers),
        queue_counts=tuple(QueueCount(f"t{n:03}", "x", 2) for n in range(PLACES + 3)),
    )
    rows = form_rows(compare(read_situation(state), scenario))
    assert len(rows.members) == MEMBERS
    assert len(rows.places) == PLACES
    pairs = [("v", "1"), *rows.hidden]
    pairs += [
        (f"q/{each.key}", str(each.entered)) for each in rows.places if each.entered
    ]
    pairs += [(f"B/{each.key}", each.room) for each in rows.brokers if each.room]
    again, _show = read_scenario(urlencode(pairs))
    assert sorted(again.queue_counts, key=str) == sorted(scenario.queue_counts, key=str)
    assert (again.remove, again.rename) == (scenario.remove, scenario.rename)
    assert again.client_rooms == scenario.client_rooms
    assert sorted(again.broker_rooms.named) == sorted(brokers)


def test_fields_of_the_form_are_read_as_the_link_has_them() -> None:
    pairs = [
        ("v", "1"),
        ("m/10.0.0.1@a~1b", "c:d"),
        ("q/orders:broker-a", "16"),
        ("t/orders", "120"),
        ("B/broker-a", "hz1"),
        ("C/x", ""),
        ("o", "hz1, hz2"),
        ("show", "MACHINE_ROOM"),
        ("saved", "7"),
        ("a", " "),
    ]
    scenario, show = read_scenario(urlencode(pairs))
    assert show == scenario.strategy == "MACHINE_ROOM"
    assert scenario.rename == (("10.0.0.1@a:b", "c:d"),)
    assert scenario.queue_counts == (QueueCount("orders", "broker-a", 16),)
    assert scenario.rates == (("orders", 120.0),)
    assert scenario.broker_rooms.named == (("broker-a", "hz1"),)
    assert scenario.rooms == ("hz1", "hz2")
    assert scenario.add == ()
    assert read_scenario(canonical_query(scenario)) == (scenario, "MACHINE_ROOM")


def test_a_member_that_is_listed_and_not_ticked_leaves() -> None:
    pairs = [("v", "1"), ("p", "one"), ("p", "two"), ("y", "two"), ("r", "three")]
    scenario, _show = read_scenario(urlencode(pairs))
    assert scenario.remove == ("three", "one")


def test_lists_entered_replace_those_in_the_link() -> None:
    given = [("v", "1"), ("g", "a:t:b:0"), ("lists", '{"c": [["t", "b", "1-2"]]}')]
    scenario, _show = read_scenario(urlencode(given))
    assert [client for client, _queues in scenario.config] == ["c"]


def test_a_link_has_a_limit() -> None:
    with pytest.raises(ArgumentError, match="limit 60,000"):
        read_scenario("v=1&a=" + "x" * 60_000)


def test_new_members_have_ids_that_nobody_has() -> None:
    state = hosted_group()
    taken = Scenario(add=("new-01@1",))
    comparison = compare(read_situation(state), taken)
    assert new_members(comparison, None)[:2] == ["new-02@1", "new-03@1"]


def test_labels_that_would_collide_stay_whole_ids() -> None:
    found = new_labels(["10.0.0.1@1", "10.0.0.2@1", "10.0.0.3@c"], {})
    assert found == {
        "10.0.0.1@1": "10.0.0.1@1",
        "10.0.0.2@1": "10.0.0.2@1",
        "10.0.0.3@c": "c",
    }
