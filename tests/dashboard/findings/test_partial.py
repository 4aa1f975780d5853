"""What is found in a part of a group: never more than the part shows, and marked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dashboard.findings import RULES, Finding
from dashboard.findings.evidence import Unchecked
from dashboard.findings.judge import CARRIED_MS

from . import faulty
from .faulty import FAULTY, Fault
from .plays import Play, queues

WHOLE = ("gone", "given_up_topics", "idle_members", "hot_queue", "losing_ground")
"""Rules that compare, add up or miss something: a part says nothing to them."""
ADDED_UP = {
    "queues",
    "lag",
    "waiting_messages",
    "messages",
    "lost_messages",
    "most_in_one_queue",
    "repeated_messages",
    "unread",
    "owned_twice",
    "without_owner",
    "processes",
    "idle",
    "retry_lag",
    "sent_back",
    "dead_letters",
    "messages_ever",
    "offsets_at_broker",
    "in_rate",
    "out_rate",
    "held_by",
    "expected_owner",
    "owners",
    "idle_members",
}


@dataclass(frozen=True)
class Step:
    seconds: int
    sent: tuple[int, ...]
    consumed: tuple[int, ...]
    silent: frozenset[str]
    back_to: int | None
    asked: bool


KEYS = sorted([*queues(3), *queues(2, broker="b"), *queues(2, "invoices", "b")])
flows = st.tuples(*(st.sampled_from([0, 10, 100, 900]) for _ in KEYS))
steps = st.builds(
    Step,
    st.sampled_from([10, 40, 70, 130]),
    flows,
    flows,
    st.frozensets(st.sampled_from(["a", "b"])),
    st.sampled_from([None, None, None, 500]),
    st.booleans(),
)


def made() -> Play:
    play = Play(KEYS, end=5_000)
    play.join("h1@a", "h2@b")
    play.done = [4_400, 4_400, 4_990, 4_990, 5_000, 5_000, 5_000]
    play.low = [0] * 6 + [5_001]
    return play.divide().look()


def pass_step(play: Play, step: Step, *, hide: bool) -> None:
    play.silent = set(step.silent) if hide else set()
    if step.back_to is not None:
        play.done[0] = step.back_to
    play.pass_time(
        step.seconds,
        every=10,
        sent=dict(enumerate(step.sent)),
        consumed=dict(enumerate(step.consumed)),
        asked=step.asked,
    )


def said_of(finding: Finding) -> dict[str, Any]:
    return {**dict(finding.evidence), **finding.values}


@settings(max_examples=20, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.lists(steps, min_size=1, max_size=6))
def test_nothing_is_stated_from_a_part_without_a_mark(script: list[Step]) -> None:
    whole, part = made(), made()
    for step in script:
        pass_step(whole, step, hide=False)
        pass_step(part, step, hide=True)
        for finding in part.said:
            if finding.as_of_ms is None:
                _holds(finding, whole)


def _holds(finding: Finding, whole: Play) -> None:
    assert whole.evidence is not None
    table = whole.evidence.group.queues
    known = {key: table.lag[row] for row, key in enumerate(table.keys)}
    said = said_of(finding)
    if finding.key == "losing_ground":
        assert said["lag"] == table.lag.total() or "lag" in finding.at_least
        return
    if finding.key == "hot_queue":
        lags = [known[key] for key in finding.queues]
        assert said["lag"] in lags
        return
    if finding.key == "lost_messages":
        assert set(finding.queues) <= set(table.keys)
    twin = whole.found.get(finding.key)
    assert twin is not None, finding
    for name, value in said_of(twin).items():
        if name not in ADDED_UP or name in finding.at_least:
            continue
        assert said.get(name) == value, (finding.key, name, finding.at_least)


@pytest.mark.parametrize("fault", FAULTY, ids=lambda fault: fault.name)
def test_a_rule_that_needs_the_whole_says_what_it_lacks(fault: Fault) -> None:
    play = fault.play()
    play.silent = {"a"}
    play.now += 1_000
    play.look()
    unchecked = play.asked.unchecked
    for key in WHOLE:
        alone = _alone(play, key)
        assert alone is None or alone == Unchecked("brokers", ("a",))
        # What another finding explains is not missing here.
        assert unchecked.get(key, alone) == alone
    assert len(unchecked) + play.asked.checked == len(RULES)


def _alone(play: Play, key: str) -> object:
    assert play.evidence is not None
    (rule,) = [rule for rule in RULES if rule.key == key]
    return rule.check(play.evidence, play.evidence.unread)


def test_a_count_of_queues_is_at_least_that_while_a_broker_is_silent() -> None:
    play = Play([*queues(2), *queues(2, broker="b")])
    play.join("h1@a", "h2@b")
    play.divide()
    play.done, play.low = [400] * 4, [900] * 4
    play.pass_time(10)
    assert play.found["lost_messages"].values == {"messages": 2_000, "queues": 4}
    assert play.found["lost_messages"].at_least == ()
    play.silent = {"b"}
    play.pass_time(1)
    found = play.found["lost_messages"]
    assert found.values == {"messages": 1_000, "queues": 2}
    assert set(found.at_least) == {
        "messages",
        "queues",
        "lost_messages",
        "most_in_one_queue",
    }


def test_what_nothing_is_known_of_is_no_zero() -> None:
    play = faulty.a_queue_without_owner()
    play.silent = {"a"}
    play.pass_time(1)
    found = play.found["unowned_queues"]
    assert found.text == "lag_unknown"
    assert "lag" not in found.values
    assert "waiting_messages" not in dict(found.evidence)
    assert set(found.at_least) == {"queues", "expected_owner"}


def test_broadcasting_tells_no_offset_that_no_broker_has() -> None:
    play = faulty.broadcasting()
    play.done = [None] * 4
    play.pass_time(5)
    assert "offsets_at_broker" not in dict(play.found["broadcasting"].evidence)


def test_a_member_that_says_nothing_leaves_rules_unchecked() -> None:
    play = Play()
    play.join("h1@a")
    play.divide()
    play.join("h2@b", holds=None, reads=None, strategy=None)
    play.pass_time(10, sent=100)
    unchecked = play.asked.unchecked
    assert unchecked["different_topics"] == Unchecked("members", ("h2@b",))
    assert unchecked["mixed_strategies"] == Unchecked("members", ("h2@b",))
    assert "lost_messages" not in unchecked


def test_who_differs_is_said_with_how_many_were_heard() -> None:
    play = faulty.different_tags()
    play.join("h3@c", holds=None, reads=None, strategy=None)
    play.pass_time(5)
    evidence = dict(play.found["inconsistent_subscriptions"].evidence)
    assert evidence["members_told"] == "2 / 3"


def test_a_queue_never_committed_keeps_its_topic_from_being_compared() -> None:
    play = faulty.only_one_queue_lags()
    assert "hot_queue" in play.found
    play.done[3] = None
    play.pass_time(5)
    assert play.asked.unchecked["hot_queue"] == Unchecked("commits")
    # An empty one hides nothing.
    play.low[3] = play.high[3] or 0
    play.pass_time(40, every=5)
    assert "hot_queue" in play.found


def test_whether_more_is_sent_is_not_said_where_it_is_not_known() -> None:
    play = faulty.one_queue_is_sent_more()
    assert play.found["hot_queue"].text == "more_sent"
    assert play.evidence is not None
    (rule,) = [rule for rule in RULES if rule.key == "hot_queue"]
    found = rule.check(replace(play.evidence, flow=None), frozenset())
    assert isinstance(found, Finding)
    assert found.text == "lags"


def test_what_stood_before_a_broker_fell_silent_stands_as_of_then() -> None:
    play = faulty.all_members_left()
    before = play.found["gone"]
    last = play.now
    play.silent = {"a"}
    play.pass_time(30, every=10)
    carried = play.found["gone"]
    assert carried.as_of_ms == last
    assert carried.values == before.values
    assert play.began_ms("gone") is not None
    play.pass_time(CARRIED_MS // 1000, every=30)
    assert "gone" not in play.found


def test_what_is_refuted_does_not_stand() -> None:
    play = faulty.all_members_left()
    play.silent = {"a"}
    play.join("h1@a")
    play.pass_time(5)
    assert "gone" not in play.found


def test_dead_letters_of_a_broker_that_comes_back_are_no_new_ones() -> None:
    play = Play(queues(2))
    play.join("h1@a")
    play.dead_letters = 3
    play.divide().pass_time(30, every=5)
    both = Play([*queues(2), *queues(2, broker="b")])
    play.keys, play.low = both.keys, both.low
    play.high, play.done, play.pulled = both.high, both.done, both.pulled
    play.dead_letters = 5_003
    play.divide().pass_time(30, every=5)
    assert "dead_letters" not in play.ever
    play.dead_letters += 1
    play.pass_time(5, every=5)
    assert play.found["dead_letters"].values["messages"] == 1
