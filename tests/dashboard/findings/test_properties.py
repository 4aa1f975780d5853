"""What holds for any group: no rule fails, and what is said is about that group."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.findings import RULES, finding_document, rules_document
from dashboard.findings.document import LISTED
from dashboard.findings.finding import Finding
from rmqcore.model import ConsumeType
from rmqcore.model.snapshot import GroupKind, HeldQueue

from .plays import NOW, Actor, Play, queues

offsets = st.one_of(st.none(), st.integers(0, 10_000))
brokers = st.sampled_from(["a", "b"])
tags = st.sampled_from(["*", "red", "blue", "red || blue", ""])
topics = st.dictionaries(st.sampled_from(["orders", "invoices"]), tags, max_size=2)


@st.composite
def held_queues(draw: st.DrawFn) -> HeldQueue:
    first = draw(offsets)
    return HeldQueue(
        committed=draw(offsets),
        cached=draw(st.integers(0, 3)) if first is not None else 0,
        first=first,
        last=None if first is None else first + draw(st.integers(0, 5_000)),
        locked=draw(st.booleans()),
    )


@st.composite
def plays(draw: st.DrawFn) -> Play:
    """A group in any state, looked at now and then while anything may change."""
    keys = [
        *queues(draw(st.integers(0, 5))),
        *queues(draw(st.integers(0, 3)), "invoices"),
    ]
    play = Play(
        keys,
        kind=draw(
            st.sampled_from([k for k in GroupKind if k is not GroupKind.OFFLINE])
        ),
        consume_type=draw(st.sampled_from(list(ConsumeType))),
    )
    for _ in range(draw(st.integers(1, 8))):
        if draw(st.booleans()):
            play.keys = sorted(queues(draw(st.integers(0, 5)), broker=draw(brokers)))
        keys, count = play.keys, len(play.keys)
        play.silent = draw(st.sets(brokers))
        play.low = draw(st.lists(st.integers(0, 9_000), min_size=count, max_size=count))
        play.high = draw(st.lists(offsets, min_size=count, max_size=count))
        play.done = draw(st.lists(offsets, min_size=count, max_size=count))
        play.pulled = draw(st.lists(offsets, min_size=count, max_size=count))
        play.sent_back = draw(st.integers(0, 200))
        play.dead_letters = draw(st.integers(0, 5))
        play.actors = [
            Actor(
                client_id,
                draw(st.one_of(st.none(), st.lists(st.sampled_from(keys), unique=True)))
                if keys
                else None,
                draw(st.one_of(st.none(), topics)),
                draw(st.sampled_from([None, "AVG", "CONFIG"])),
                orderly=draw(st.booleans()),
                started_ms=NOW + draw(st.integers(0, 3)),
                held={key: draw(held_queues()) for key in keys},
                pulls=draw(st.booleans()),
            )
            for client_id in sorted(
                draw(st.lists(st.sampled_from(["h1@a", "h2@a", "h1@b"])))
            )
        ]
        play.pass_time(
            40, every=draw(st.sampled_from([5, 20])), asked=draw(st.booleans())
        )
    return play


@settings(max_examples=40, deadline=None)
@given(plays())
def test_no_state_of_a_group_makes_a_rule_fail_or_speak_of_others(play: Play) -> None:
    known = set(play.keys)
    for finding in play.said:
        assert set(finding.queues) <= known
        said = dict(finding.evidence) | dict(finding.values)
        assert set(finding.at_least) <= said.keys()
        document = finding_document(finding, None)
        assert document["queue_count"] >= len(document["queues"])
        assert len(set(document["members"])) == len(document["members"])
        assert document["member_count"] >= len(document["members"])
        for _name, value in [*document["values"].items(), *document["evidence"]]:
            assert value is not None
            assert value == value  # noqa: PLR0124 - never NaN
    asked = play.asked
    assert asked.failed == {}
    assert asked.checked + len(asked.unchecked) == len(RULES)
    assert rules_document(asked)["checked"] == asked.checked


@pytest.mark.parametrize(
    "kind",
    [
        GroupKind.BROADCASTING,
        GroupKind.MIXED,
        GroupKind.SHARED_POP,
        GroupKind.ASSIGNED_BY_HAND,
    ],
)
def test_nothing_is_said_of_owners_where_queues_have_no_single_one(
    kind: GroupKind,
) -> None:
    play = Play(6, kind=kind)
    play.join("h1@a", holds=play.keys[:4])
    play.join("h2@a", holds=play.keys[:4])
    play.pass_time(5)
    play.join("h3@a", holds=[])
    play.actors[0].holds = play.keys[2:3]
    play.pass_time(60, sent=20)
    claims = {"owned_twice", "unowned_queues", "idle_members", "flapping"}
    assert not claims & play.ever
    moves = {"different_topics", "mixed_strategies", "lost_messages"}
    assert not moves & play.ever


def test_a_client_id_of_several_processes_is_named_once() -> None:
    finding = Finding("hot_queue", "warn", members=("h1@a", "h1@a", "h2@a"))
    document = finding_document(finding, None)
    assert (document["members"], document["member_count"]) == (["h1@a", "h2@a"], 2)


def test_long_lists_are_counted_and_cut() -> None:
    play = Play(LISTED + 10)
    play.join("h1@a")
    play.pass_time(5)
    (finding,) = play.said
    document = finding_document(finding, NOW)
    assert document["queue_count"] == LISTED + 10
    assert len(document["queues"]) == LISTED
    assert document["queues"][0] == "orders|a|0"
    assert document["since"] == NOW
