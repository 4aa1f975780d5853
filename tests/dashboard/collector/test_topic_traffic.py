from __future__ import annotations

from dashboard.collector.topic_traffic import HourTrend, Mark, TopicTraffic
from rmqcore.model.columns import Column, Reason
from tests.dashboard.collector.sights import NOW, keys

KEYS = keys(4)
MINUTE = 60_000


def fed(*offsets: list[int | Reason], apart_ms: int = 30_000) -> TopicTraffic:
    traffic = TopicTraffic()
    for at, row in enumerate(offsets):
        traffic.add(Mark(NOW + at * apart_ms, KEYS, Column.of(row)))
    return traffic


def climbing(*steps: int) -> list[list[int | Reason]]:
    return [[100 + step * at for step in steps] for at in range(11)]


def test_a_rate_is_measured_between_two_sweeps() -> None:
    flow = fed([0, 0, 0, 0], [30, 60, 0, 3]).flow(30_000)
    assert flow is not None
    assert flow.rates() == [1.0, 2.0, 0.0, 0.1]


def test_one_sweep_tells_no_rate() -> None:
    assert fed([1, 1, 1, 1]).flow(30_000) is None


def test_a_queue_that_is_not_known_has_no_rate_and_leaves_the_skew_unknown() -> None:
    traffic = fed([0, 0, 0, 0], [30, 30, 30, Reason.NO_ANSWER])
    flow = traffic.flow(30_000)
    assert flow is not None
    assert flow.rates()[3] is None
    assert not flow.complete
    assert traffic.skew(4) is None


def test_three_times_the_even_share_for_five_minutes_is_hot() -> None:
    found = fed(*climbing(10, 10, 10, 50)).hot(4)
    assert found == []
    traffic = fed(*climbing(5, 5, 5, 200))
    assert [(key[2], share) for key, share, _since in traffic.hot(4)] == [(3, 0.93)]
    assert traffic.hot(4)[0][2] == NOW
    assert traffic.skew(4) == 3.72


def test_four_minutes_or_few_messages_make_nothing_hot() -> None:
    assert fed(*climbing(5, 5, 5, 200)[:8]).hot(4) == []
    assert fed(*climbing(0, 0, 0, 20)).hot(4) == []


def test_quiet_since_is_the_last_message_and_0_where_none_ever_came() -> None:
    assert fed([0, 0, 0, 0], [0, 0, 0, 0]).quiet_since == 0
    assert fed([0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]).quiet_since == NOW + 30_000


def test_messages_that_may_have_come_unseen_end_the_quiet() -> None:
    away = [5, 5, 5, Reason.NO_ANSWER]
    assert fed([5] * 4, [5] * 4, away).quiet_since == NOW + 60_000
    assert fed([5] * 4, away, [5, 5, 5, 900]).quiet_since == NOW + 60_000
    grown = fed([5] * 4, [5] * 4)
    grown.add(Mark(NOW + 60_000, keys(5), Column.of([5] * 5)))
    assert grown.quiet_since == NOW + 60_000
    inherited = TopicTraffic(quiet_since=NOW)
    inherited.add(Mark(NOW + 60_000, KEYS, Column.of([5] * 4)))
    assert inherited.quiet_since == NOW + 60_000


def test_the_hour_has_the_mean_of_each_two_minutes() -> None:
    trend = HourTrend((), 0)
    trend.add(10_000, 100, 10_000)
    trend.add(20_000, 0, 10_000)
    trend.add(2 * MINUTE + 10_000, 20, 10_000)
    assert trend.points(2 * MINUTE + 20_000)[-2:] == [5.0, 2.0]
    assert HourTrend([1.0], 0).points(0)[-2:] == [None, 1.0]
    assert trend.points(5 * 3_600_000) == [None] * 30
