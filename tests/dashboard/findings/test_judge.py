"""When findings are said: settled, explained by others, carried between askings."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from dashboard.findings import RULES, Judge, rules_document
from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.judge import CARRIED_MS
from dashboard.findings.rule import Queues, Rule
from rmqcore.model.snapshot import HeldQueue

from . import faulty
from .plays import NOW, Play


def test_rules_come_after_the_causes_that_they_yield_to() -> None:
    keys = [rule.key for rule in RULES]
    assert len(set(keys)) == len(keys)
    for place, rule in enumerate(RULES):
        assert set(rule.yields_to) <= set(keys[:place])


def test_members_word_stands_until_they_are_asked_again() -> None:
    play = faulty.different_tags()
    play.pass_time(60, every=10, asked=False)
    assert set(play.found) == {"inconsistent_subscriptions"}
    play.pass_time(CARRIED_MS // 1000, every=10, asked=False)
    assert play.found == {}


def test_members_word_does_not_stand_for_another_group() -> None:
    play = faulty.different_tags()
    play.leave("h2@b")
    play.pass_time(5, asked=False)
    assert play.found == {}


def test_a_fault_that_is_mended_is_no_longer_said() -> None:
    play = faulty.a_queue_without_owner()
    play.divide().pass_time(1)
    assert play.found == {}


def test_a_hot_queue_has_to_stay_hot() -> None:
    play = Play(8)
    play.join("h1@a", "h2@b")
    play.divide().pass_time(60, every=5)
    play.high[5] = (play.high[5] or 0) + 9_000
    play.pass_time(20, every=5)
    assert play.found == {}
    play.done[5] = play.high[5]
    play.pass_time(60, every=5)
    assert play.found == {}


def test_tells_since_when() -> None:
    play = faulty.more_members_than_queues()
    began = play.began_ms("idle_members")
    assert began is not None
    assert NOW < began < play.now
    assert play.began_ms("stalled") is None


def test_a_shared_id_explains_queues_without_owner_and_owned_twice() -> None:
    play = faulty.shared_client_id()
    assert {"unowned_queues", "owned_twice"} <= play.raw
    assert set(play.found) == {"shared_client_id"}


def test_what_a_cause_does_not_explain_is_said_beside_it() -> None:
    play = faulty.waiting_for_locks()
    # Queue 0 was never reported by anybody: no lock is waited for there.
    play.actors[0].holds = play.keys[1:2]
    play.pass_time(10, sent=0)
    assert "lock_expired" in play.found
    keys = {key for finding in play.said for key in finding.queues}
    assert keys == {play.keys[0], play.keys[2], play.keys[3]}


def _raises(evidence: Evidence, explained: Queues) -> Finding | None:
    if evidence.at_ms % 2:
        raise KeyError("offset")
    return Finding("broken", "warn") if evidence.at_ms % 4 else None


def test_a_rule_that_raises_is_told_once_and_costs_the_others_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    play = faulty.too_slow()
    assert play.evidence is not None
    judge = Judge((Rule("broken", _raises, {}), *RULES))
    with caplog.at_level(logging.ERROR):
        for at_ms in (1, 3, 5):
            found = judge.judge(replace(play.evidence, at_ms=at_ms))
    assert [finding.key for finding in found] == ["losing_ground"]
    assert [record.getMessage() for record in caplog.records] == [
        "group=g rule=broken failed"
    ]
    assert rules_document(judge.asked)["failed"] == [
        {"key": "broken", "error": "KeyError: 'offset'"}
    ]
    assert judge.asked.checked == len(RULES)


def test_what_a_rule_found_before_it_raised_stands_as_of_then() -> None:
    play = faulty.too_slow()
    assert play.evidence is not None
    judge = Judge([Rule("broken", _raises, {})])
    for at_ms in (2, 3):
        (found,) = judge.judge(replace(play.evidence, at_ms=at_ms))
    assert found.as_of_ms == 2
    assert judge.judge(replace(play.evidence, at_ms=4)) == ()
    assert judge.judge(replace(play.evidence, at_ms=5)) == ()


def test_rules_of_members_word_are_unchecked_until_members_are_asked() -> None:
    play = Play()
    play.join("h1@a", "h2@b")
    play.divide().pass_time(10, asked=False)
    told = {rule.key for rule in RULES if rule.told}
    assert {key for key, why in play.asked.unchecked.items()} == told
    assert {why.why for why in play.asked.unchecked.values()} == {"not_asked"}
    play.pass_time(1)
    assert play.asked.unchecked == {}


def test_carried_word_says_of_when_it_is() -> None:
    play = faulty.different_tags()
    told_at = play.now
    play.pass_time(20, every=10, asked=False)
    assert play.found["inconsistent_subscriptions"].as_of_ms == told_at
    play.pass_time(1)
    assert play.found["inconsistent_subscriptions"].as_of_ms is None


def test_progress_is_unchecked_while_a_group_was_not_seen_for_long() -> None:
    play = Play(end=10_000)
    play.join("h1@a")
    play.done = [1_000] * 4
    play.divide().pass_time(30, every=10, sent=10)
    unchecked = {key: why.why for key, why in play.asked.unchecked.items()}
    assert unchecked == dict.fromkeys(("rewound", "stalled", "losing_ground"), "time")


def test_a_cause_is_told_before_and_instead_of_the_stall_it_makes() -> None:
    play = Play(1, end=2_100)
    (actor,) = play.join("h1@a")
    play.divide()
    play.done, play.pulled = [10], [2_042]
    actor.held[play.keys[0]] = HeldQueue(committed=10, cached=1, first=10, last=10)
    # Members are asked a while after the group was first seen.
    play.pass_time(25, every=5, asked=False)
    play.pass_time(150, every=5)
    assert set(play.found) == {"stuck_commit"}
    assert "stalled" not in play.ever
