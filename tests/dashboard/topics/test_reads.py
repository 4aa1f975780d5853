from __future__ import annotations

from typing import Any

from dashboard.topics.reads import Cell, brokers_of, line_of, losses, queues_of
from tests.dashboard.documents import group_state, member, queue

from .topic_documents import broker, topic_group, topic_row


def cell(**changes: Any) -> Cell:
    """Return what a group with two members shows of one queue."""
    members = [member(0), member(1)]
    row = topic_row("orders", brokers=[broker("a", 1)])
    state = group_state(members, [queue("a", 0, topic="orders", **changes)])
    (found,) = line_of(topic_group("g"), state, queues_of(row), "orders").cells
    return found


def test_a_queue_has_the_letter_and_hue_of_its_owner() -> None:
    found = cell(owners=[member(1)["client_id"]], lag=250)
    assert (found.letter, found.slot, found.level) == ("B", 2, 2)


def test_a_queue_that_is_owned_twice_says_so() -> None:
    ids = [member(0)["client_id"], member(1)["client_id"]]
    found = cell(owners=ids, lag=0)
    assert (found.letter, found.slot) == ("×2", None)
    # Two processes with one client id.
    assert cell(owners=[ids[0], ids[0]], lag=0).letter == "×2"


def test_what_a_broker_takes_along_is_only_said_where_it_is_sure() -> None:
    silent = broker("b", 4, reason="no_answer")
    row = topic_row("orders", brokers=[broker("a", 4), silent])
    (loss, other) = losses(row)
    assert (loss.others, loss.unsure, loss.all_groups) == (0, 1, True)
    assert (other.others, other.unsure) == (1, 0)
    unsure: list[dict[str, Any]] = [
        {"groups": [topic_group("g", reads=None)]},
        {"groups_known": False},
        {"group_count": 60},
    ]
    for change in unsure:
        assert not losses(topic_row("orders", **change))[0].all_groups


def test_a_lag_that_is_not_known_is_not_none() -> None:
    assert cell(owners=[], lag=None).lag is None


def test_what_goes_with_a_broker_of_a_static_topic_are_the_queues_it_leads() -> None:
    logical = broker("__syslo__global__", 3)
    logical["held"] = [1, None, 3]
    row = topic_row("orders", brokers=[logical], leaders={"a": 3, "b": 0})
    assert brokers_of(row) == ["a", "b"]
    assert [(each.broker, each.queues, each.others) for each in losses(row)] == [
        ("a", 3, 0),
        ("b", 0, 1),
    ]
    assert [each.held for each in queues_of(row)] == [1, None, 3]
