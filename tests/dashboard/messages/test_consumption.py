"""What became of a message: each verdict, and why others are not given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dashboard.gateway.message_facts import Copies, Filter, GroupFacts
from dashboard.messages.consumption import State, Watched, judge, judge_all
from dashboard.messages.tags import said
from dashboard.messages.traces import TraceStep
from dashboard.messages.words import ICONS, REASONS

from .made import stored

MESSAGE = stored(properties={"TAGS": "paid", "UNIQ_KEY": "U"})
ALL = Filter("TAG", "*", frozenset(), 1)
PAST = GroupFacts("billing", 101, members=2, filter=ALL, copies=Copies())
WATCHED = Watched(since_ms=1)


def tags(*names: str, since: int = 1) -> Filter:
    return Filter("TAG", " || ".join(names), frozenset(names), since)


def verdict(watched: Watched = WATCHED, **changes: Any) -> tuple[State, str]:
    found = judge(MESSAGE, replace(PAST, **changes), [], watched)
    assert said(found)
    assert "{" not in said(found)
    return found.state, found.reason


def test_an_offset_past_it_with_nothing_that_could_have_skipped_it() -> None:
    assert verdict() == (State.PASSED, "passed")
    assert verdict(filter=tags("paid", "refund")) == (State.PASSED, "passed")


@pytest.mark.parametrize(
    ("watched", "changes", "reason"),
    [
        (Watched(), {}, "not_watched"),
        (Watched(since_ms=1_000_001), {}, "watched_since"),
        (Watched(since_ms=1, moved_ms=1_000_001), {}, "moved"),
        (WATCHED, {"filter": None}, "nobody_online"),
        (WATCHED, {"filter": replace(ALL, since=1_000_001)}, "subscribed_since"),
        (WATCHED, {"copies": None}, "no_unique_key"),
        (WATCHED, {"filter": tags("refund", since=1_000_001)}, "filtered_since"),
        (WATCHED, {"filter": replace(ALL, kind="SQL92")}, "passed"),
        (WATCHED, {"filter": replace(tags("a"), kind="SQL92")}, "expression"),
        (WATCHED, {"broadcasting": True}, "broadcasting"),
        (WATCHED, {"pop": True}, "pop"),
        (WATCHED, {"error": "away"}, "not_answered"),
        (WATCHED, {"committed": None}, "nothing_committed"),
        (WATCHED, {"committed": None, "members": 0}, "never_here"),
    ],
)
def test_what_cannot_be_excluded_makes_it_unknown(
    watched: Watched, changes: dict[str, Any], reason: str
) -> None:
    if reason == "passed":
        # An expression of SQL is never "all", whatever its tags say.
        assert verdict(watched, **changes) == (State.UNKNOWN, "expression")
    else:
        assert verdict(watched, **changes) == (State.UNKNOWN, reason)


def test_a_group_that_has_not_come_to_it() -> None:
    assert verdict(committed=100) == (State.NOT_YET, "before")
    assert verdict(committed=7, members=0) == (State.NOT_YET, "before_offline")


def test_a_message_that_a_filter_leaves_out() -> None:
    assert verdict(filter=tags("refund")) == (State.FILTERED, "tags")
    later = tags("refund", since=1_000_001)
    assert verdict(committed=50, filter=later) == (State.FILTERED, "tags")


def test_retries_and_dead_letters_are_told() -> None:
    assert verdict(copies=Copies(waiting=1)) == (State.NOT_YET, "retries")
    assert verdict(copies=Copies(retried=2, unread=1)) == (State.NOT_YET, "retries")
    assert verdict(copies=Copies(retried=2)) == (State.PASSED, "after_retries")
    assert verdict(copies=Copies(retried=16, dead=True)) == (State.GIVEN_UP, "dead")


def test_a_trace_outweighs_all_else() -> None:
    step = TraceStep("consume", "billing", 2_000, 0, 14, True, "10.0.0.3")
    found = judge(MESSAGE, replace(PAST, copies=None), [step], Watched())
    assert (found.state, found.values["time"]) == (State.CONSUMED, 2_014)
    failed = replace(step, success=False)
    assert judge(MESSAGE, PAST, [failed], Watched()).state is State.UNKNOWN


def test_what_needs_a_look_comes_first() -> None:
    groups = [
        replace(PAST, group="a"),
        replace(PAST, group="b", filter=tags("x")),
        replace(PAST, group="c", pop=True),
        replace(PAST, group="d", committed=3),
        replace(PAST, group="e", copies=Copies(dead=True)),
    ]
    watched = {each.group: WATCHED for each in groups}
    found = judge_all(MESSAGE, groups, [], watched)
    assert "".join(each.group for each in found) == "edcab"


def test_every_state_has_an_icon_and_every_reason_words() -> None:
    assert set(ICONS) == {state.value for state in State}
    assert REASONS
