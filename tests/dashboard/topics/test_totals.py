from __future__ import annotations

from dashboard.topics.retention import Keeping
from dashboard.topics.totals import Sum, totals_of
from dashboard.wording.numbers import HOUR
from tests.dashboard.documents import NOW_MS

from .topic_documents import broker, topic_row

KEPT = {"a": Keeping(72 * HOUR, "04", None)}


def test_topics_of_rocketmq_itself_are_counted_and_part_of_no_sum() -> None:
    own = topic_row("orders", rate_in=5.0)
    system = topic_row("TBW102", kind="system", rate_in=None, rate_partial=True)
    found = totals_of([own, system], {}, NOW_MS)
    assert (found.topics, found.system, found.queues) == (1, 1, own["queues"])
    assert found.rate == Sum(5.0)


def test_a_sum_names_a_topic_of_which_it_may_lack_a_part() -> None:
    rows = [
        topic_row("orders", rate_in=5.0),
        topic_row("prices", rate_in=2.0, rate_partial=True),
        topic_row("%DLQ%g", kind="dlq", held=None, rate_in=0.0),
        topic_row("%DLQ%h", kind="dlq", held=40, rate_in=0.0),
    ]
    found = totals_of(rows, {}, NOW_MS)
    assert found.rate == Sum(7.0, "prices")
    assert (found.dead, found.dead_topics) == (Sum(40, "%DLQ%g"), 1)


def test_a_sum_of_which_nothing_is_known_has_no_value() -> None:
    found = totals_of([topic_row("orders", rate_in=None)], {}, NOW_MS)
    assert found.rate == Sum(None, "orders")
    assert found.dead == Sum(0)
    assert totals_of([], {}, NOW_MS).rate == Sum(0)


def test_the_topic_that_loses_messages_first_is_named() -> None:
    rows = []
    for name, hours in (("calm", 1), ("late", 70), ("read", 0)):
        age = {"oldest_ms": hours * HOUR, "partial": False, "lost": False}
        rows.append(topic_row(name, brokers=[broker("a", 2, unread=age)]))
    found = totals_of(rows, KEPT, NOW_MS).shortest
    assert found is not None
    assert (found.topic, found.retention.ms) == ("late", 2 * HOUR)
    assert totals_of(rows[2:], KEPT, NOW_MS).shortest is None


def test_a_broker_that_is_silent_may_lose_messages_sooner() -> None:
    age = {"oldest_ms": HOUR, "partial": False, "lost": False}
    rows = [topic_row("orders", brokers=[broker("a", 2, unread=age)])]
    found = totals_of(rows, KEPT, NOW_MS, whole=False).shortest
    assert found is not None
    assert (found.topic, found.retention.ms) == ("orders", 71 * HOUR)
    assert not found.retention.sure
    nothing = totals_of([], KEPT, NOW_MS, whole=False).shortest
    assert nothing is not None
    assert (nothing.topic, nothing.retention.ms) == ("", None)


def test_the_reason_for_which_one_is_not_known_names_no_other() -> None:
    read = {"oldest_ms": 0, "partial": False, "lost": False}
    rows = [
        topic_row("read", brokers=[broker("a", 2, unread=read)]),
        topic_row("orders", brokers=[broker("a", 2)]),
    ]
    found = totals_of(rows, KEPT, NOW_MS).shortest
    assert found is not None
    assert (found.topic, found.retention.ms) == ("orders", None)
