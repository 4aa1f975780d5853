"""When findings are said: settled, explained by others, carried between askings."""

from __future__ import annotations

from dashboard.findings import RULES
from dashboard.findings.judge import CARRIED_MS

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
