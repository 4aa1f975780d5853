from __future__ import annotations

from typing import Any

import pytest

from dashboard.live.broker_documents import BrokersDocument, BrokerState, untold
from dashboard.live.topic_documents import TopicBroker, TopicRow, UnreadAge
from dashboard.topics.retention import Retention, keepings, retention_of, shortest
from dashboard.wording.numbers import DAY, HOUR
from tests.dashboard.documents import NOW_MS

from .topic_documents import broker, topic_row


def unread(hours: float, *, partial: bool = False, lost: bool = False) -> UnreadAge:
    return {"oldest_ms": round(hours * HOUR), "partial": partial, "lost": lost}


def on(name: str, hours: float, **changes: Any) -> TopicBroker:
    marks = {key: changes.pop(key) for key in ("partial", "lost") if key in changes}
    return broker(name, 2, unread=unread(hours, **marks), **changes)


def topic(*brokers: TopicBroker, **changes: Any) -> TopicRow:
    return topic_row("orders", brokers=list(brokers), **changes)


def master(name: str, hours: str | None = "72", **changes: Any) -> BrokerState:
    settings = {"deleteWhen": "04"} | ({"fileReservedTime": hours} if hours else {})
    begun = untold(name, "DefaultCluster", 0, "10.0.0.1:10911", why=None)
    return BrokerState(**{**begun, "settings": settings, **changes})  # type: ignore[typeddict-item]


def left(row: TopicRow, *states: BrokerState) -> Retention:
    document: BrokersDocument = {
        "cluster": "hangzhou",
        "taken_at": NOW_MS,
        "brokers": list(states),
    }
    return retention_of(row, keepings(document))


def test_the_time_left_is_what_a_broker_keeps_less_the_age_of_what_is_unread() -> None:
    found = left(topic(on("a", 70), on("b", 1)), master("a"), master("b"))
    assert (found.ms, found.sure, found.cause) == (2 * HOUR, True, "age")
    assert found.broker == "a"
    assert found.told == "a keeps 3 d 0 h (deleteWhen 04)"
    # What is kept longest is not what lasts longest.
    found = left(topic(on("a", 70), on("b", 11)), master("a"), master("b", "12"))
    assert (found.ms, found.broker) == (HOUR, "b")


def test_a_message_beyond_its_age_may_go_at_any_time() -> None:
    found = left(topic(on("a", 80)), master("a"))
    assert (found.ms, found.soon) == (0, True)


def test_a_disk_that_is_full_before_the_age_ends_the_time() -> None:
    full = master("a", full_in_ms=3 * HOUR)
    found = left(topic(on("a", 1)), full)
    assert (found.ms, found.cause) == (3 * HOUR, "disk")
    assert left(topic(on("a", 70)), full).cause == "age"
    # A full disk hurts nobody where nothing waits.
    assert left(topic(on("a", 0)), full).ms is None


def test_what_was_deleted_unread_leaves_no_time() -> None:
    found = left(topic(on("a", 1, lost=True), on("b", 1)), master("a"), master("b"))
    assert (found.ms, found.cause, found.soon) == (0, "lost", True)


def test_where_nothing_waits_there_is_nothing_to_lose() -> None:
    assert left(topic(on("a", 0)), master("a")).why == "nothing_unread"
    nobody = topic(on("a", 0), groups=[], group_count=0)
    assert left(nobody, master("a")).why == "no_reader"


@pytest.mark.parametrize(
    ("row", "states", "why"),
    [
        (topic(on("a", 1)), [], "no_settings"),
        (topic(on("a", 1)), [master("a", None)], "no_settings"),
        (topic(on("a", 0, partial=True)), [master("a")], "ages_unsure"),
        (
            topic(on("a", 0, partial=True, reason="no_answer")),
            [master("a")],
            "no_answer",
        ),
        (topic(broker("a", 2)), [master("a")], "not_asked"),
        (topic(on("a", 0), groups_known=False), [master("a")], "groups_unsure"),
    ],
)
def test_a_time_that_is_not_known_has_its_reason(
    row: TopicRow, states: list[BrokerState], why: str
) -> None:
    found = left(row, *states)
    assert (found.ms, found.why, found.text) == (None, why, "")


def test_less_may_be_left_while_an_age_or_a_broker_is_not_known() -> None:
    found = left(topic(on("a", 70, partial=True)), master("a"))
    assert (found.ms, found.sure, found.text) == (2 * HOUR, False, "at most 2 h 00 m")
    assert "age of some unread messages" in found.reason
    silent = left(topic(on("a", 70), on("b", 1)), master("a"))
    assert (silent.ms, silent.why) == (2 * HOUR, "no_settings")


def test_soon_is_less_than_a_day_or_a_third_of_what_is_kept() -> None:
    assert left(topic(on("a", 50)), master("a")).soon
    assert not left(topic(on("a", 40)), master("a")).soon
    assert not left(topic(on("a", 5)), master("a", "12")).soon
    assert left(topic(on("a", 9)), master("a", "12")).soon


def test_the_shortest_of_all_topics_is_not_sure_while_one_is_not_known() -> None:
    some = [Retention(DAY), Retention(HOUR), Retention(why="nothing_unread")]
    found = shortest(some)
    assert found is not None
    assert (found.ms, found.sure) == (HOUR, True)
    found = shortest([*some, Retention(why="no_settings")])
    assert found is not None
    assert (found.ms, found.sure) == (HOUR, False)
    assert shortest([Retention(why="no_reader")]) is None
