"""Rules begin to fire once, end once, and are handed on to the next leader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.accounts.owners import Owned, Owner, Owners
from dashboard.alerting.engine import (
    URGENT_GROUPS,
    Closing,
    Engine,
    Explained,
    Opening,
    OpenSubject,
)
from dashboard.alerting.rules import Rule

from .seen import GROUP, START_MS, broker_at, finding, look_at, rule_of


def engine_with(*rules: Rule) -> Engine:
    engine = Engine("east")
    engine.set_rules(rules, START_MS)
    return engine


def kinds_of(news: Sequence[Any]) -> list[str]:
    return [type(each).__name__ for each in news]


def test_an_opening_says_what_where_and_why() -> None:
    engine = engine_with(rule_of(hold_ms=10_000))
    for at_s in (0, 5, 10, 15):
        engine.look(
            look_at(at_s, lag=500, findings=[finding()], silent=("c1", "c9", "c1"))
        )
    (news,) = engine.take_news()
    assert isinstance(news, Opening)
    assert (news.subject, news.cause) == (GROUP, "stalled")
    assert (news.began_ms, news.at_ms) == (START_MS, START_MS + 10_000)
    facts = news.facts
    assert (facts["value"], facts["limit"], facts["lag"]) == (500, 100, 500)
    assert facts["finding"]["key"] == "stalled"
    assert [each["key"] for each in facts["queues"]] == ["orders|broker-a|0"]
    assert facts["queues"][0]["owners"] == ["c1"]
    assert facts["silent"] == ["c1"]
    assert engine.take_news() == []


def test_what_fires_ends_once() -> None:
    engine = engine_with(rule_of(clear_limit=50))
    for at_s, lag in ((0, 500), (1, 80), (2, 50), (3, 50), (4, 500)):
        engine.look(look_at(at_s, lag=lag))
    opened, closed, again = engine.take_news()
    assert isinstance(opened, Opening)
    assert closed == Closing(1, GROUP, START_MS + 2000, "cleared")
    assert isinstance(again, Opening)


def test_a_finding_that_comes_later_explains_what_fires() -> None:
    engine = engine_with(rule_of())
    engine.look(look_at(0, lag=500, findings=[finding("idle_members", "info")]))
    engine.look(look_at(1, lag=500, findings=[finding()]))
    engine.look(look_at(2, lag=500, findings=[finding()]))
    opened, explained = engine.take_news()
    assert isinstance(opened, Opening)
    assert (opened.cause, opened.facts["finding"]) == ("", None)
    assert explained == Explained(1, GROUP, finding())


def test_a_rule_about_a_fact_takes_it_for_the_reason() -> None:
    engine = engine_with(rule_of("finding", None, finding="idle_members"))
    engine.look(look_at(0, findings=[finding("idle_members", "info")]))
    (news,) = engine.take_news()
    assert isinstance(news, Opening)
    assert news.cause == "idle_members"


def test_rules_are_about_the_groups_of_their_pattern_and_team() -> None:
    rules = [
        rule_of(pk=1),
        rule_of(pk=2, groups="pay-*"),
        rule_of(pk=3, team="Money"),
        rule_of(pk=4, team="Money", groups="pay-*"),
    ]
    engine = Engine("east")
    money = Owner(1, "Money", "", "")
    owned = [Owned("", name, money) for name in ("pay-a", "other")]
    engine.set_rules(rules, START_MS, Owners(owned))
    for name in ("pay-a", "pay-b", "other", "none"):
        engine.look(look_at(0, group=name, lag=500))
    found = {(each.rule.pk, each.subject) for each in engine.take_news()}  # type: ignore[union-attr]
    assert found == {
        *((1, name) for name in ("pay-a", "pay-b", "other", "none")),
        *((2, name) for name in ("pay-a", "pay-b")),
        *((3, name) for name in ("pay-a", "other")),
        (4, "pay-a"),
    }
    states = engine.document(START_MS)["rules"]
    assert [states[str(pk)]["subjects"] for pk in (1, 2, 3, 4)] == [4, 2, 2, 1]


def test_a_rule_that_is_switched_off_or_moved_away_ends_what_it_fired() -> None:
    for after in ([], [rule_of(groups="pay-*")], [rule_of(team="Money")]):
        engine = engine_with(rule_of())
        engine.look(look_at(0, lag=500))
        engine.take_news()
        engine.set_rules(after, START_MS + 5000)
        assert engine.take_news() == [Closing(1, GROUP, START_MS + 5000, "rule")]


def test_a_rule_with_another_limit_goes_on_from_where_it_stood() -> None:
    engine = engine_with(rule_of())
    engine.look(look_at(0, lag=500))
    engine.take_news()
    engine.set_rules([rule_of(limit=400)], START_MS)
    engine.look(look_at(1, lag=450))
    assert engine.take_news() == []
    engine.set_rules([rule_of(limit=600)], START_MS)
    engine.look(look_at(2, lag=450))
    assert kinds_of(engine.take_news()) == ["Closing"]


def test_a_group_that_is_gone_ends_what_fired_for_it() -> None:
    engine = engine_with(rule_of(), rule_of("broker", 0, pk=2))
    engine.look(look_at(0, lag=500))
    engine.look_at_brokers([broker_at(1, condition="silent")], START_MS + 1000)
    assert kinds_of(engine.take_news()) == ["Opening", "Opening"]
    engine.drop_all_but([GROUP], START_MS + 2000)
    assert engine.take_news() == []
    engine.drop_all_but([], START_MS + 3000)
    assert engine.take_news() == [Closing(1, GROUP, START_MS + 3000, "gone")]
    engine.look_at_brokers([], START_MS + 4000)
    assert engine.take_news() == [Closing(2, "broker-a", START_MS + 4000, "gone")]


def test_a_broker_that_is_away() -> None:
    engine = engine_with(rule_of("broker", 5000))
    for at_s in (1, 6):
        looks = [
            broker_at(at_s, condition="silent", address="10.0.0.1:10911", error="late"),
            broker_at(at_s, "broker-b"),
        ]
        engine.look_at_brokers(looks, START_MS + at_s * 1000)
    (news,) = engine.take_news()
    assert isinstance(news, Opening)
    assert (news.subject, news.cause) == ("broker-a", "silent")
    assert news.facts["address"] == "10.0.0.1:10911"
    assert engine.document(START_MS)["rules"]["1"]["subjects"] == 2


def test_the_document_tells_what_cannot_be_told() -> None:
    engine = engine_with(rule_of(hold_ms=60_000))
    engine.look(look_at(0, group="a", lag=500))
    engine.look(look_at(0, group="b", lag=0))
    for number in range(7):
        engine.look(look_at(0, group=f"u{number}", lag=None))
    document = engine.document(START_MS + 9)
    assert document["taken_at"] == START_MS + 9
    assert document["rules"]["1"] == {
        "subjects": 9,
        "firing": 0,
        "pending": 1,
        "unknown": 7,
        "unknown_since": START_MS,
        "unknown_names": ["u0", "u1", "u2", "u3", "u4"],
    }
    engine.look(look_at(1, group="u0", lag=0))
    assert engine.document(START_MS)["rules"]["1"]["unknown"] == 6


def restarted(engine: Engine, opened: Sequence[OpenSubject], *rules: Rule) -> Engine:
    after = Engine("east")
    after.restore(orjson.loads(orjson.dumps(engine.dump())), opened)
    after.set_rules(rules, START_MS)
    return after


def test_the_next_leader_goes_on_with_the_time_that_has_passed() -> None:
    rule = rule_of(hold_ms=30_000)
    engine = engine_with(rule)
    for at_s in (0, 10, 20):
        engine.look(look_at(at_s, lag=500))
    after = restarted(engine, [], rule)
    after.look(look_at(30, lag=500))
    (news,) = after.take_news()
    assert isinstance(news, Opening)
    assert news.began_ms == START_MS


def test_the_next_leader_neither_opens_again_nor_forgets_to_close() -> None:
    rule = rule_of()
    engine = engine_with(rule)
    engine.look(look_at(0, lag=500))
    engine.take_news()
    opened = [OpenSubject(1, GROUP, START_MS, START_MS, explained=True)]
    for memory in (engine, Engine("east")):
        after = restarted(memory, opened, rule)
        after.look(look_at(10, lag=500))
        assert after.take_news() == []
        after.look(look_at(20, lag=0))
        assert after.take_news() == [Closing(1, GROUP, START_MS + 20_000, "cleared")]


def test_what_fired_and_was_never_written_fires_for_the_next_leader() -> None:
    rule = rule_of()
    engine = engine_with(rule)
    engine.look(look_at(0, lag=500))
    after = restarted(engine, [], rule)
    after.look(look_at(10, lag=500))
    assert kinds_of(after.take_news()) == ["Opening"]


def test_what_ended_and_was_never_written_ends_for_the_next_leader() -> None:
    rule = rule_of()
    engine = engine_with(rule)
    engine.look(look_at(0, lag=500))
    engine.look(look_at(1, lag=0))
    opened = [OpenSubject(1, GROUP, START_MS, START_MS, explained=True)]
    after = restarted(engine, opened, rule)
    after.look(look_at(10, lag=0))
    assert kinds_of(after.take_news()) == ["Closing"]


def test_still_queues_are_handed_on() -> None:
    rule = rule_of("out_stops", 15_000)
    engine = engine_with(rule)
    for at_s in (0, 10):
        engine.look(look_at(at_s, lag=500))
    after = restarted(engine, [], rule)
    twice = restarted(after, [], rule)  # before it met the group
    twice.look(look_at(16, lag=500))
    assert kinds_of(twice.take_news()) == ["Opening"]


def test_news_that_could_not_be_written_come_first_again() -> None:
    engine = engine_with(rule_of())
    engine.look(look_at(0, lag=500))
    news = engine.take_news()
    engine.look(look_at(1, lag=0))
    engine.put_back(news)
    assert kinds_of(engine.take_news()) == ["Opening", "Closing"]


def test_few_groups_are_urgent_and_many_only_when_something_is_about_to_happen() -> (
    None
):
    few, many = rule_of(groups="pay-*", hold_ms=60_000), rule_of(pk=2, hold_ms=60_000)
    engine = engine_with(few, many)
    for number in range(URGENT_GROUPS):
        engine.look(look_at(0, group=f"g{number}"))
    assert len(engine.urgent()) == URGENT_GROUPS
    engine.look(look_at(0, group="pay-a"))
    assert engine.urgent() == {"pay-a"}
    engine.look(look_at(1, group="g7", lag=500))
    assert engine.urgent() == {"g7", "pay-a"}
    for number in range(URGENT_GROUPS):
        engine.look(look_at(2, group=f"g{number}", lag=500))
    assert len(engine.urgent()) == URGENT_GROUPS


def test_without_rules_there_is_nothing_to_do() -> None:
    engine = Engine("east")
    assert engine.is_idle
    engine.set_rules([rule_of()], START_MS)
    assert not engine.is_idle


LAGS = st.sampled_from([0, 80, 500, None])


@settings(max_examples=60)
@given(
    st.lists(st.tuples(LAGS, st.booleans()), max_size=30),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_a_restart_at_any_time_changes_nothing(
    steps: list[tuple[int | None, bool]], hold: int, clear: int
) -> None:
    """Whatever is written is the same with and without restarts, in the same order."""
    rule = rule_of(clear_limit=50, hold_ms=hold * 10_000, clear_ms=clear * 10_000)
    steady, moved = engine_with(rule), engine_with(rule)
    opened: dict[str, OpenSubject] = {}
    for number, (lag, restart) in enumerate(steps):
        look = look_at(number * 10, lag=lag)
        steady.look(look)
        moved.look(look)
        expected, found = steady.take_news(), moved.take_news()
        assert kinds_of(expected) == kinds_of(found)
        for each in found:
            if isinstance(each, Opening):
                opened[each.subject] = OpenSubject(
                    1, each.subject, each.began_ms, each.at_ms, explained=False
                )
            elif isinstance(each, Closing):
                del opened[each.subject]
        if restart:
            moved = restarted(moved, list(opened.values()), rule)
