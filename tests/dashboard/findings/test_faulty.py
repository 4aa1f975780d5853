"""Each fault is found, called by its name, and nothing else is said of the group."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import pytest
from django.utils import translation

from dashboard.findings import RULES, finding_document
from dashboard.findings.finding import WORST_FIRST
from dashboard.findings.said import say_finding
from dashboard.findings.words import FINDINGS

from . import faulty
from .faulty import FAULTY, Fault
from .plays import NOW, Play


@lru_cache
def played(scene: Callable[[], Play]) -> Play:
    return scene()


@pytest.mark.parametrize("fault", FAULTY, ids=lambda fault: fault.name)
def test_a_fault_is_found_and_nothing_else(fault: Fault) -> None:
    said = played(fault.play).said
    assert {finding.key: finding.level for finding in said} == fault.owed
    order = [WORST_FIRST.index(finding.level) for finding in said]
    assert order == sorted(order)


@pytest.mark.parametrize("fault", FAULTY, ids=lambda fault: fault.name)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_finding_is_said_without_holes(fault: Fault, language: str) -> None:
    with translation.override(language):
        for finding in played(fault.play).said:
            for name in ("title", finding.text, finding.advice):
                assert f"{finding.key}.{name}" in FINDINGS
            for name, _value in finding.evidence:
                assert f"seen.{name}" in FINDINGS
            said = say_finding(finding_document(finding, NOW))
            for text in (said.title, said.text, said.advice, str(said.evidence)):
                assert text
                assert "{" not in text
                assert "None" not in text


def test_every_rule_has_a_fault_that_it_finds() -> None:
    found = {key for fault in FAULTY for key in fault.owed}
    assert found == {rule.key for rule in RULES}


# What is told of them


def test_tells_both_connections_of_a_shared_id_and_what_it_does() -> None:
    finding = faulty.shared_client_id().found["shared_client_id"]
    assert finding.values["processes"] == 2
    assert finding.members == ("h1@same",)
    assert len(finding.queues) == 4
    assert ("owned_twice", 2) in finding.evidence
    assert ("without_owner", 2) in finding.evidence


def test_tells_who_reads_what_and_by_what_the_broker_filters() -> None:
    finding = faulty.different_tags().found["inconsistent_subscriptions"]
    assert finding.values == {
        "topic": "orders",
        "expressions": ["blue", "red"],
        "filtered_by": "blue",
    }
    assert finding.members == ("h1@a", "h2@b")


def test_tells_the_queues_that_a_topic_left_unread() -> None:
    finding = faulty.different_topics().found["different_topics"]
    assert finding.values["topics"] == ["invoices", "orders"]
    assert finding.values["unread"] == 4
    assert [key[2] for key in finding.queues] == [2, 3, 0, 1]


def test_tells_whose_locks_are_waited_for_and_who_will_have_the_queues() -> None:
    finding = faulty.waiting_for_locks().found["lock_expired"]
    assert finding.values["holder"] == "h2@b"
    assert finding.values["queues"] == 2
    assert finding.members == ("h1@a",)
    assert finding.text == "gone"


def test_tells_how_much_is_done_beyond_the_message_that_hangs() -> None:
    finding = faulty.one_message_hangs().found["stuck_commit"]
    assert finding.values["offset"] == 10
    assert finding.values["done"] == 2_042 - 10 - 1
    assert finding.members == ("h1@a",)


def test_tells_a_queue_that_is_sent_more_from_one_that_is_slower() -> None:
    assert faulty.one_queue_is_sent_more().found["hot_queue"].text == "more_sent"
    finding = faulty.only_one_queue_lags().found["hot_queue"]
    assert finding.text == "slower"
    assert finding.values["queue"] == "a / 5"


def test_tells_an_idle_reserve_from_a_member_left_out() -> None:
    reserve = faulty.more_members_than_queues().found["idle_members"]
    assert (reserve.text, reserve.members) == ("too_many", ("h3@c",))
    left_out = faulty.left_out_by_the_strategy().found["idle_members"]
    assert left_out.text == "left_out"


@pytest.mark.parametrize(
    ("play", "kind", "messages"),
    [
        (faulty.file_lost, "lost", 4 * 500),
        (faulty.file_on_another_host, "moved", 4 * 500),
        (faulty.file_older, "older", 4 * 20),
    ],
)
def test_tells_how_a_place_was_lost_and_what_that_costs(
    play: object, kind: str, messages: int
) -> None:
    finding = play().found["offsets_file_lost"]  # type: ignore[operator]
    assert (finding.text, finding.values["messages"]) == (kind, messages)


def test_counts_what_is_lost() -> None:
    finding = faulty.messages_removed_unread().found["lost_messages"]
    assert finding.values == {"messages": 2_000, "queues": 4}
